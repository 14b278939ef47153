#pragma once
// Windows without the positions beyond an image that show nothing new.

#include <algorithm>
#include <cstdint>
#include "formulas/window_axis.hpp"

namespace areal::cpu {

/// An image beyond each edge shows every pixel, a reflection needs two. `more` positions stay beyond that: a block, so
/// that sums of zeros end with one.
inline formulas::WindowAxis cut_axis(const formulas::WindowAxis& axis, std::int64_t more = 0) {
  if (axis.edge == Edge::valid) return axis;
  const bool turns = axis.edge == Edge::reflect || axis.edge == Edge::symmetric;
  const std::int64_t most = (turns ? 2 : 1) * axis.extent + more;
  formulas::WindowAxis cut = axis;
  cut.before = std::min(axis.before, most);
  cut.size = cut.before + 1 + std::min(axis.size - 1 - axis.before, most);
  return cut;
}
/// For filters that see how often a pixel is shown: only where nothing is.
inline formulas::WindowAxis cut_to_image(const formulas::WindowAxis& axis) {
  return axis.edge == Edge::shrink ? cut_axis(axis) : axis;
}

}  // namespace areal::cpu
