#pragma once
// A histogram as bars of text.

#include <span>
#include <string>

namespace areal::command {

/// One line per bin: its edges, its count and a bar, at most `columns` wide. Bars scale to the fullest bin.
std::string chart(const std::string& title, std::span<const double> histogram, std::span<const double> edges,
                  int columns);
/// Columns of the terminal on standard output; 80 without a terminal.
int terminal_columns();

}  // namespace areal::command
