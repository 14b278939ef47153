#pragma once
// Text in columns.

#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <vector>

namespace areal::command {

/// Pads each column to its widest cell. The first `words` columns are aligned left, the others right. All rows have the
/// same number of cells; the first is the header.
inline std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t words = 0) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < words ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace areal::command
