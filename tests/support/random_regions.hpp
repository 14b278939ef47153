#pragma once
// Regions of an image for tests: the whole image, empty ones at both corners, the last pixel, a row and a column of it,
// then random ones, empty ones among them.

#include <areal/region.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace areal {

inline std::vector<Region> random_regions(std::mt19937_64& random, int count, std::int64_t width, std::int64_t height) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Region> regions = {{0, 0, width, height}, {0, 0, 0, 0}, {width, height, 0, 0}};
  if (width == 0 || height == 0) return regions;
  for (const Region& region :
       {Region{width - 1, height - 1, 1, 1}, {width / 2, 0, 1, height}, {0, height / 2, width, 1}})
    regions.push_back(region);
  while (static_cast<int>(regions.size()) < count) {
    const std::int64_t x = below(width + 1), y = below(height + 1);
    regions.push_back({x, y, below(width - x + 1), below(height - y + 1)});
  }
  return regions;
}

}  // namespace areal
