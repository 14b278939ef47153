#pragma once
// The new mapping (Lee, Choe 2014, 3.2), of one line: as harris, but the cells that padding skips in shared memory are
// filled (equation 3). Launches, reads and writes: harris.

#include "kernels/scan/plain.hpp"

namespace areal::kernels {

using LeeChoeSharedScan = SharedMemoryScan<RotatedBanks<>, false>;

}  // namespace areal::kernels
