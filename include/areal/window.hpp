#pragma once
/// \file window.hpp Dense sliding windows over a summed-area table: box sums, means, variances of every window.

#include <areal/execution.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>

namespace areal {

/// How a window is extended beyond the image's edge. Reflections and copies repeat as often as the window's size needs.
/// Means are over the whole window but for `shrink`.
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
  /// As cv::boxFilter from integers, bit for bit, except for results that in OpenCV depend on the column. From 8 bits
  /// into 8u (tables of integers, windows of n = 2 to 256 pixels) the mean is min(255, floor((S + d) f / 2^23)), where
  /// S is the sum, at least 0, f = floor(2^23 / n) and d = floor(n / 2); if 2^23 / n - f < 1/2, d is one more, else f
  /// is. Into 64f it is S times the double nearest to 1/n. All else is as with `nearest`.
  opencv
};

/// Dense sliding windows. Output pixel (x, y) belongs to the window whose cell (anchor_x, anchor_y) lies at (x, y)
/// (`valid`: whose first cell does). Anchor -1 means the centre, w/2 and h/2.
struct Window {
  std::int64_t width = 1, height = 1;
  std::int64_t anchor_x = -1, anchor_y = -1;
  Edge edge = Edge::shrink;
  /// The pixels beyond the edge, with `constant`. For tables of integers a whole number: 0 to 2^32 - 1, or -2^31 to
  /// 2^31 - 1 for signed tables.
  double value = 0;
  Rounding rounding = Rounding::nearest;
};

/// Shape of a window's output for one plane of an image of that size (0 wide or high if no window fits inside with
/// `valid`). Throws InvalidArgument for an empty window or an anchor outside of it. O(1).
Shape window_shape(std::int64_t image_width, std::int64_t image_height, const Window& window);

/// \name Box sums, means, variances and standard deviations of every window of each plane of the table, into `out`,
/// which has `window_shape` and the table's channels and batch, in any layout. 64f and 32f outputs are not rounded to
/// whole numbers; 8u, 8s, 16u, 16s and 32s outputs are (see Rounding; half to even), and saturate (NaN becomes 0), as
/// OpenCV's saturate_cast. O(1) a pixel for every window size. Integers are exact in 64 bits (also with repeated pixels
/// beyond the edge) and rounded to double, then to the output's type; the arithmetic is that of the functions of
/// regions. Variances and standard deviations need the view's squares, with the same planes. The table's memory decides
/// where the query runs, as for regions (see QueryOptions): `out` may be of the table's device or of the host, which
/// waits for its copy. With a count in the view (of as many channels as the sums or of one for all), means, variances
/// and standard deviations are over the valid pixels, NaN for a window without any; cells beyond the edge are valid but
/// for `shrink`. Only the CPU supports counts.
/// Throws what queries about regions throw, and InvalidArgument for an `exclusive` table (convert it first), an output
/// of another shape, one that overlaps a table, and a view with a count on another backend.
/// @{
void window_sums(const SatView& table, const Window& window, const View& out, const Execution& execution = {});
void window_means(const SatView& table, const Window& window, const View& out, const Execution& execution = {});
void window_variances(const SatView& table, const Window& window, const View& out, const Execution& execution = {});
void window_standard_deviations(const SatView& table, const Window& window, const View& out,
                                const Execution& execution = {});
///@}

}  // namespace areal
