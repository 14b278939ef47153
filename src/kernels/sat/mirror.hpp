#pragma once
// Vectors of a reversed table: a lane's first element is the last one in memory. The rest of the kernel counts columns
// from the right, by a negative column stride.

#include <type_traits>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// From the order of sums to that of memory, and back. Forwards it returns the same vector, not a copy, to leave the
/// kernels' code unchanged.
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

/// The lowest address of a vector of N whose first element is at `first`.
template <bool reverse, class T, int N, class Byte>
AREAL_DEVICE Byte* vector_at(Byte* first) {
  if constexpr (reverse)
    return first - (N - 1) * static_cast<int>(sizeof(T));
  else
    return first;
}

}  // namespace areal::kernels
