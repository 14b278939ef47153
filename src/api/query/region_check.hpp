#pragma once
// Checks and clipping of boxes and rotated rectangles before any pixel is read. Regions have the public checked_region.

#include <areal/region.hpp>
#include "formulas/corners.hpp"

namespace areal {

/// As checked_region, for a box of a volume.
Box checked_box(const Box& box, std::int64_t index, const formulas::Extents& volume, Outside outside);

/// Throws InvalidArgument, naming the index, the region and the image's size, unless the rotated rectangle lies inside.
void require_rotated(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height);

}  // namespace areal
