#pragma once
// The cell of element i of a line in shared memory, chosen so that the strided accesses of a scan's tree have few bank
// conflicts. Both mappings use the same bank; they differ in the cells that they leave empty.

#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

inline constexpr int shared_banks = 32;

/// Harris' padding (Lee, Choe 2014, equation 1): a cell is skipped after every `banks` elements.
template <int banks = shared_banks>
struct PaddedBanks {
  AREAL_BOTH static constexpr int at(int i) { return i + i / banks; }
  static constexpr int cells(int n) { return n + (n > 0 ? (n - 1) / banks : 0); }
};

/// The new mapping (Lee, Choe 2014, equation 3): the skipped cells are filled by the elements that padding pushed into
/// the next row. Row q of `banks` elements is rotated by q, which is the diagonal arrangement, so no cell is left empty
/// where `banks` divides n: hence the rounding up.
template <int banks = shared_banks>
struct RotatedBanks {
  AREAL_BOTH static constexpr int at(int i) {
    const int row = i / banks, pushed = i + row;
    return pushed - banks * (pushed / banks - row);
  }
  static constexpr int cells(int n) { return (n + banks - 1) / banks * banks; }
};

}  // namespace areal::kernels
