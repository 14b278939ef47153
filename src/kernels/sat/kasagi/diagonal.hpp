#pragma once
// The diagonal arrangement of w x w elements in shared memory (Kasagi 2014, III): w consecutive elements of a row and
// of a column lie in w banks.

#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

template <class T, int w_>
struct DiagonalTile {
  static constexpr int w = w_;
  T cell[w][w];

  AREAL_DEVICE T& at(int i, int j) { return cell[i][(i + j) % w]; }
};

}  // namespace areal::kernels
