// Regions as they come in: checked or clipped.
#include "api/region_check.hpp"
#include <algorithm>
#include <limits>
#include "api/require.hpp"

namespace areal {

namespace {

std::string words_of(const Region& region, std::int64_t index) {
  return sentence("region ", index, " (x ", region.x, ", y ", region.y, ", width ", region.width, ", height ",
                  region.height, ")");
}

// One axis of the region, cut to [0, extent).
void clip(std::int64_t& first, std::int64_t& size, std::int64_t extent) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(first, size, &end)) end = std::numeric_limits<std::int64_t>::max();
  first = std::clamp<std::int64_t>(first, 0, extent);
  size = std::clamp<std::int64_t>(end, first, extent) - first;
}

}  // namespace

Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside) {
  if (lies_inside(region, image_width, image_height)) return region;
  require(region.width >= 0 && region.height >= 0, words_of(region, index), ": an extent may not be negative");
  require(outside == Outside::clip, words_of(region, index), " reaches outside the image of ", image_width, "x",
          image_height);
  Region inside = region;
  clip(inside.x, inside.width, image_width);
  clip(inside.y, inside.height, image_height);
  return inside;
}

}  // namespace areal
