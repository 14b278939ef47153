#pragma once
// One block of memory: the host's, the host's page-locked, or a device's.

#include <areal/view.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace areal {

/// Owned and not initialised, the host's aligned to 64 bytes. Moves, does not copy. There is no block of 0 bytes:
/// `data` is null then.
class Memory {
 public:
  Memory() = default;
  /// Throws Unavailable where there is no such device, OutOfMemory with the bytes.
  Memory(std::size_t bytes, MemoryPlace place);
  /// For a view of that shape and type, which an OutOfMemory of the host names.
  Memory(const Shape& shape, Type type, MemoryPlace place);
  /// The host's; `page_locked` where a CUDA device copies from and to it, so that its copies overlap other work.
  static Memory of_host(std::size_t bytes, bool page_locked);
  Memory(Memory&& from) noexcept { *this = std::move(from); }
  Memory& operator=(Memory&& from) noexcept {
    block_ = std::move(from.block_);
    bytes_ = std::exchange(from.bytes_, 0);
    place_ = from.place_, page_locked_ = from.page_locked_;
    return *this;
  }

  /// At least so many bytes, of the same kind; the contents are lost where there were fewer.
  void grow(std::size_t bytes);

  void* data() const noexcept { return block_.get(); }
  char* at(std::size_t offset) const noexcept { return static_cast<char*>(data()) + offset; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Contiguous, from the first byte on.
  View view(Type type, const Shape& shape) const noexcept { return View(data(), type, shape).in(place_); }
  /// The block, for an owner that is copied.
  std::shared_ptr<void> share() && noexcept { return std::move(block_); }

 private:
  std::shared_ptr<void> block_;
  std::size_t bytes_ = 0;
  MemoryPlace place_;
  bool page_locked_ = false;
};

}  // namespace areal
