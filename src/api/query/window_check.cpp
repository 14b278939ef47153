// Requirements of sliding windows on their table and output.
#include "api/query/window_check.hpp"
#include <algorithm>
#include <cmath>
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/core/view_check.hpp"
#include "api/core/window_axes.hpp"

namespace areal {

namespace {

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
  const auto [columns, rows] = window_axes(table.image_width(), table.image_height(), window);
  return {table, columns, rows, cell_beyond(table.view.type, window, summed)};
}

void require_windows_output(const cpu::WindowedTable& windows, const View& out, const char* argument) {
  constexpr Type known[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};
  require(std::ranges::find(known, out.type) != std::end(known), "out: element type ", name_of(out.type),
          ": it may be 8u, 8s, 16u, 16s, 32s, 32f or 64f");
  const Shape& table = windows.table.view.shape;
  require_output_shape(out, {windows.columns.outputs, windows.rows.outputs, table.channels, table.batch});
  require(!may_overlap(windows.table.view, out), "out: it overlaps the table `", argument, "`");
}

}  // namespace areal
