#pragma once
/// \file carry.hpp Carry: the sums that a piece of a larger table continues from.

#include <areal/view.hpp>

namespace areal {

/// The sums of a larger table above and to the left of one of its pieces, in the piece's element type and memory. Every
/// entry of a piece of H x W entries (b x H x W of a tensor; channels and batch as the piece's) becomes
///     T[y][x] = (sum within the piece) + above[1 + x] + left[y] - above[0]
/// so that the pieces tile the larger table, bit for bit for integers. An empty view means zeros: the first row of
/// pieces has no `above`, the first column no `left`. For a reversed table `above` is the row below and `left` the
/// column right of the piece: the entry adds above[x] + left[y] - above[W].
struct Carry {
  ConstView above = {};  ///< 1 x (W + 1) for each plane: the row above the piece, corner first
  ConstView left = {};   ///< H x 1 for each plane: the column to its left, without the corner
  bool empty() const noexcept { return above.data == nullptr && left.data == nullptr; }
};

}  // namespace areal
