#pragma once
// Vectors of a reversed table: a lane's first element is the last one in memory. Elsewhere in the kernel columns are
// counted from the right, by a column's stride below zero.

#include <type_traits>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// From the order of sums to that of memory, and back. Forwards it is the same vector, not a copy: a kernel stays as it
/// was.
template <bool reverse, class T, int N>
AREAL_DEVICE std::conditional_t<reverse, Vec<T, N>, const Vec<T, N>&> mirrored(const Vec<T, N>& v) {
  if constexpr (reverse) {
    Vec<T, N> other;
    AREAL_UNROLL
    for (int i = 0; i < N; ++i) other.at[i] = v.at[N - 1 - i];
    return other;
  } else {
    return v;
  }
}

/// Where a vector of N lies whose first element is at `first`.
template <bool reverse, class T, int N, class Byte>
AREAL_DEVICE Byte* vector_at(Byte* first) {
  if constexpr (reverse)
    return first - (N - 1) * static_cast<int>(sizeof(T));
  else
    return first;
}

}  // namespace areal::kernels
