#pragma once
// Carries between parts whose tables stay where they are: views of the neighbours' entries.

#include <areal/device.hpp>
#include <deque>
#include <optional>
#include <vector>
#include "api/core/memory.hpp"
#include "cuda/device.hpp"
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Some columns and rows of a view, which may also lie around it.
template <class V>
V window(V view, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  using Byte = std::conditional_t<std::is_same_v<V, ConstView>, const char, char>;
  if (view.data != nullptr) view.data = static_cast<Byte*>(view.row(y)) + x * view.column_pitch();
  view.shape.width = width, view.shape.height = height;
  return view;
}
/// Queued on CUDA. A row, of memory of this device or another.
void copy_row(const ConstView& from, const View& to, Stream stream);
void clear_window(const View& view, Stream stream);

/// A point in a stream of the current device; of Stream::host(), whose work has been done, nothing.
class StreamPoint {
 public:
  explicit StreamPoint(bool on_cuda) {
    if (on_cuda) event_.emplace(false);
  }
  void record(Stream stream) {
    if (event_) event_->record(stream);
  }
  /// What is queued on the stream from now on begins after it, at once if it was not recorded.
  void hold_back(Stream stream) const {
    if (event_) event_->hold_back(stream);
  }

 private:
  std::optional<cuda::Event> event_;
};

/// A part's tables, computed from the left to the right in pieces that are as high as the part.
struct StayingTables {
  std::vector<View> sums;        ///< of each output, border `none`; all columns
  std::deque<StreamPoint> done;  ///< behind each piece
};

/// What the pieces of a part take over: from the left the column before them, from above the last row of another part.
/// A row needs the entry before its first column. `Copied` columns are copied for that, or as another device has them;
/// before the others is a column of the table.
class InPlaceCarries {
 public:
  /// `above` is null where nothing is. Allocates, and queues on the stream; the device is current.
  InPlaceCarries(const Work& work, const StayingTables* above, std::int64_t copied, Stream stream);

  /// The stream's later work begins behind that piece of the part above; queues the copy of its last row.
  void wait_for(std::size_t piece, std::int64_t x, std::int64_t width, Stream stream);
  /// Of a piece with these outputs, which begins at column x.
  std::vector<Carry> take(const std::vector<View>& outputs, std::int64_t x) const;
  /// The copied row of an output, a zero before it.
  View row(std::size_t output) const;

 private:
  const Work& work_;
  const StayingTables* above_;
  std::int64_t copied_;
  std::vector<Memory> rows_;
};

}  // namespace areal::pieces
