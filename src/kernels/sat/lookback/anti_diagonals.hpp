#pragma once
// The order of tiles along anti-diagonals, for lookback-diagonal.

#include <cmath>
#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The i-th tile along anti-diagonals, each from its upper right end.
AREAL_DEVICE void on_diagonal(std::int64_t i, int tiles_x, int tiles_y, int& x, int& y) {
  const std::int64_t w = tiles_x, h = tiles_y, side = w < h ? w : h, tiles = w * h;
  const std::int64_t corner = side * (side - 1) / 2;  // tiles before the first whole diagonal
  std::int64_t d, n;                                  // diagonal, position on it
  if (i >= corner && i < tiles - corner) {
    d = side - 1 + (i - corner) / side, n = (i - corner) % side;
  } else {
    const std::int64_t j = i < corner ? i : tiles - 1 - i;
    d = static_cast<std::int64_t>((std::sqrt(8.0 * static_cast<double>(j) + 1) - 1) / 2);
    while (d * (d + 1) / 2 > j) --d;
    while ((d + 1) * (d + 2) / 2 <= j) ++d;
    n = j - d * (d + 1) / 2;
    if (i >= corner) n = d - n, d = w + h - 2 - d;
  }
  const std::int64_t top = d < w ? 0 : d - w + 1;  // y of the upper right end
  y = static_cast<int>(top + n);
  x = static_cast<int>(d - top - n);
}

}  // namespace areal::kernels
