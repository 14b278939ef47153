#pragma once
// Arrays on a device that areal owns, for frameworks whose allocator it cannot use.

#include <areal/array.hpp>
#include <areal/device.hpp>
#include <memory>
#include <vector>
#include "device_dlpack.hpp"
#include "nanobind.hpp"

namespace areal::python {

/// Memory of CUDA with a shape, which says when the work that fills it has been done: who reads it by `__dlpack__` or
/// `__cuda_array_interface__` has a stream that waits for it.
class DeviceBuffer {
 public:
  /// Work that fills it is queued on the stream, and recorded there. Throws Unavailable, OutOfMemory.
  DeviceBuffer(std::vector<std::int64_t> extents, Type type, int device, Stream stream);
  /// All that was queued on its stream so far fills it.
  void record();

  /// A capsule for a consumer on that stream: -1 for one that waits by itself, none for the legacy default stream.
  static nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device,
                           nb::handle copy);
  nb::dict cuda_array_interface() const;
  /// A copy of an array of the host, complete on return.
  static DeviceBuffer copy_of(nb::handle array, int device);
  /// A copy in host memory, once it has been filled.
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
