#pragma once
// A host view's copy in device memory: what an execute with host views copies to and from.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include "api/core/memory.hpp"

namespace areal {

/// Queues the copy of a host view, of any pitch, to contiguous memory of the current device. Waits where the view has
/// gaps.
void copy_rows_in(void* device, const ConstView& host, Stream stream);

/// A contiguous copy on the device of a view on the host. Without memory where the view is not asked for; then copies
/// do nothing.
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
  /// Queues the copy back. What the host view holds is complete after `finish`, once the stream has done all of it.
  void copy_out(const View& host, Stream stream);
  void finish(const View& host);

 private:
  std::size_t bytes() const { return bytes_of(view_.shape, view_.type); }

  Memory memory_;
  View view_;
  Array staged_;  // without gaps, where the host's view has some
};

}  // namespace areal
