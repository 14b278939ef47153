#pragma once
// The part of a piece's table, computed in a border of its own, that belongs to the whole table.

#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <vector>
#include "pieces/core/work.hpp"

namespace areal::pieces {

class Frame {
 public:
  /// Of a strip of full width, computed with border `zero`, in a table of that border.
  Frame(Border border, const Part& strip) : y_(strip.pixels.y) {
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
  /// Of a tile, in a table of the form's border: without what came with the tile above or with the one to the left.
  Frame(const Form& form, const Part& tile, bool has_above, bool has_left) : x_(tile.pixels.x), y_(tile.pixels.y) {
    if (form.margin == 0) return;
    (form.reverse ? bottom_ : top_) = has_above ? 1 : 0;
    (form.reverse ? right_ : left_) = has_left ? 1 : 0;
    x_ += left_, y_ += top_;
  }

  /// The first column and row, in the whole table.
  std::int64_t x() const noexcept { return x_; }
  std::int64_t y() const noexcept { return y_; }
  ConstView of(const ConstView& table) const {
    const Shape& all = table.shape;
    ConstView inside = table;
    inside.data = static_cast<const char*>(table.row(top_)) + left_ * table.column_pitch();
    inside.shape.width = all.width - left_ - right_;
    inside.shape.height = all.height - top_ - bottom_;
    return inside;
  }
  std::vector<ConstView> of(const std::vector<ConstView>& tables) const {
    std::vector<ConstView> inside;
    for (const ConstView& table : tables) inside.push_back(of(table));
    return inside;
  }

 private:
  std::int64_t x_ = 0, y_;
  std::int64_t top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;  // rows and columns that are left out
};

}  // namespace areal::pieces
