#include "api/core/window_axes.hpp"
#include <algorithm>
#include "api/core/require.hpp"

namespace areal {
namespace {

formulas::WindowAxis axis_of(std::int64_t extent, std::int64_t size, std::int64_t anchor, Edge edge, const char* name) {
  require(size >= 1 && size <= (std::int64_t{1} << 62), "window: ", name, " ", size, ", it may be 1 to 2^62");
  require(anchor >= -1 && anchor < size, "window: anchor ", anchor, " for a ", name, " of ", size,
          ": it may be -1 (the centre) or a cell of the window");
  if (edge == Edge::valid) return {extent, size, 0, std::max<std::int64_t>(0, extent - size + 1), edge};
  return {extent, size, anchor < 0 ? size / 2 : anchor, extent, edge};
}

WindowAxes unbounded_axes(std::int64_t image_width, std::int64_t image_height, const Window& window) {
  return {axis_of(image_width, window.width, window.anchor_x, window.edge, "width"),
          axis_of(image_height, window.height, window.anchor_y, window.edge, "height")};
}

}  // namespace

WindowAxes window_axes(std::int64_t image_width, std::int64_t image_height, const Window& window) {
  const WindowAxes axes = unbounded_axes(image_width, image_height, window);
  std::int64_t area = 0;
  require(window.edge == Edge::shrink || !__builtin_mul_overflow(window.width, window.height, &area),
          "window: ", window.width, "x", window.height, " has more pixels than 63 bits count");
  return axes;
}

Shape window_shape(std::int64_t image_width, std::int64_t image_height, const Window& window) {
  require(image_width >= 0 && image_height >= 0, "image ", image_width, "x", image_height,
          ": an extent may not be negative");
  const WindowAxes axes = unbounded_axes(image_width, image_height, window);
  return {axes.columns.outputs, axes.rows.outputs};
}

}  // namespace areal
