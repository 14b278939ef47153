// What sliding windows ask of their table and their output.
#include "api/query/window_check.hpp"
#include <algorithm>
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/core/view_check.hpp"

namespace areal {

namespace {

formulas::WindowAxis axis_of(std::int64_t extent, std::int64_t size, std::int64_t anchor, Edge edge, const char* name) {
  require(size >= 1 && size <= (std::int64_t{1} << 62), "window: ", name, " ", size, ", it may be 1 to 2^62");
  require(anchor >= -1 && anchor < size, "window: anchor ", anchor, " for a ", name, " of ", size,
          ": it may be -1 (the centre) or a cell of the window");
  if (edge == Edge::valid) return {extent, size, 0, std::max<std::int64_t>(0, extent - size + 1), edge};
  const std::int64_t before = anchor < 0 ? size / 2 : anchor, after = size - 1 - before;
  require(edge != Edge::reflect || extent == 0 || std::max(before, after) < extent, "window: ", name, " ", size,
          " reaches ", std::max(before, after), " pixels beyond an image of ", extent,
          ", edge `reflect` may reach at most ", extent - 1);
  return {extent, size, before, extent, edge};
}

}  // namespace

cpu::WindowedTable windowed(const TableView& table, const Window& window, const char* argument) {
  require_table(table, argument);
  require_last_row_and_column(table.border, argument);
  std::int64_t area = 0;
  require(window.edge == Edge::shrink || !__builtin_mul_overflow(window.width, window.height, &area),
          "window: ", window.width, "x", window.height, " has more pixels than 63 bits count");
  return {table, axis_of(table.image_width(), window.width, window.anchor_x, window.edge, "width"),
          axis_of(table.image_height(), window.height, window.anchor_y, window.edge, "height")};
}

void require_windows_output(const cpu::WindowedTable& windows, const View& out, const char* argument) {
  require_output(out, {windows.columns.outputs, windows.rows.outputs});
  require(!may_overlap(windows.table.view, out), "out: it overlaps the table `", argument, "`");
}

Shape window_shape(std::int64_t image_width, std::int64_t image_height, const Window& window) {
  require(image_width >= 0 && image_height >= 0, "image ", image_width, "x", image_height,
          ": an extent may not be negative");
  return {axis_of(image_width, window.width, window.anchor_x, window.edge, "width").outputs,
          axis_of(image_height, window.height, window.anchor_y, window.edge, "height").outputs};
}

}  // namespace areal
