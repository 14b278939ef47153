#pragma once
// A store of histograms in memory with guards.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

/// Layout: bytes() of the store. It begins at a multiple of 64, as the library's.
template <class Layout>
class GuardedStore {
 public:
  Layout layout;

  /// Memory for the layout, all bytes `poison`.
  void allocate(unsigned char poison = 0xa5) {
    poison_ = poison;
    memory_.assign(static_cast<std::size_t>(layout.bytes()) + 2 * guard + 64, poison);
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(memory_.data()) + start(); }
  std::vector<std::byte> bytes() { return {data(), data() + layout.bytes()}; }
  bool guards_hold() {
    const std::size_t end = start() + static_cast<std::size_t>(layout.bytes());
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < start() || i >= end) && memory_[i] != poison_) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 256;

  std::size_t start() const { return guard + 63 - (reinterpret_cast<std::uintptr_t>(memory_.data()) + 63) % 64; }

  std::vector<unsigned char> memory_;
  unsigned char poison_ = 0xa5;
};

}  // namespace oracle
