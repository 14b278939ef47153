// Checks and clipping of regions.
#include "api/query/region_check.hpp"
#include "api/core/require.hpp"
#include "formulas/region.hpp"

namespace areal {

namespace {

auto words_of(const Region& region, std::int64_t index) {
  return Phrase{[&region, index](std::ostream& out) {
    out << "region " << index << " (x " << region.x << ", y " << region.y << ", width " << region.width << ", height "
        << region.height << ")";
  }};
}
auto words_of(const Box& box, std::int64_t index) {
  return Phrase{[&box, index](std::ostream& out) {
    out << "box " << index << " (x " << box.x << ", y " << box.y << ", z " << box.z << ", width " << box.width
        << ", height " << box.height << ", depth " << box.depth << ")";
  }};
}

}  // namespace

Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside, Border border) {
  Region inside = region;
  if (!formulas::lies_inside(region, image_width, image_height)) {
    require(region.width >= 0 && region.height >= 0, words_of(region, index), ": an extent may not be negative");
    require(outside == Outside::clip, words_of(region, index), " reaches outside the image of ", image_width, "x",
            image_height);
    inside = formulas::clipped(region, image_width, image_height);
  }
  require(border != Border::exclusive || !formulas::needs_last(inside, image_width, image_height),
          words_of(inside, index), " touches the last row or column of the image of ", image_width, "x", image_height,
          ", which a table of border `exclusive` lacks");
  return inside;
}

Box checked_box(const Box& box, std::int64_t index, const formulas::Extents& volume, Outside outside) {
  if (formulas::lies_inside(box, volume)) return box;
  require(box.width >= 0 && box.height >= 0 && box.depth >= 0, words_of(box, index), ": an extent may not be negative");
  require(outside == Outside::clip, words_of(box, index), " reaches outside the volume of ", volume.width, "x",
          volume.height, "x", volume.depth);
  return formulas::clipped(box, volume);
}

void require_rotated(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height) {
  if (formulas::lies_inside_rotated(region, image_width, image_height)) return;
  require(region.width >= 0 && region.height >= 0, words_of(region, index), ": an extent may not be negative");
  require(false, words_of(region, index), ", rotated, reaches outside the image of ", image_width, "x", image_height,
          ": it must have x - height >= 0, x + width <= ", image_width,
          ", y >= 0 and y + width + height <= ", image_height);
}

}  // namespace areal
