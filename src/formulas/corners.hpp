#pragma once
// Boxes of a volume and rotated rectangles: which ones lie inside, and the table's points whose signed elements add up
// to the sum. The order of the points is the order in which floats are added.

#include <areal/region.hpp>
#include <cstdint>
#include "formulas/region.hpp"

namespace areal::formulas {

/// Of a volume, in pixels.
struct Extents {
  std::int64_t width = 0, height = 0, depth = 0;
};

constexpr bool lies_inside(const Box& box, const Extents& volume) noexcept {
  return lies_inside({box.x, box.y, box.width, box.height}, volume.width, volume.height) &&
         lies_inside({box.z, 0, box.depth, 0}, volume.depth, 0);
}

/// The part of a box that lies inside, for a box without a negative extent. It may be empty but then also lies inside.
constexpr Box clipped(Box box, const Extents& volume) noexcept {
  clip(box.x, box.width, volume.width);
  clip(box.y, box.height, volume.height);
  clip(box.z, box.depth, volume.depth);
  return box;
}

/// True if a rotated rectangle has no negative extent and lies inside the image; see `tilted_sums`.
constexpr bool lies_inside_rotated(const Region& r, std::int64_t image_width, std::int64_t image_height) noexcept {
  return r.width >= 0 && r.height >= 0 && r.x >= r.height && r.x <= image_width && r.width <= image_width - r.x &&
         r.y >= 0 && r.y <= image_height && r.width <= image_height - r.y && r.height <= image_height - r.y - r.width;
}

/// A point between pixels, and whether the table's element there is subtracted.
struct SignedPoint {
  std::int64_t x, y, z;
  bool minus;
};

/// The points 0 <= c < 8 of a box that lies inside.
constexpr SignedPoint box_point(const Box& box, int c) noexcept {
  const int right = c & 1, bottom = c >> 1 & 1, back = c >> 2;
  return {box.x + (right ? box.width : 0), box.y + (bottom ? box.height : 0), box.z + (back ? box.depth : 0),
          (right + bottom + back) % 2 == 0};
}

/// The points 0 <= c < 4 of a rotated rectangle that lies inside.
constexpr SignedPoint rotated_point(const Region& r, int c) noexcept {
  switch (c) {
    case 0:
      return {r.x + r.width - r.height, r.y + r.width + r.height, 0, false};
    case 1:
      return {r.x - r.height, r.y + r.height, 0, true};
    case 2:
      return {r.x + r.width, r.y + r.width, 0, true};
    default:
      return {r.x, r.y, 0, false};
  }
}

}  // namespace areal::formulas
