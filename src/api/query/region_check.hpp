#pragma once
// Regions as they come in: checked or clipped, once, before any pixel is touched.

#include <areal/region.hpp>
#include "formulas/corners.hpp"

namespace areal {

/// The region itself where it lies inside the image. Else, for `Outside::error`, InvalidArgument that names the index,
/// the region and the image's size; for `Outside::clip` its part inside, which may be empty but then lies inside, too.
/// An extent that reaches beyond 64 bits is outside like any other. A negative extent always throws.
Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside);

/// The same for a box of a volume.
Box checked_box(const Box& box, std::int64_t index, const formulas::Extents& volume, Outside outside);

/// Throws InvalidArgument, naming the index, the region and the image's size, unless the rotated rectangle lies inside.
void require_rotated(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height);

}  // namespace areal
