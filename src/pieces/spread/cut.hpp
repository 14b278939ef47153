#pragma once
// How a table that is spread over devices is cut: strips of rows for the devices, each in parts, and bands of columns.
// Part p of band c takes over the last row of part p - 1 in band c, and the last column of band c - 1 in part p.

#include <areal/border.hpp>
#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace areal::pieces {

/// Rows of the image that are computed together, band by band.
struct SpreadPart {
  std::size_t strip = 0;
  std::int64_t first = 0, count = 0;
  /// With border `exclusive` a strip's last row of pixels belongs to no row of its table; the next strip needs its
  /// sums.
  bool beyond = false;
};

struct SpreadRows {
  std::int64_t first = 0, count = 0;
};

struct SpreadCut {
  std::int64_t width = 0;              ///< columns that are summed: with border `exclusive` one less than the image has
  std::vector<std::int64_t> bands{0};  ///< where each begins, and where the last ends
  std::vector<SpreadPart> parts;       ///< from the top down
  std::size_t band_count() const noexcept { return bands.size() - 1; }
  /// The pixels of a part in a band.
  Region piece(const SpreadPart& part, std::size_t band) const noexcept {
    return {bands[band], part.first, bands[band + 1] - bands[band], part.count};
  }
};

struct SpreadWish {
  std::int64_t band_width = 0;  ///< 0: chosen
  int parts = 0;                ///< of a strip; 0: chosen
  bool on_cuda = false;
};

/// As even as they can be: the first ones have one more.
std::vector<std::int64_t> even_rows(std::int64_t height, std::size_t strips);

SpreadCut cut_spread(const Shape& image, Border border, const std::vector<SpreadRows>& strips, const SpreadWish& wish);

}  // namespace areal::pieces
