// Requirements of sliding windows on their table and output.
#include "api/query/window_check.hpp"
#include <algorithm>
#include <cmath>
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
  return {extent, size, anchor < 0 ? size / 2 : anchor, extent, edge};
}

formulas::CellBeyond cell_beyond(Type table, const Window& window, TableKind summed) {
  if (window.edge != Edge::constant) return {};
  const bool squares = summed == TableKind::squares;
  const double value = window.value;
  if (is_float(table)) return {0, squares ? value * value : value};
  const bool negative = squares || is_signed_integer(table);
  const double least = negative ? -0x1p31 : 0, most = is_signed_integer(table) && !squares ? 0x1p31 - 1 : 0x1p32 - 1;
  require(value >= least && value <= most && value == std::floor(value), "window: value ", value, " for a table of ",
          name_of(table), ": it may be a whole number from ", static_cast<std::int64_t>(least), " to ",
          static_cast<std::int64_t>(most));
  const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return {squares ? whole * whole : whole, 0};
}

}  // namespace

cpu::WindowedTable windowed(const TableView& table, const Window& window, const char* argument, TableKind summed) {
  require_tables(table, argument);
  require_last_row_and_column(table.border, argument);
  std::int64_t area = 0;
  require(window.edge == Edge::shrink || !__builtin_mul_overflow(window.width, window.height, &area),
          "window: ", window.width, "x", window.height, " has more pixels than 63 bits count");
  return {table, axis_of(table.image_width(), window.width, window.anchor_x, window.edge, "width"),
          axis_of(table.image_height(), window.height, window.anchor_y, window.edge, "height"),
          cell_beyond(table.view.type, window, summed)};
}

void require_windows_output(const cpu::WindowedTable& windows, const View& out, const char* argument) {
  constexpr Type known[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};
  require(std::ranges::find(known, out.type) != std::end(known), "out: element type ", name_of(out.type),
          ": it may be 8u, 8s, 16u, 16s, 32s, 32f or 64f");
  const Shape& table = windows.table.view.shape;
  require_output_shape(out, {windows.columns.outputs, windows.rows.outputs, table.channels, table.batch});
  require(!may_overlap(windows.table.view, out), "out: it overlaps the table `", argument, "`");
}

Shape window_shape(std::int64_t image_width, std::int64_t image_height, const Window& window) {
  require(image_width >= 0 && image_height >= 0, "image ", image_width, "x", image_height,
          ": an extent may not be negative");
  return {axis_of(image_width, window.width, window.anchor_x, window.edge, "width").outputs,
          axis_of(image_height, window.height, window.anchor_y, window.edge, "height").outputs};
}

}  // namespace areal
