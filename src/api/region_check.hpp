#pragma once
// Regions as they come in: checked or clipped, once, before any pixel is touched.

#include <areal/region.hpp>

namespace areal {

/// True where the region has no negative extent and lies inside the image. No sum of two extents, so nothing overflows.
inline bool lies_inside(const Region& region, std::int64_t image_width, std::int64_t image_height) noexcept {
  return region.x >= 0 && region.y >= 0 && region.width >= 0 && region.height >= 0 && region.x <= image_width &&
         region.y <= image_height && region.width <= image_width - region.x && region.height <= image_height - region.y;
}

/// The region itself where it lies inside the image. Else, for `Outside::error`, InvalidArgument that names the index,
/// the region and the image's size; for `Outside::clip` its part inside, which may be empty but then lies inside, too.
/// An extent that reaches beyond 64 bits is outside like any other. A negative extent always throws.
Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside);

}  // namespace areal
