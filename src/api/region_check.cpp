// Regions as they come in: checked or clipped.
#include "api/region_check.hpp"
#include "api/require.hpp"
#include "formulas/region.hpp"

namespace areal {

namespace {

std::string words_of(const Region& region, std::int64_t index) {
  return sentence("region ", index, " (x ", region.x, ", y ", region.y, ", width ", region.width, ", height ",
                  region.height, ")");
}

}  // namespace

Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside) {
  if (formulas::lies_inside(region, image_width, image_height)) return region;
  require(region.width >= 0 && region.height >= 0, words_of(region, index), ": an extent may not be negative");
  require(outside == Outside::clip, words_of(region, index), " reaches outside the image of ", image_width, "x",
          image_height);
  return formulas::clipped(region, image_width, image_height);
}

}  // namespace areal
