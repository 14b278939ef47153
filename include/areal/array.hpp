#pragma once
/// \file array.hpp Memory that owns an image, a table or a tensor: the host's, or a device's.

#include <areal/view.hpp>
#include <cstddef>
#include <memory>

namespace areal {

/// Contiguous, 64-byte aligned host memory of a shape and type; not initialised. Moves, does not copy.
class Array {
 public:
  Array() = default;
  /// Throws InvalidArgument for a negative extent, OutOfMemory (with the bytes) where it does not fit.
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
  void check_type(Type asked) const;
  std::unique_ptr<void, Free> memory_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t bytes_ = 0;
};

/// Contiguous device memory of a shape and type; not initialised. For the backends cpu and simt, which have no memory
/// of their own, the host's. Moves, does not copy.
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Throws InvalidArgument for a negative extent, Unavailable where there is no such device, OutOfMemory (with the
  /// bytes) where it does not fit.
  DeviceArray(const Shape& shape, Type type, int device = 0);
  /// Where plans with that Execution work, of which backend (automatic stands for cuda) and device count.
  DeviceArray(const Shape& shape, Type type, const Execution& on);
  /// A copy of a host view, of any pitch, where plans with that Execution work. Queued where that names a stream; then
  /// the host memory must stay as it is until the copy has been done. Else done on return.
  /// Throws InvalidArgument for a view that is not of host memory.
  static DeviceArray copy_of(const ConstView& host, const Execution& execution = {});
  DeviceArray(DeviceArray&&) noexcept = default;
  DeviceArray& operator=(DeviceArray&&) noexcept = default;

  View view() noexcept { return View(memory_.get(), type_, shape_).in(place_); }
  ConstView view() const noexcept { return ConstView(memory_.get(), type_, shape_).in(place_); }
  const Shape& shape() const noexcept { return shape_; }
  Type type() const noexcept { return type_; }
  std::size_t bytes() const noexcept { return bytes_; }
  MemoryPlace memory() const noexcept { return place_; }
  /// A copy in host memory, complete on return. It follows what was queued before on the stream of the Execution; where
  /// that names none, on the legacy default stream.
  Array to_host(const Execution& execution = {}) const;

 private:
  std::shared_ptr<void> memory_;
  Shape shape_;
  Type type_ = Type::u8;
  std::size_t bytes_ = 0;
  MemoryPlace place_{MemoryPlace::cuda, 0};
};

/// Bytes of a contiguous array of that shape and type. Throws InvalidArgument for a negative extent or one whose
/// bytes do not fit 63 bits.
std::uint64_t bytes_of(const Shape& shape, Type type);

}  // namespace areal
