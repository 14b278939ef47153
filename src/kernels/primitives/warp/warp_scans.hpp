#pragma once
// The two warp scans of Chen 2018 (III-C2), by name.

#include <areal/research/warp_scan.hpp>
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// Algorithm 3, Kogge-Stone. 5 shuffles, 31 + 30 + 28 + 24 + 16 additions.
template <class M, class T>
AREAL_DEVICE T kogge_stone(const M& m, T value, Site site = AREAL_HERE) {
  return warp_scan(m, value, site);
}

/// Algorithm 4, Ladner-Fischer: of each 2n lanes the last one of the lower half adds its sum to all of the upper half.
/// 5 shuffles, 5 x 16 additions, 5 x 32 ands.
template <class M, class T>
AREAL_DEVICE T ladner_fischer(const M& m, T value, Site site = AREAL_HERE) {
  AREAL_UNROLL
  for (int n = 1; n < warp_size; n *= 2) {
    const T other = m.shuffle(value, (m.lane() | (2 * n - 1)) - n, full_mask, site);
    if ((m.lane() & n) != 0) value += other;
  }
  return value;
}

template <WarpScan scan, class M, class T>
AREAL_DEVICE T inclusive_scan(const M& m, T value, Site site = AREAL_HERE) {
  if constexpr (scan == WarpScan::ladner_fischer)
    return ladner_fischer(m, value, site);
  else
    return kogge_stone(m, value, site);
}

}  // namespace areal::kernels
