#pragma once
// One block of memory: the host's, the host's page-locked, or a device's.

#include <areal/array.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace areal {

/// Whether so many bytes of scratch memory exceed the free memory of the host. False for up to 16 MiB without a query,
/// which would take longer than the work that needs them.
bool exceeds_free_memory(std::uint64_t bytes);

/// Owned uninitialised memory, the host's aligned to 64 bytes. Move-only. For 0 bytes there is no block and `data` is
/// null.
class Memory {
 public:
  Memory() = default;
  /// Throws Unavailable if the device is missing, OutOfMemory with the bytes.
  Memory(std::size_t bytes, MemoryPlace place);
  /// For a view of that shape and type, which the host's OutOfMemory names.
  Memory(const Shape& shape, Type type, MemoryPlace place);
  /// The host memory of an array.
  explicit Memory(Array array);
  /// Host memory; `page_locked` for copies from and to a CUDA device that overlap other work.
  static Memory of_host(std::size_t bytes, bool page_locked);
  Memory(Memory&& from) noexcept { *this = std::move(from); }
  Memory& operator=(Memory&& from) noexcept {
    block_ = std::move(from.block_);
    bytes_ = std::exchange(from.bytes_, 0);
    place_ = from.place_, page_locked_ = from.page_locked_;
    return *this;
  }

  /// Grows to at least `bytes`, of the same kind; growing loses the contents.
  void grow(std::size_t bytes);

  void* data() const noexcept { return block_.get(); }
  char* at(std::size_t offset) const noexcept { return static_cast<char*>(data()) + offset; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// A contiguous view from the first byte on.
  View view(Type type, const Shape& shape) const noexcept { return View(data(), type, shape).in(place_); }
  /// The block, for an owner that is copyable.
  std::shared_ptr<void> share() && noexcept { return std::move(block_); }

 private:
  std::shared_ptr<void> block_;
  std::size_t bytes_ = 0;
  MemoryPlace place_;
  bool page_locked_ = false;
};

}  // namespace areal
