#pragma once
// The part of a piece's table of border `zero` that belongs to the whole table of another border.

#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include "pieces/core/work.hpp"

namespace areal::pieces {

class Frame {
 public:
  /// Of a part of full width.
  Frame(Border border, const Part& part) : y_(part.pixels.y) {
    switch (border) {
      case Border::zero:  // the first row came with the part above
        top_ = y_ > 0 ? 1 : 0, y_ += top_;
        return;
      case Border::none:
        top_ = left_ = 1;
        return;
      case Border::exclusive:
        bottom_ = right_ = 1;
        return;
    }
  }

  /// The first row, in the whole table.
  std::int64_t y() const noexcept { return y_; }
  ConstView of(const ConstView& table) const {
    const Shape& all = table.shape;
    ConstView inside = table;
    inside.data = static_cast<const char*>(table.row(top_)) + left_ * table.column_pitch();
    inside.shape.width = all.width - left_ - right_;
    inside.shape.height = all.height - top_ - bottom_;
    return inside;
  }

 private:
  std::int64_t y_;
  std::int64_t top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;  // rows and columns that are left out
};

}  // namespace areal::pieces
