#pragma once
// The compact store of an image's histograms: labels, and counts on a lattice of anchors, from which the histogram of
// any rectangle follows exactly. Sizes, places and signs, shared by the CPU and the kernels.
//
// S(y, x) is the histogram of the pixels above row y and left of column x. B is the block, and n(v) the lattice line
// nearest to v, at n(v)B. Four arrays, one after another:
//
//   anchors        u32 or u64 [images][n(H)+1][n(W)+1][K']   S(aB, bB)
//   row strips     u16 [images][H+1][n(W)+1][K']             S(y, bB) - S(n(y)B, bB) modulo 2^16
//   column strips  u16 [images][n(H)+1][W+1][K']             S(aB, x) - S(aB, n(x)B) modulo 2^16
//   labels         u8 or u16 [images][ceil(H/4)][8 ceil(W/32)][4][4]   the pixel's bin; all bits set: none
//
// K' is the number of bins rounded up to 16; the bins beyond are 0. Lattice lines beyond the image count as its edge.
// With a = n(y) and b = n(x), S(y, x) = anchor(a, b) + row strip(y, b) + column strip(a, x) + q, where q counts the
// rectangle between (aB, bB) and (y, x) with the sign of (y - aB)(x - bB). A box is four such sums. Anchors cancel
// modulo their width. Strips are read in pairs: row strip(y, b1) - row strip(y, b0) has the sign of t = y - aB and
// counts at most |t| (b1 - b0) B pixels, so its 16 bits are exact up to 65,535; wider pairs are cut into several.

#include <cstdint>

namespace areal::formulas {

/// The block for that many bins: the strips' bytes fall with it, the labels counted for each box rise.
constexpr int compact_block(std::int64_t bins) noexcept { return bins <= 64 ? 32 : bins <= 128 ? 64 : 128; }

/// The most that a pair of strips counts exactly.
constexpr std::int64_t compact_most = 65535;

struct Compact {
  static constexpr std::int64_t square = 4;  ///< side of the squares of labels
  static constexpr std::int64_t bin_step = 16;
  static constexpr std::int64_t strip_bytes = 2;

  std::int64_t width = 0, height = 0, bins = 0, images = 1;
  int block = 32;
  int shift = 5;  ///< block = 1 << shift
  int label_bytes = 1;
  int anchor_bytes = 4;

  /// `has_none`: some pixels may lie in no bin. `block` is 32, 64 or 128; 0 is chosen by the bins.
  static constexpr Compact of(std::int64_t width, std::int64_t height, std::int64_t bins, std::int64_t images,
                              bool has_none, int block = 0) noexcept {
    Compact c{width, height, bins, images};
    c.block = block == 0 ? compact_block(bins) : block;
    c.shift = c.block == 32 ? 5 : c.block == 64 ? 6 : 7;
    c.label_bytes = bins <= (has_none ? 255 : 256) ? 1 : 2;
    const bool wide = width > 0 && height > 0 && height > ((std::int64_t{1} << 32) - 1) / width;
    c.anchor_bytes = wide ? 8 : 4;
    return c;
  }

  constexpr std::int64_t padded_bins() const noexcept { return (bins + bin_step - 1) & -bin_step; }
  /// The lattice line nearest to v; of two the later one.
  constexpr std::int64_t line(std::int64_t v) const noexcept { return (v + (block >> 1)) >> shift; }
  /// v minus the position of that line: in [-B/2, B/2).
  constexpr std::int64_t offset(std::int64_t v) const noexcept { return v - (line(v) << shift); }
  constexpr std::int64_t rows() const noexcept { return line(height) + 1; }    ///< of the lattice
  constexpr std::int64_t columns() const noexcept { return line(width) + 1; }  ///< of the lattice
  constexpr std::int64_t square_rows() const noexcept { return (height + 3) >> 2; }
  constexpr std::int64_t square_columns() const noexcept { return (width + 31) >> 5 << 3; }

