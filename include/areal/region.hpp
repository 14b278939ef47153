#pragma once
/// \file region.hpp Regions, and what a summed-area table answers about them in constant time.

#include <areal/array.hpp>
#include <areal/border.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <span>

namespace areal {

/// A half-open rectangle of pixels: columns [x, x+width), rows [y, y+height). As memory it is a row of an N x 4
/// array of 64-bit integers.
struct Region {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// What to do with a region that reaches outside the image. A negative width or height is always an error;
/// an empty region has sum 0.
enum class Outside : std::uint8_t {
  error,  ///< throw InvalidArgument that names the region's index and the image's size
  clip    ///< answer for the part inside
};

/// One channel of one image of a view, as a single-channel view (interleaved channels keep their stride through
/// `BasicView::plane_pitch` and are refused by what needs contiguous rows: see each function).
ConstView plane(const ConstView& view, std::int64_t channel, std::int64_t n = 0);
View plane(const View& view, std::int64_t channel, std::int64_t n = 0);

/// \name Sums of N regions, of each plane of the table: N x batch x channels of them, row by row, so that the answers
/// of one region lie side by side, and of these the channels of one image. O(1) each: four reads. The overload must
/// match the table: unsigned, signed or float; double also takes any table. Integer sums are exact modulo 2^k, so exact
/// whenever the region's own sum fits the table's type. Float tables are subtracted in double. `threads` 0 means all,
/// and changes no result. Throws InvalidArgument (region outside, wrong sizes or types; of several such regions the
/// first is named); `out` is then unspecified. An `exclusive` table cannot answer regions that touch the image's last
/// row or column; those throw, too.
///@{
void region_sums(const TableView& table, std::span<const Region> regions, std::span<std::uint64_t> out,
                 Outside outside = Outside::error, int threads = 0);
void region_sums(const TableView& table, std::span<const Region> regions, std::span<std::int64_t> out,
                 Outside outside = Outside::error, int threads = 0);
void region_sums(const TableView& table, std::span<const Region> regions, std::span<double> out,
                 Outside outside = Outside::error, int threads = 0);
double region_sum(const TableView& table, const Region& region, Outside outside = Outside::error);
///@}

/// Means of N regions of each plane, in the order of the sums; NaN for an empty one. With `count` (a table of valid
/// pixels, of as many channels as the sums or of one for all) the mean is over those.
void region_means(const TableView& table, std::span<const Region> regions, std::span<double> out,
                  Outside outside = Outside::error, int threads = 0, const TableView* count = nullptr);

/// Population variances of N regions of each plane, from the tables of sums and of squares, which have the same planes:
/// never negative, and NaN only for an empty region or one that holds NaN (or lies right of or below one that does, or
/// infinity: floats spread in a table). Integer tables are computed exactly in 128 bits before the one division; so are
/// integer sums with squares in 64f while those are below 2^53. Float sums: max(0, S2/n - (S1/n)^2), whose error is a
/// few eps of S2/n on top of what the tables' own rounding left. With `count` (an integer table), over valid pixels, as
/// for means.
void region_variances(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                      std::span<double> out, Outside outside = Outside::error, int threads = 0,
                      const TableView* count = nullptr);
/// The square roots of `region_variances`.
void region_standard_deviations(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                                std::span<double> out, Outside outside = Outside::error, int threads = 0,
                                const TableView* count = nullptr);

/// Sums of boxes of a volume table (depth as batch, one channel), border `zero` ((D+1)x(H+1)x(W+1)) or `none`. Eight
/// reads each; integers exact modulo 2^k.
struct Box {
  std::int64_t x = 0, y = 0, z = 0, width = 0, height = 0, depth = 0;
};
void box_sums(const ConstView& volume, Border border, std::span<const Box> boxes, std::span<double> out,
              Outside outside = Outside::error);

/// Sums of 45 degree rotated rectangles from a tilted table ((H+1)x(W+1), OpenCV's definition: the element (X, Y) sums
/// the pixels with y < Y and |x - X + 1| <= Y - y - 1): `width` steps down-right and `height` steps down-left from the
/// top, Lienhart's RSAT rectangle. Its 2 width height pixels are (x-1 + i-j, y + i+j) and the one below, for
/// 0 <= i < width and 0 <= j < height: the top pixel is (x-1, y). It lies inside when x - height >= 0,
/// x + width <= W, y >= 0 and y + width + height <= H; else InvalidArgument. Empty ones are 0.
void tilted_sums(const ConstView& tilted, std::span<const Region> regions, std::span<double> out);

/// What a window sees beyond the image's edge. Windows of any size: reflections and copies are repeated as often as it
/// takes. Means are over the whole window but for `shrink`.
enum class Edge : std::uint8_t {
  valid,      ///< only windows that lie inside: the output is (H-h+1) x (W-w+1)
  shrink,     ///< the part inside; means are over that part
  zero,       ///< zeros
  replicate,  ///< aaa|abcd|ddd
  reflect,    ///< dcb|abcd|cba: numpy's reflect, OpenCV's BORDER_REFLECT_101
  symmetric,  ///< cba|abcd|dcb, with the edge pixel repeated: numpy's symmetric, OpenCV's BORDER_REFLECT
  wrap,       ///< bcd|abcd|abc
  constant    ///< `Window::value`
};

/// Dense sliding windows. Output pixel (x, y) is of the window whose cell (anchor_x, anchor_y) lies at (x, y)
/// (`valid`: whose first cell does). Anchor -1 means the centre, w/2 and h/2.
struct Window {
  std::int64_t width = 1, height = 1;
  std::int64_t anchor_x = -1, anchor_y = -1;
  Edge edge = Edge::shrink;
  /// The pixels beyond the edge, with `constant`. For tables of integers it must be a whole number: 0 to 2^32 - 1, or
  /// -2^31 to 2^31 - 1 for signed tables.
  double value = 0;
};

/// Shape of what a window gives for one plane of an image of that size (0 wide or high where no window fits inside with
/// `valid`). Throws InvalidArgument for an empty window or an anchor outside of it.
Shape window_shape(std::int64_t image_width, std::int64_t image_height, const Window& window);
/// Box sums, means, variances and standard deviations of every window of each plane of the table, into `out`, which has
/// the table's channels and batch, in any layout. 64f and 32f take the values; 8u and 16u take them rounded to the
/// nearest whole number, half to even, and held to 0 .. 255 or 0 .. 65535 (NaN becomes 0), as OpenCV's saturate_cast.
/// O(1) a pixel, whatever the window. Integers are exact in 64 bits (where pixels repeat beyond the edge, too) and
/// rounded to double, then to the output's type; the arithmetic is that of the functions above. Throws InvalidArgument
/// for an `exclusive` table (convert it first), an output of another shape, or one that overlaps a table.
void window_sums(const TableView& table, const Window& window, const View& out, int threads = 0);
void window_means(const TableView& table, const Window& window, const View& out, int threads = 0);
void window_variances(const TableView& sum, const TableView& squares, const Window& window, const View& out,
                      int threads = 0);
void window_standard_deviations(const TableView& sum, const TableView& squares, const Window& window, const View& out,
                                int threads = 0);

/// Copies a table into another border without computing it again. `exclusive` lacks the image's last row and
/// column: from it, the other borders need `image` (the image the table was made of, same type pair); to it and between
/// the others `image` is not read, and of it only the last row and column. Tables of sums only: those of squares are of
/// no type pair's image. Integers are as if computed anew; floats round as one more addition does. Throws
/// InvalidArgument for shapes that do not belong together, and where `to` overlaps `from` or the image: not in place.
void convert_border(const TableView& from, const View& to, Border to_border, const ConstView* image = nullptr);

}  // namespace areal
