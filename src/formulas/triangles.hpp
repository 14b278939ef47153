#pragma once
// The size of the triangles of (1+r)R1W (Kasagi 2014, VII). r is their share of all tiles. They consist of whole tiles,
// so only some values of r exist.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace areal::formulas {

/// r for triangles of that side.
inline double share_of(std::int64_t side, std::int64_t tiles_y, std::int64_t tiles_x) {
  return static_cast<double>(side) * static_cast<double>(side + 1) /
         (static_cast<double>(tiles_y) * static_cast<double>(tiles_x));
}
/// The side with the r nearest to the given one. The triangles do not touch.
inline std::int64_t triangle_side(double r, std::int64_t tiles_y, std::int64_t tiles_x) {
  const std::int64_t most = std::max<std::int64_t>(0, std::min(tiles_y, tiles_x) - 1);
  if (most == 0) return 0;
  const auto off = [&](std::int64_t side) { return std::abs(share_of(side, tiles_y, tiles_x) - r); };
  const double all = static_cast<double>(tiles_y) * static_cast<double>(tiles_x);
  const std::int64_t near = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::sqrt(r * all)), 0, most);
  std::int64_t best = near;
  for (const std::int64_t side : {near - 1, near + 1})
    if (side >= 0 && side <= most && off(side) < off(best)) best = side;
  return best;
}
/// The actual r for an image of that size.
inline double effective_r(double r, std::int64_t height, std::int64_t width, int w = 32) {
  const std::int64_t tiles_y = (height + w - 1) / w, tiles_x = (width + w - 1) / w;
  return tiles_y > 0 && tiles_x > 0 ? share_of(triangle_side(r, tiles_y, tiles_x), tiles_y, tiles_x) : 0;
}

}  // namespace areal::formulas
