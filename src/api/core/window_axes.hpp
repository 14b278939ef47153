#pragma once
// The axes of sliding windows, checked.

#include <areal/window.hpp>
#include <cstdint>
#include "formulas/window_axis.hpp"

namespace areal {

struct WindowAxes {
  formulas::WindowAxis columns, rows;
};

/// Throws InvalidArgument for an empty window, an anchor outside of it, or one whose pixels 63 bits do not count.
WindowAxes window_axes(std::int64_t image_width, std::int64_t image_height, const Window& window);

}  // namespace areal
