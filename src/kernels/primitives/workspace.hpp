#pragma once
// Allocates arrays in a plan's workspace, which may begin at any address.

#include <cstddef>
#include <cstdint>

namespace areal::kernels {

/// Alignment of the arrays of a workspace.
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

  /// The next array of that many elements. In integers: without a workspace, to compute its size.
  template <class A>
  void take(A*& array, std::int64_t count) {
    array = reinterpret_cast<A*>(begin_ + static_cast<std::uintptr_t>(at_));
    at_ += padded(count * static_cast<std::int64_t>(sizeof(A)));
  }
  /// Bytes of all arrays, for a workspace at any address.
  std::size_t bytes() const { return static_cast<std::size_t>(at_ + workspace_alignment - 1); }

 private:
  std::uintptr_t begin_;
  std::int64_t at_ = 0;
};

}  // namespace areal::kernels
