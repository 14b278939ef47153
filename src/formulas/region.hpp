#pragma once
// Checks and clips regions against their image.

#include <algorithm>
#include <areal/region.hpp>
#include <limits>

namespace areal::formulas {

/// True if the region has no negative extent and lies inside the image. As unsigned numbers, negative ones are the
/// largest. Without a sum of two extents nothing overflows, and the four comparisons need no branches.
constexpr bool lies_inside(const Region& region, std::int64_t image_width, std::int64_t image_height) noexcept {
  const auto x = static_cast<std::uint64_t>(region.x), y = static_cast<std::uint64_t>(region.y);
  const auto width = static_cast<std::uint64_t>(image_width), height = static_cast<std::uint64_t>(image_height);
  const bool starts_inside = (x <= width) & (y <= height);
  return starts_inside & (static_cast<std::uint64_t>(region.width) <= width - x) &
         (static_cast<std::uint64_t>(region.height) <= height - y);
}

/// Clips one axis of a region without a negative extent to [0, extent), even if it reaches beyond 64 bits.
constexpr void clip(std::int64_t& first, std::int64_t& size, std::int64_t extent) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t end = first > most - size ? most : first + size;
  first = std::min(std::max<std::int64_t>(first, 0), extent);
  size = std::min(std::max(end, first), extent) - first;
}

/// The part inside. It may be empty but then also lies inside.
constexpr Region clipped(Region region, std::int64_t image_width, std::int64_t image_height) noexcept {
  clip(region.x, region.width, image_width);
  clip(region.y, region.height, image_height);
  return region;
}

/// True if a region that lies inside needs the image's last row or column, which a table of border `exclusive` lacks.
constexpr bool needs_last(const Region& region, std::int64_t image_width, std::int64_t image_height) noexcept {
  return region.width > 0 && region.height > 0 &&
         (region.x + region.width == image_width || region.y + region.height == image_height);
}

}  // namespace areal::formulas
