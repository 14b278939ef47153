#pragma once
// The sums beside a piece of a larger table, as areal reads them.

#include <areal/array.hpp>
#include <areal/carry.hpp>
#include "arrays.hpp"

namespace areal::python {

/// Owns copies of the row above and of the column to the left, which lie as the table does.
class CarryArrays {
 public:
  /// `above`: the table's row above the piece, its corner first, with the extent 1 or W + 1 along H and W; `left`: the
  /// column left of it, without the corner (with `reverse` the row below, its corner last, and the column to the
  /// right); both in the axes of the table's array, of its type. `image` and `order` are the plan's. O(H + W) a plane.
  /// Throws InvalidArgument for other shapes and types.
  CarryArrays(const ArrayRef& above, const ArrayRef& left, const Axes& axes, const Order& order, const Shape& image,
              Type table, Layout tables, bool reverse);
  Carry carry() const;

 private:
  Array above_, left_;
};

}  // namespace areal::python
