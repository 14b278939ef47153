#pragma once
// Boxes of trackers on the grid of pixels, the fragments of a box, and the earth mover's distance of one histogram of
// counts to shares: shared by the CPU's trackers and the kernels, so that their boxes have the same bits.

#include <algorithm>
#include <areal/histogram_measures.hpp>
#include <areal/region.hpp>
#include <areal/track.hpp>
#include <cstdint>
#include "formulas/distance.hpp"

namespace areal::formulas {

/// Adam 2006: a fragment is a tenth by half of the box.
inline constexpr int fine_pieces = 10, coarse_pieces = 2;

/// Rounds halves up, so that whole-pixel shifts commute with rounding.
constexpr std::int64_t rounded(double value) noexcept {
  const double raised = value + 0.5;
  const auto whole = static_cast<std::int64_t>(raised);
  return static_cast<double>(whole) > raised ? whole - 1 : whole;
}

/// The same box in another scale, around its centre.
constexpr TrackedBox scaled(const TrackedBox& box, double scale) noexcept {
  const double width = box.width * scale, height = box.height * scale;
  return {box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height, box.distance};
}

/// The begin of piece `index` of equal ones of a side. Adjacent pieces have no gap after rounding.
constexpr std::int64_t piece_edge(double side, std::int64_t index, std::int64_t pieces) noexcept {
  return rounded(side * static_cast<double>(index) / static_cast<double>(pieces));
}

/// The place of a fragment in the box: 20 columns (a tenth of the width by half the height), then 20 lines; of each the
/// upper or left half first.
struct FragmentPlace {
  bool is_line;
  int half, piece;
};
constexpr FragmentPlace fragment_place(int index) noexcept {
  const int strip = index / fine_pieces;
  return {strip >= coarse_pieces, strip % coarse_pieces, index % fine_pieces};
}
/// In whole pixels, relative to the corner of a box of that size.
constexpr Region fragment(double width, double height, const FragmentPlace& place) noexcept {
  const std::int64_t across = place.is_line ? coarse_pieces : fine_pieces,
                     down = place.is_line ? fine_pieces : coarse_pieces;
  const std::int64_t column = place.is_line ? place.half : place.piece, line = place.is_line ? place.piece : place.half;
  const std::int64_t x = piece_edge(width, column, across), y = piece_edge(height, line, down);
  return {x, y, piece_edge(width, column + 1, across) - x, piece_edge(height, line + 1, down) - y};
}

/// The places of a search: corners x0 to x1 and y0 to y1, for which the box lies inside the image.
struct SearchArea {
  std::int64_t x, y;  ///< of the box's last position
  std::int64_t x0, x1, y0, y1;
  bool is_empty;
};
constexpr SearchArea search_area(const TrackedBox& from, std::int64_t image_width, std::int64_t image_height,
                                 std::int64_t reach, std::int64_t least_side) noexcept {
  const auto least = static_cast<double>(least_side);
  const std::int64_t x = rounded(from.x), y = rounded(from.y);
  const std::int64_t last_x = image_width - rounded(from.width), last_y = image_height - rounded(from.height);
  SearchArea area{x,
                  y,
                  x > reach ? x - reach : 0,
                  x + reach < last_x ? x + reach : last_x,
                  y > reach ? y - reach : 0,
                  y + reach < last_y ? y + reach : last_y,
                  false};
  area.is_empty = from.width < least || from.height < least || area.x0 > area.x1 || area.y0 > area.y1;
  return area;
}

/// The factor from a histogram's counts to shares; 0 for an empty histogram.
constexpr double inverse_of(double total) noexcept { return total > 0 ? 1 / total : 0; }

/// For cumulative histograms: sum + the term of one bin.
constexpr double with_emd_bin(double sum, double count, double inverse, double share) noexcept {
  return with_bin<Distance::emd>(sum, 0, 0, count * inverse - share);
}
/// The distance in bins. Two empty histograms have 0; one empty one, or floats that are not finite, have the largest.
constexpr double emd_of(double sum, bool counts_nothing, bool counted_nothing, double largest) noexcept {
  if (counts_nothing || counted_nothing) return counts_nothing == counted_nothing ? 0 : largest;
  return sum <= largest ? sum : largest;
}

}  // namespace areal::formulas
