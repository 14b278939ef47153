#pragma once
/// \file window.hpp Dense sliding windows over a summed-area table: box sums, means, variances of every window.

#include <areal/execution.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>

namespace areal {

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

/// How means are rounded.
enum class Rounding : std::uint8_t {
  nearest,  ///< the quotient's nearest double; whole numbers half to even
  /// As cv::boxFilter does from integers, bit for bit, where its bits do not depend on the column:
  /// into 8u from 8 bits (tables of integers, windows of n = 2 to 256 pixels) the mean is min(255, floor((S + d) f /
  /// 2^23)), where S is the sum, at least 0, f = floor(2^23 / n) and d = floor(n / 2); d is one more where 2^23 / n - f
  /// < 1/2, else f is; into 64f it is S times the double nearest to 1/n. All else is as with `nearest`.
  opencv
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
  Rounding rounding = Rounding::nearest;
};

/// Shape of what a window gives for one plane of an image of that size (0 wide or high where no window fits inside with
/// `valid`). Throws InvalidArgument for an empty window or an anchor outside of it.
Shape window_shape(std::int64_t image_width, std::int64_t image_height, const Window& window);

/// \name Box sums, means, variances and standard deviations of every window of each plane of the table, into `out`,
/// which has `window_shape` and the table's channels and batch, in any layout. 64f and 32f take the values; 8u, 8s,
/// 16u, 16s and 32s take them rounded (see Rounding) to the nearest whole number, half to even, and held to the type's
/// range (NaN becomes 0), as OpenCV's saturate_cast. O(1) a pixel, whatever the window. Integers are exact in 64 bits
/// (where pixels repeat beyond the edge, too) and rounded to double, then to the output's type; the arithmetic is that
/// of the functions of regions. Variances and standard deviations read the squares of the view, which must have them,
/// with the same planes. The table's memory decides where the query runs, as for regions (see QueryOptions): `out` may
/// be of the table's device or of the host, which waits for its copy. Throws what queries about regions throw, and
/// InvalidArgument for an `exclusive` table (convert it first), an output of another shape, or one that overlaps a
/// table. Means, variances and standard deviations of a view with a count (of as many channels as the sums or of one
/// for all) are over the valid pixels, NaN where a window has none; cells beyond the edge are valid but for `shrink`.
/// That is computed by the CPU: InvalidArgument for a view with a count elsewhere.
///@{
void window_sums(const SatView& table, const Window& window, const View& out, const Execution& execution = {});
void window_means(const SatView& table, const Window& window, const View& out, const Execution& execution = {});
void window_variances(const SatView& table, const Window& window, const View& out, const Execution& execution = {});
void window_standard_deviations(const SatView& table, const Window& window, const View& out,
                                const Execution& execution = {});
///@}

}  // namespace areal
