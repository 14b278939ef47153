#pragma once
// Requirements of sliding windows on their table and output.

#include <areal/table.hpp>
#include <areal/window.hpp>
#include "cpu/query/window_rows.hpp"

namespace areal {

/// The sums of a table under windows.
enum class TableKind : std::uint8_t { pixels, squares };

/// The checked table under these windows. Throws InvalidArgument for invalid ones.
cpu::WindowedTable windowed(const TableView& table, const Window& window, const char* argument,
                            TableKind summed = TableKind::pixels);

/// Throws InvalidArgument unless `out` has the windows' shape and the table's planes, is of 8u, 8s, 16u, 16s, 32s, 32f
/// or 64f, and does not overlap the table.
void require_windows_output(const cpu::WindowedTable& windows, const View& out, const char* argument);

}  // namespace areal
