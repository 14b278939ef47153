#pragma once
/// \file array.hpp Owned memory for an image, a table or a tensor, on the host or on a device.

#include <areal/view.hpp>
#include <cstddef>
#include <memory>

namespace areal {

/// Contiguous, 64-byte aligned, uninitialised host memory of a shape and type. Move-only.
class Array {
 public:
  Array() = default;
  /// Throws InvalidArgument for a negative extent; OutOfMemory, with the bytes, if the allocation fails.
  Array(const Shape& shape, Type type);

  View view() noexcept { return View(memory_.get(), type_, shape_); }
  ConstView view() const noexcept { return ConstView(memory_.get(), type_, shape_); }
  const Shape& shape() const noexcept { return shape_; }
  Type type() const noexcept { return type_; }
  std::size_t bytes() const noexcept { return bytes_; }
  void* data() noexcept { return memory_.get(); }
  const void* data() const noexcept { return memory_.get(); }
  /// The elements as T. Throws InvalidArgument if T is not the element type.
  template <class T>
  T* as() {
    check_type(type_of<T>);
    return static_cast<T*>(data());
  }
  template <class T>
  const T* as() const {
    check_type(type_of<T>);
    return static_cast<const T*>(data());
  }

 private:
  struct Free {
    void operator()(void* p) const noexcept;
  };
  void check_type(Type requested) const;
  std::unique_ptr<void, Free> memory_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t bytes_ = 0;
};

/// Contiguous, uninitialised device memory of a shape and type; host memory for the backends cpu and simt, which have
/// none of their own. Move-only.
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Throws InvalidArgument for a negative extent; Unavailable without such a device; OutOfMemory, with the bytes, if
  /// the allocation fails.
  DeviceArray(const Shape& shape, Type type, int device = 0);
  /// Memory for plans with that Execution: of its backend (automatic means cuda) and device.
  DeviceArray(const Shape& shape, Type type, const Execution& on);
  /// Copies a host view of any pitch to memory for plans with that Execution. With a stream the copy is queued, and the
  /// host memory must stay unchanged until it is complete; otherwise the copy is complete on return. O(bytes).
  /// Throws InvalidArgument unless the view is of host memory.
  static DeviceArray copy_of(const ConstView& host, const Execution& execution = {});
  DeviceArray(DeviceArray&&) noexcept = default;
  DeviceArray& operator=(DeviceArray&&) noexcept = default;

  View view() noexcept { return View(memory_.get(), type_, shape_).in(place_); }
  ConstView view() const noexcept { return ConstView(memory_.get(), type_, shape_).in(place_); }
  const Shape& shape() const noexcept { return shape_; }
  Type type() const noexcept { return type_; }
  std::size_t bytes() const noexcept { return bytes_; }
  MemoryPlace memory() const noexcept { return place_; }
  /// Copies to host memory, complete on return. The copy follows the work queued on the Execution's stream, by default
  /// the legacy default stream. O(bytes).
  Array to_host(const Execution& execution = {}) const;

 private:
  std::shared_ptr<void> memory_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t bytes_ = 0;
  MemoryPlace place_{MemoryPlace::cuda, 0};
};

/// Bytes of a contiguous array of that shape and type. Throws InvalidArgument for a negative extent or if the bytes do
/// not fit 63 bits.
std::uint64_t bytes_of(const Shape& shape, Type type);

}  // namespace areal
