#pragma once
// The part of a strip's table of border `zero` that belongs to the whole table of another border.

#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>

namespace areal::strips {

struct Bordered {
  std::int64_t y = 0;                                     ///< the first row, in the whole table
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;  ///< rows and columns of the strip's table that are left out

  /// Of the strip that begins at row `first`.
  Bordered(Border border, std::int64_t first) : y(first) {
    switch (border) {
      case Border::zero:  // the first row came with the strip above
        top = first > 0 ? 1 : 0, y = first + top;
        return;
      case Border::none:
        top = left = 1;
        return;
      case Border::exclusive:
        bottom = right = 1;
        return;
    }
  }

  ConstView of(const ConstView& table) const {
    const Shape& all = table.shape;
    ConstView part = table;
    part.data = static_cast<const char*>(table.row(top)) + left * table.column_pitch();
    part.shape.width = all.width - left - right;
    part.shape.height = all.height - top - bottom;
    return part;
  }
};

}  // namespace areal::strips
