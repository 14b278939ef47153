#pragma once
// Matrices of one size, one after the other: the bins of a tensor.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/matrix.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

struct Planes {
  char* first = nullptr;
  std::int64_t pitch = 0;  ///< bytes from row to row
  std::int64_t plane = 0;  ///< bytes from matrix to matrix
  bool aligned = true;     ///< elements are; otherwise accesses are byte by byte

  AREAL_BOTH Matrix of(std::int64_t bin) const { return {first + bin * plane, pitch, aligned}; }
};

/// The sums of a tensor without its border.
struct TensorSize {
  std::int64_t width = 0, height = 0, bins = 0;

  std::int64_t elements() const { return width * height * bins; }
};
/// The type of counts in registers and in shared memory.
template <class T>
using Added = std::conditional_t<sizeof(T) == 2, std::uint32_t, T>;

/// Matrices of a workspace.
template <class T>
Planes take_planes(Workspace& from, std::int64_t count, std::int64_t height, std::int64_t width) {
  T* first = nullptr;
  from.take(first, count * height * width);
  const std::int64_t pitch = width * static_cast<std::int64_t>(sizeof(T));
  return {reinterpret_cast<char*>(first), pitch, pitch * height, true};
}

}  // namespace areal::kernels
