#pragma once
// Regions of the matrix's images.

#include <algorithm>
#include <areal/region.hpp>
#include <random>
#include <utility>
#include <vector>
#include "piece_matrix/cuts.hpp"
#include "random_regions.hpp"

namespace areal::piece_matrix {

/// Empty ones, all pixels, every edge and any others inside; `leaving`: some reach outside.
inline std::vector<Region> regions_of(const Shape& image, std::uint64_t seed, bool leaving) {
  const std::int64_t width = image.width, height = image.height;
  std::vector<Region> regions{{0, 0, width, height},
                              {0, 0, 0, height},
                              {width, height, 0, 0},
                              {0, 0, width / 2, std::min<std::int64_t>(1, height)}};
  std::mt19937_64 random(seed);
  for (int i = 0; i < 24; ++i) regions.push_back(random_region(random, width, height));
  if (leaving)
    regions.insert(regions.end(), {{-3, -2, 5, 4}, {width - 2, height - 1, 9, 9}, {width + 4, 0, 3, 3}, {0, -9, 4, 3}});
  return regions;
}
inline Region clipped(const Region& r, const Shape& image) {
  const auto clip = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
    const std::int64_t begin = std::clamp<std::int64_t>(first, 0, extent);
    return std::pair(begin, std::clamp<std::int64_t>(first + count, begin, extent) - begin);
  };
  const auto [x, width] = clip(r.x, r.width, image.width);
  const auto [y, height] = clip(r.y, r.height, image.height);
  return {x, y, width, height};
}

}  // namespace areal::piece_matrix
