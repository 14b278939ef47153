#pragma once
// Regions of an image for tests.

#include <areal/region.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace areal {

/// Any region inside, empty ones among them.
inline Region random_region(std::mt19937_64& random, std::int64_t width, std::int64_t height) {
  const auto up_to = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1));
  };
  const std::int64_t x = up_to(width), y = up_to(height);
  return {x, y, up_to(width - x), up_to(height - y)};
}

/// As many as `count`, in this order: the whole image, empty ones, single pixels, rows and columns at every edge, then
/// random ones.
inline std::vector<Region> random_regions(std::mt19937_64& random, std::size_t count, std::int64_t width,
                                          std::int64_t height) {
  std::vector<Region> regions{{0, 0, width, height}, {0, 0, 0, 0},          {width, height, 0, 0},
                              {0, 0, width, 0},      {width, 0, 0, height}, {width / 2, 0, width - width / 2, height}};
  if (width > 0 && height > 0)
    for (const Region& region :
         {Region{0, 0, 1, 1}, Region{width - 1, height - 1, 1, 1}, Region{width - 1, 0, 1, height},
          Region{0, height - 1, width, 1}, Region{0, 0, width, 1}, Region{width / 2, height / 2, 1, 1}})
      regions.push_back(region);
  while (regions.size() < count) regions.push_back(random_region(random, width, height));
  regions.resize(count);
  return regions;
}

}  // namespace areal
