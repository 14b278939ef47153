#pragma once
// Regions as they come in: checked or clipped, once, before any pixel is touched.

#include <areal/region.hpp>

namespace areal {

/// True where the region has no negative extent and lies inside the image. Negative numbers are the largest unsigned
/// ones; without a sum of two extents nothing overflows, and the four comparisons need no branch of their own.
inline bool lies_inside(const Region& region, std::int64_t image_width, std::int64_t image_height) noexcept {
  const auto x = static_cast<std::uint64_t>(region.x), y = static_cast<std::uint64_t>(region.y);
  const auto width = static_cast<std::uint64_t>(image_width), height = static_cast<std::uint64_t>(image_height);
  const bool starts_inside = (x <= width) & (y <= height);
  return starts_inside & (static_cast<std::uint64_t>(region.width) <= width - x) &
         (static_cast<std::uint64_t>(region.height) <= height - y);
}

/// The region itself where it lies inside the image. Else, for `Outside::error`, InvalidArgument that names the index,
/// the region and the image's size; for `Outside::clip` its part inside, which may be empty but then lies inside, too.
/// An extent that reaches beyond 64 bits is outside like any other. A negative extent always throws.
Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside);

}  // namespace areal
