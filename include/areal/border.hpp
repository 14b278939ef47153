#pragma once
/// \file border.hpp The three borders of a table.

#include <cstdint>
#include <optional>
#include <string_view>

namespace areal {

/// Where a table has its row and column of zeros.
enum class Border : std::uint8_t {
  zero,  ///< (H+1)x(W+1), first row and column zero: T[y][x] sums rows < y and columns < x (OpenCV, NPP). The default.
  none,  ///< HxW, inclusive: T[y][x] sums rows <= y and columns <= x.
  exclusive  ///< HxW, T[y][x] sums rows < y and columns < x (Chen 2018, equation 2). Lacks the last row and column.
};

std::string_view name_of(Border border) noexcept;
std::optional<Border> border_named(std::string_view name) noexcept;

}  // namespace areal
