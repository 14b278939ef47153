#pragma once
// Sums within a warp, over the machine's shuffles.

#include <type_traits>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The inclusive scan of the lanes' values. 5 shuffles.
template <class M, class T>
AREAL_DEVICE T warp_scan(const M& m, T value, Site site = AREAL_HERE) {
  AREAL_UNROLL
  for (int n = 1; n < warp_size; n *= 2) {
    const T other = m.shuffle_up(value, n, full_mask, site);
    if (m.lane() >= n) value += other;
  }
  return value;
}

/// The exclusive value before a lane's own in an inclusive scan: 0 in lane 0. By subtraction if that is exact, else by
/// a shuffle (infinity less infinity is NaN).
template <class M, class T>
AREAL_DEVICE T before_in_scan(const M& m, T inclusive, T own, Site site = AREAL_HERE) {
  if constexpr (std::is_integral_v<T>) return inclusive - own;
  const T before = m.shuffle_up(inclusive, 1, full_mask, site);
  return m.lane() == 0 ? T(0) : before;
}

/// The sum of the lanes' values, in all lanes. 5 shuffles.
template <class M, class T>
AREAL_DEVICE T warp_sum(const M& m, T value, Site site = AREAL_HERE) {
  AREAL_UNROLL
  for (int n = warp_size / 2; n > 0; n /= 2) value += m.shuffle_xor(value, n, full_mask, site);
  return value;
}

/// The sums over the warp of `count` values: value i's ends in the lanes from i * 32 / count on. Lanes halve their
/// values with a partner until one is left, then add it: count - 1 + log2(32 / count) shuffles for count values.
template <class M, class T, int count>
AREAL_DEVICE T warp_sums(const M& m, T (&values)[count], Site site = AREAL_HERE) {
  static_assert((count & (count - 1)) == 0 && count <= warp_size);
  int n = warp_size / 2;
  AREAL_UNROLL
  for (int left = count / 2; left > 0; left /= 2, n /= 2) {
    const bool upper = m.lane() & n;
    AREAL_UNROLL
    for (int i = 0; i < left; ++i) {
      const T keep = upper ? values[i + left] : values[i], give = upper ? values[i] : values[i + left];
      values[i] = keep + m.shuffle_xor(give, n, full_mask, site);
    }
  }
  AREAL_UNROLL
  for (; n > 0; n /= 2) values[0] += m.shuffle_xor(values[0], n, full_mask, site);
  return values[0];
}

}  // namespace areal::kernels
