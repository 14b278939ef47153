#pragma once
// One axis of a filter in 32 bits, for a kernel: the pixel of the image that stands at a place beyond the edge.

#include <algorithm>
#include <cstdint>
#include "formulas/window_axis.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The largest extent, and size of a window, that a FilterAxis takes.
inline constexpr std::int64_t most_of_filter_axis = std::int64_t{1} << 29;

struct FilterAxis {
  int extent = 0, size = 1, before = 0, outputs = 0;
  Edge edge = Edge::shrink;

  FilterAxis() = default;
  explicit FilterAxis(const formulas::WindowAxis& axis)
      : extent(static_cast<int>(axis.extent)),
        size(static_cast<int>(axis.size)),
        before(static_cast<int>(axis.before)),
        outputs(static_cast<int>(axis.outputs)),
        edge(axis.edge) {}

  /// Pixels of a window after its anchor.
  AREAL_BOTH int after() const { return size - 1 - before; }
  AREAL_BOTH bool copies() const {
    return edge == Edge::replicate || edge == Edge::reflect || edge == Edge::symmetric || edge == Edge::wrap;
  }
  /// The pixel at place i, which may lie beyond the edge; -1 if there is none.
  AREAL_BOTH int pixel(int i) const {
    if (i >= 0 && i < extent) return i;
    if (!copies()) return -1;
    if (edge == Edge::replicate) return i < 0 ? 0 : extent - 1;
    if (edge == Edge::wrap) {
      i %= extent;
      return i < 0 ? i + extent : i;
    }
    const int again = edge == Edge::reflect ? 1 : 0;  // a reflection repeats neither end
    if (extent == 1) return 0;
    const int period = 2 * (extent - again);
    i %= period;
    if (i < 0) i += period;
    return i < extent ? i : period - 1 + again - i;
  }
  /// Pixels of the image in the window of output i; at least 1, also for one that is no output.
  AREAL_BOTH int inside(int i) const {
    const int begin = i - before < 0 ? 0 : i - before, end = i - before + size < extent ? i - before + size : extent;
    return end > begin ? end - begin : 1;
  }
};

/// The rows of the image that rows beyond its edge show, not further than one image away.
struct RowsBeyond {
  int extent = 0;
  int above = 0, by_above = 0, below = 0, by_below = 0;  ///< row i shows above + by_above i; or below + by_below i
  bool shows = false;                                    ///< any

  RowsBeyond() = default;
  explicit RowsBeyond(const FilterAxis& axis) : extent(axis.extent), shows(axis.copies()) {
    if (!shows) return;
    by_above = extent > 1 ? axis.pixel(-1) - axis.pixel(-2) : 0;
    by_below = extent > 1 ? axis.pixel(extent + 1) - axis.pixel(extent) : 0;
    above = axis.pixel(-1) + by_above, below = axis.pixel(extent) - by_below * extent;
  }
  /// -1 if it shows none.
  AREAL_BOTH int row(int i) const {
    if (i >= 0 && i < extent) return i;
    if (!shows) return -1;
    return i < 0 ? above + by_above * i : below + by_below * i;
  }
};

}  // namespace areal::kernels