  /// \name Elements of each array.
  /// @{
  template <class Int = std::int64_t>
  constexpr Int anchors() const noexcept {
    return Int(images) * Int(rows()) * Int(columns()) * Int(padded_bins());
  }
  template <class Int = std::int64_t>
  constexpr Int row_strips() const noexcept {
    return Int(images) * Int(height + 1) * Int(columns()) * Int(padded_bins());
  }
  template <class Int = std::int64_t>
  constexpr Int column_strips() const noexcept {
    return Int(images) * Int(rows()) * Int(width + 1) * Int(padded_bins());
  }
  template <class Int = std::int64_t>
  constexpr Int labels() const noexcept {
    return Int(images) * Int(square_rows()) * Int(square_columns()) * Int(square * square);
  }
  ///@}

  /// \name Bytes from the allocation's first: all are multiples of 32, a sector of a GPU, without padding.
  /// @{
  constexpr std::int64_t row_strips_at() const noexcept { return anchors() * anchor_bytes; }
  constexpr std::int64_t column_strips_at() const noexcept { return row_strips_at() + row_strips() * strip_bytes; }
  constexpr std::int64_t labels_at() const noexcept { return column_strips_at() + column_strips() * strip_bytes; }
  template <class Int = std::int64_t>
  constexpr Int bytes() const noexcept {
    return anchors<Int>() * Int(anchor_bytes) + (row_strips<Int>() + column_strips<Int>()) * Int(strip_bytes) +
           labels<Int>() * Int(label_bytes);
  }
  ///@}

  /// \name Element of an array: the first bin of an entry, or a pixel's label.
  /// @{
  constexpr std::int64_t anchor(std::int64_t image, std::int64_t a, std::int64_t b) const noexcept {
    return ((image * rows() + a) * columns() + b) * padded_bins();
  }
  constexpr std::int64_t row_strip(std::int64_t image, std::int64_t y, std::int64_t b) const noexcept {
    return ((image * (height + 1) + y) * columns() + b) * padded_bins();
  }
  constexpr std::int64_t column_strip(std::int64_t image, std::int64_t a, std::int64_t x) const noexcept {
    return ((image * rows() + a) * (width + 1) + x) * padded_bins();
  }
  constexpr std::int64_t label(std::int64_t image, std::int64_t y, std::int64_t x) const noexcept {
    const std::int64_t squares = (image * square_rows() + (y >> 2)) * square_columns() + (x >> 2);
    return (squares << 4) + ((y & 3) << 2) + (x & 3);
  }
  ///@}
};

/// How many lattice steps apart the strips of a pair may lie, `offset` pixels from their line: at least 7 for B <= 128
/// and 16 bits. A pair at offset 0 counts nothing.
constexpr std::int64_t compact_pair(std::int64_t offset, int block, std::int64_t most = compact_most) noexcept {
  return most / ((offset < 0 ? -offset : offset) * block);
}

/// The rectangle of pixels between a corner's lattice point and the corner, and its sign in the box: 0 if it is empty.
struct CompactRest {
  std::int64_t x0, x1, y0, y1;
  int sign;
  constexpr std::int64_t pixels() const noexcept { return (x1 - x0) * (y1 - y0); }
};

/// `sign` of the corner in the box: 1 for the lower right and the upper left one, else -1.
constexpr CompactRest compact_rest(const Compact& c, std::int64_t y, std::int64_t x, int sign) noexcept {
  const std::int64_t s = c.offset(x), t = c.offset(y);
  // Lattice lines beyond the image: the pixels there do not exist.
  const std::int64_t line_x = x - s < c.width ? x - s : c.width, line_y = y - t < c.height ? y - t : c.height;
  const int direction = (s < 0) == (t < 0) ? sign : -sign;
  const CompactRest rest{s < 0 ? x : line_x, s < 0 ? line_x : x, t < 0 ? y : line_y, t < 0 ? line_y : y, direction};
  return rest.pixels() == 0 ? CompactRest{0, 0, 0, 0, 0} : rest;
}

static_assert(Compact::of(1920, 1080, 32, 1, true).bytes() == 10'870'144);
static_assert(Compact::of(256, 256, 256, 1, false).label_bytes == 1 &&
              Compact::of(1, 1, 256, 1, true).label_bytes == 2);
static_assert(compact_pair(-64, 128) == 7);
static_assert(Compact::of(65536, 65536, 1, 1, true).anchor_bytes == 8);
static_assert(Compact::of(65535, 65537, 1, 1, true).anchor_bytes == 4);

}  // namespace areal::formulas
