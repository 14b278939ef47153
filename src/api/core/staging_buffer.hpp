#pragma once
// Device copies of host views, for an execute with host views.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include "api/core/memory.hpp"

namespace areal {

/// Queues the copy of a host view, of any pitch, to contiguous memory of the current device. Waits if the view has
/// gaps.
void copy_rows_in(void* device, const ConstView& host, Stream stream);

/// A contiguous device copy of a host view. Without memory for views that are not used; then copies do nothing.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  /// Throws OutOfMemory with its bytes.
  StagingBuffer(const Shape& shape, Type type, MemoryPlace place);

  const View& view() const noexcept { return view_; }
  bool fits(const Shape& shape, Type type) const noexcept {
    return view_.data != nullptr && view_.shape == shape && view_.type == type;
  }

  /// Queues the copy of a host view, of any pitch.
  void copy_in(const ConstView& host, Stream stream);
  /// Queues the copy back. The host view is complete after `finish`, once the stream is idle.
  void copy_out(const View& host, Stream stream);
  void finish(const View& host);

 private:
  std::size_t bytes() const { return bytes_of(view_.shape, view_.type); }

  Memory memory_;
  View view_;
  Array staged_;  // contiguous, for a host view with gaps
};

}  // namespace areal
