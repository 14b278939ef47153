#pragma once
// Lee and Choe 2014 (3): several elements a thread, as lee-choe-multiple, and the new mapping of shared memory, as
// lee-choe-shared. Launches, barrier steps, reads and writes: harris.

#include "kernels/histogram/lee_choe/scan_transpose.hpp"

namespace areal::kernels {

template <class T>
using LeeChoe = ScanTranspose<T, RotatedBanks<>, true>;

}  // namespace areal::kernels
