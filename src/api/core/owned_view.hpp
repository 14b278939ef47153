#pragma once
// A view with its memory, for a table, a tensor or a frame, on the host or on a device.

#include <areal/array.hpp>
#include <areal/execution.hpp>
#include <areal/view.hpp>
#include "api/core/memory.hpp"
#include "cuda/device.hpp"

namespace areal {

/// Contiguous memory of a shape and type, or an empty view.
class OwnedView {
 public:
  OwnedView() = default;
  /// Throws Unavailable if the device is missing, OutOfMemory with the bytes.
  OwnedView(const Shape& shape, Type type, MemoryPlace place);
  /// Host memory, page-locked for copies from or to a CUDA device.
  static OwnedView of_host(const Shape& shape, Type type, bool page_locked);

  const View& view() const noexcept { return view_; }
  bool exists() const noexcept { return exists_; }  ///< true also for a view without elements
  /// Queues a copy of another's elements, of the same shape and type; a copy within the host is complete on return.
  void copy_from(const OwnedView& other, Stream stream);

 private:
  OwnedView(Memory memory, const Shape& shape, Type type);

  Memory memory_;
  View view_;
  bool exists_ = false;
};

/// The stream of an Execution's copies, by default the legacy default stream.
Stream copy_stream(const Execution& execution) noexcept;

/// A copy in host memory of a view of any memory, complete on return.
Array host_copy(const ConstView& view, const Execution& execution);

/// `copy(stream)` queues copies from one memory to the other. Waits for them unless they end on a device and the
/// Execution has a stream.
template <class Copy>
void copy_between(MemoryPlace from, MemoryPlace to, const Execution& execution, const Copy& copy) {
  if (from.is_host() && to.is_host()) return copy(Stream::host());
  const cuda::DeviceScope scope(from.is_host() ? to.device : from.device);
  const Stream stream = copy_stream(execution);
  const cuda::HostCopyGuard guard(stream);
  copy(stream);
  if (to.is_host() || !execution.stream || execution.stream->is_host()) cuda::synchronize(stream);
}

}  // namespace areal
