#pragma once
// What sliding windows ask of their table and their output.

#include <areal/table.hpp>
#include <areal/window.hpp>
#include "cpu/query/window_rows.hpp"

namespace areal {

/// The table, checked, under these windows. Throws InvalidArgument for what cannot be.
cpu::WindowedTable windowed(const TableView& table, const Window& window, const char* argument);

/// Throws InvalidArgument unless `out` has the windows' shape, is of 32f or 64f, and does not overlap the table.
void require_windows_output(const cpu::WindowedTable& windows, const View& out, const char* argument);

}  // namespace areal
