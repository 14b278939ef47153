#pragma once
// The new mapping (Lee, Choe 2014, 3.2): as harris, but the cells that padding skips in shared memory are filled
// (equation 3). Launches, barrier steps, reads and writes: harris.

#include "kernels/histogram/lee_choe/scan_transpose.hpp"

namespace areal::kernels {

template <class T>
using LeeChoeShared = ScanTranspose<T, RotatedBanks<>, false>;

}  // namespace areal::kernels
