#pragma once
// The rank store of an image: the order of its pixels, from which the k-th value of any rectangle follows exactly.
// Sizes and places, shared by the CPU and the kernels.
//
// Keys are unsigned integers in the order of the pixels. Level j cuts the image into panels of 4^j columns, until one
// covers the width; the last panel of a level may be narrower. Each panel, read row by row, is a one-dimensional
// wavelet matrix (Claude, Navarro, Ordonez 2015): plane 0 has the top bit of each key, and each further plane the next
// bit, of the keys in an order that a stable partition by the bit of the plane before has made, zeros first. A plane of
// a panel is a sequence of lines of 32 bytes.
//
//   lines   [matrices][planes][level][panel][lines]   the zeros before the line in its panel and plane, and 224 bits
//   zeros   u32 [matrices][level][panel][planes]      all zeros of the panel's plane
//
// A matrix is one channel of one image. Rows y0 to y1 of a panel of c columns are positions y0 c to y1 c. A partition
// keeps them one range of zeros and one of ones, so that two counts of zeros for each plane lead to the next one. A
// rectangle is at most 3 panels on each side and level; the zeros of their ranges add up to those of the rectangle.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace areal::formulas {

/// Bytes in memory: the bits are little-endian, the first position in the lowest one. Bits beyond the panel are 0.
struct RankLine {
  static constexpr std::int64_t positions = 224;
  static constexpr int words = 7;
  std::uint32_t zeros;  ///< of the panel and plane, before the line
  std::uint32_t bits[words];
};
static_assert(sizeof(RankLine) == 32);

/// The order of pixels of a type as unsigned integers of its size: -0 equals +0, and NaN are one key, the greatest.
template <class Key>
struct RankOrder {
  static constexpr Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  static constexpr Key nan = static_cast<Key>(~Key{0});
  static constexpr Key infinity = sizeof(Key) == 2   ? static_cast<Key>(0x7c00)
                                  : sizeof(Key) == 4 ? static_cast<Key>(0x7f800000)
                                                     : static_cast<Key>(0x7ff0000000000000);
  bool is_signed = false;  ///< integers
  bool is_real = false;

  constexpr Key key(Key pixel) const noexcept {
    if (!is_real) return is_signed ? static_cast<Key>(pixel ^ sign) : pixel;
    const Key size = static_cast<Key>(pixel & static_cast<Key>(~sign));
    if (size > infinity) return nan;
    return pixel == size || size == 0 ? static_cast<Key>(size | sign) : static_cast<Key>(~pixel);
  }
  constexpr Key pixel(Key key) const noexcept {
    if (!is_real) return is_signed ? static_cast<Key>(key ^ sign) : key;
    return (key & sign) != 0 ? static_cast<Key>(key ^ sign) : static_cast<Key>(~key);
  }
};

/// One panel of a rectangle.
struct RankPanel {
  int level;
  std::int64_t panel;
};

struct Rank {
  static constexpr int most_levels = 17;  ///< of 2^32 columns
  static constexpr int most_panels = 6 * most_levels;
  /// A matrix has fewer pixels than this: positions have 32 bits.
  static constexpr std::int64_t most_pixels = std::int64_t{1} << 32;

  std::int64_t width = 0, height = 0, matrices = 1;
  int planes = 0;                      ///< bits of a key
  int levels = 0;                      ///< 0 for an image without pixels
  std::int64_t lines = 0, panels = 0;  ///< of a plane, and of all levels
  std::int64_t first_line[most_levels] = {}, first_panel[most_levels] = {};

  static constexpr bool fits(std::int64_t width, std::int64_t height) noexcept {
    return width == 0 || height <= (most_pixels - 1) / width;
  }
  /// Of an image that fits.
  static constexpr Rank of(std::int64_t width, std::int64_t height, std::int64_t matrices, int planes) noexcept {
    Rank r{width, height, matrices, planes};
    if (width == 0 || height == 0) return r;
    do {
      const int level = r.levels++;
      r.first_line[level] = r.lines;
      r.first_panel[level] = r.panels;
      const std::int64_t whole = width >> (2 * level), last = width - (whole << (2 * level));
      r.lines += whole * r.panel_lines(std::int64_t{1} << (2 * level)) + (last > 0 ? r.panel_lines(last) : 0);
      r.panels += r.panels_at(level);
    } while (r.panels_at(r.levels - 1) > 1);
    return r;
  }

