#pragma once
// Hands out a plan's workspace, from wherever it begins.

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace areal::kernels {

class Workspace {
 public:
  explicit Workspace(void* begin) : begin_(padded(reinterpret_cast<std::uintptr_t>(begin))) {}

  /// The next array of so many elements. In numbers: there may be no workspace yet where only its size is asked for.
  template <class A>
  void take(A*& array, std::int64_t count) {
    array = reinterpret_cast<A*>(begin_ + at_);
    at_ += padded(static_cast<std::uintptr_t>(count) * sizeof(A));
  }
  /// What all that was taken needs, wherever a workspace begins.
  std::size_t bytes() const { return static_cast<std::size_t>(at_) + alignment - 1; }

 private:
  static constexpr std::uintptr_t alignment = 256;
  static std::uintptr_t padded(std::uintptr_t n) { return (n + alignment - 1) / alignment * alignment; }
  std::uintptr_t begin_, at_ = 0;
};

}  // namespace areal::kernels
