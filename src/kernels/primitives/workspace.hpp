#pragma once
// Hands out a plan's workspace, from wherever it begins.

#include <cstddef>
#include <cstdint>

namespace areal::kernels {

/// Where the arrays of a workspace begin.
inline constexpr std::int64_t workspace_alignment = 256;
inline char* first_in(void* workspace) {
  return static_cast<char*>(workspace) + (-reinterpret_cast<std::uintptr_t>(workspace) & (workspace_alignment - 1));
}
/// Bytes of an array in a workspace.
constexpr std::int64_t padded(std::int64_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

class Workspace {
 public:
  explicit Workspace(void* workspace) : begin_(reinterpret_cast<std::uintptr_t>(first_in(workspace))) {}

  /// The next array of so many elements. In numbers: there may be no workspace yet where only its size is asked for.
  template <class A>
  void take(A*& array, std::int64_t count) {
    array = reinterpret_cast<A*>(begin_ + static_cast<std::uintptr_t>(at_));
    at_ += padded(count * static_cast<std::int64_t>(sizeof(A)));
  }
  /// What all that was taken needs, wherever a workspace begins.
  std::size_t bytes() const { return static_cast<std::size_t>(at_ + workspace_alignment - 1); }

 private:
  std::uintptr_t begin_;
  std::int64_t at_ = 0;
};

}  // namespace areal::kernels