  /// The lines of a plane of a panel of that many columns: the place behind the last position has one, too.
  constexpr std::int64_t panel_lines(std::int64_t columns) const noexcept {
    return height * columns / RankLine::positions + 1;
  }
  constexpr std::int64_t panels_at(int level) const noexcept {
    return (width + (std::int64_t{1} << (2 * level)) - 1) >> (2 * level);
  }
  /// The first column of a panel, and how many it has.
  constexpr std::int64_t column(int level, std::int64_t panel) const noexcept { return panel << (2 * level); }
  constexpr std::int64_t columns(int level, std::int64_t panel) const noexcept {
    return std::min(std::int64_t{1} << (2 * level), width - column(level, panel));
  }

  /// \name Elements of an array from the first: of lines, and of zeros.
  /// @{
  constexpr std::int64_t line(std::int64_t matrix, int plane, int level, std::int64_t panel) const noexcept {
    return (matrix * planes + plane) * lines + first_line[level] + panel * panel_lines(std::int64_t{1} << (2 * level));
  }
  constexpr std::int64_t zeros(std::int64_t matrix, int level, std::int64_t panel) const noexcept {
    return (matrix * panels + first_panel[level] + panel) * planes;
  }
  ///@}

  template <class Int = std::int64_t>
  constexpr Int zeros_at() const noexcept {
    return Int(matrices) * Int(planes) * Int(lines) * Int(sizeof(RankLine));
  }
  template <class Int = std::int64_t>
  constexpr Int bytes() const noexcept {
    return zeros_at<Int>() + Int(matrices) * Int(planes) * Int(panels) * Int(sizeof(std::uint32_t));
  }

  /// Calls f(level, first, count) for the runs of neighbouring panels that cover columns x0 to x1, at least one: two
  /// runs a level, which may be empty, and none beyond the last one.
  template <class F>
  constexpr void each_run(std::int64_t x0, std::int64_t x1, const F& f) const {
    for (int level = 0;; ++level) {
      // The last panel of a level ends with the image, as do those above it.
      const std::int64_t end = panels_at(level);
      if (end == 1) return f(level, std::int64_t{0}, 1);
      const std::int64_t left = std::min(-x0 & 3, x1 - x0);
      f(level, x0, static_cast<int>(left));
      x0 += left;
      const std::int64_t right = x1 == end ? 0 : std::min(x1 & 3, x1 - x0);
      x1 -= right;
      f(level, x1, static_cast<int>(right));
      if (x0 == x1) return;
      x0 >>= 2;
      x1 = (x1 + 3) >> 2;
    }
  }
  /// These panels into out[most_panels]. Returns their number.
  constexpr int cover(std::int64_t x0, std::int64_t x1, RankPanel* out) const {
    int count = 0;
    each_run(x0, x1, [&](int level, std::int64_t first, int panels_there) {
      for (int i = 0; i < panels_there; ++i) out[count++] = {level, first + i};
    });
    return count;
  }
  /// The most panels of a rectangle: 3 of the level below the last one, where it has 4 at most.
  constexpr int most_cover() const noexcept { return levels < 2 ? levels : 6 * (levels - 2) + 3; }
};

static_assert(Rank::of(4096, 4096, 1, 16).bytes() == 270'820'160);
static_assert(Rank::of(1, 223, 1, 8).lines == 1 && Rank::of(1, 224, 1, 8).lines == 2);
static_assert(Rank::of(5, 1, 1, 8).levels == 3 && Rank::of(4, 1, 1, 8).levels == 2 &&
              Rank::of(0, 9, 1, 8).bytes() == 0);
static_assert(RankOrder<std::uint16_t>{false, true}.key(0x8000) == RankOrder<std::uint16_t>{false, true}.key(0));

}  // namespace areal::formulas
