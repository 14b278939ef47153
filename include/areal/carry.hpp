#pragma once
/// \file carry.hpp What a piece of a larger table takes over from the pieces above it and to its left.

#include <areal/view.hpp>

namespace areal {

/// The sums of a larger table beside one of its pieces, in the piece's element type and memory. For a piece of H x W
/// entries (b x H x W of a tensor; N and C as the piece has them) every entry becomes
///     T[y][x] = (sum within the piece) + above[1 + x] + left[y] - above[0]
/// so that the pieces, side by side, are the larger table: bit for bit where entries are integers. A view without
/// memory stands for zeros: the first row of pieces has nothing above, the first column nothing to its left. Of a
/// reversed table the same holds for what is below and right of the piece: above[x] + left[y] - above[W].
struct Carry {
  ConstView above = {};  ///< 1 x (W + 1) for each plane: the row above the piece, from the corner on
  ConstView left = {};   ///< H x 1 for each plane: the column to its left, without the corner
  bool empty() const noexcept { return above.data == nullptr && left.data == nullptr; }
};

}  // namespace areal
