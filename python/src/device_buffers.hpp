#pragma once
// Device arrays owned by areal, for frameworks whose allocator it cannot use.

#include <areal/array.hpp>
#include <areal/device.hpp>
#include <memory>
#include <vector>
#include "device_dlpack.hpp"
#include "nanobind.hpp"

namespace areal::python {

/// An array in CUDA memory and the event of the work that fills it: the stream of a reader (`__dlpack__`,
/// `__cuda_array_interface__`) waits for that event.
class DeviceBuffer {
 public:
  /// For work on `stream` to fill; call record() after queueing it. Throws Unavailable, OutOfMemory.
  DeviceBuffer(std::vector<std::int64_t> extents, Type type, int device, Stream stream);
  /// Records the event: the work queued on the stream so far fills the array.
  void record();

  /// A capsule for a consumer on that stream; -1: the consumer synchronises itself; none: the legacy default stream.
  static nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device,
                           nb::handle copy);
  nb::dict cuda_array_interface() const;
  /// Copies a host array; complete on return.
  static DeviceBuffer copy_of(nb::handle array, int device);
  /// Waits for the event and copies to host memory.
  nb::object numpy() const;
  DeviceBuffer permuted(const std::vector<int>& order) const;
  /// One element of the first dimension.
  DeviceBuffer at(std::int64_t index) const;

  void* data() const noexcept;
  Type type() const noexcept { return type_; }
  int device() const noexcept { return device_; }
  const std::vector<std::int64_t>& extents() const noexcept { return extents_; }
  const std::vector<std::int64_t>& strides() const noexcept { return strides_; }

 private:
  struct Memory;
  void hold_back(Stream stream) const;

  std::shared_ptr<Memory> memory_;
  std::vector<std::int64_t> extents_, strides_;  // strides in elements
  std::int64_t offset_ = 0;                      // in bytes
  Type type_;
  int device_;
};

}  // namespace areal::python
