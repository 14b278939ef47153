#pragma once
// A histogram as bars of text.

#include <span>
#include <string>

namespace areal::command {

/// One line a bin: its edges, a bar, its count. At most `columns` wide; bars scale to the fullest bin.
std::string chart(const std::string& title, std::span<const double> histogram, std::span<const double> edges,
                  int columns);
/// Columns of the terminal on standard output; 80 where there is none.
int terminal_columns();

}  // namespace areal::command
