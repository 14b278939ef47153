#pragma once
// The corners of a region in an array with a table's shape.

#include <areal/border.hpp>
#include <areal/region.hpp>
#include <cstdint>

namespace areal::formulas {

/// The points between pixels that have an element in an array of width x height elements: element (x, y) is point (x +
/// shift, y + shift).
struct CornerGrid {
  std::int64_t width = 0, height = 0, shift = 0;

  static constexpr CornerGrid of(std::int64_t width, std::int64_t height, Border border) noexcept {
    return {width, height, border == Border::none ? 1 : 0};
  }
  /// The number of elements, also returned for a point without an element.
  constexpr std::int64_t elements() const noexcept { return width * height; }
  constexpr bool has_row(std::int64_t y) const noexcept { return y >= shift && y - shift < height; }
  constexpr bool has_column(std::int64_t x) const noexcept { return x >= shift && x - shift < width; }
  /// The element, counted row by row, of corner 0 <= c < 4 of a region: bit 0 its right side, bit 1 its bottom.
  constexpr std::int64_t element(const Region& region, int c) const noexcept {
    const std::int64_t x = region.x + (c & 1 ? region.width : 0), y = region.y + (c & 2 ? region.height : 0);
    if (region.width == 0 || region.height == 0 || !has_column(x) || !has_row(y)) return elements();
    return (y - shift) * width + (x - shift);
  }
};

/// True for the corners whose values are subtracted.
constexpr bool is_minus_corner(int c) noexcept { return c == 1 || c == 2; }

}  // namespace areal::formulas
