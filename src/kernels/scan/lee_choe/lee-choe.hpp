#pragma once
// Lee and Choe 2014 (3), of one line: several elements a thread, as lee-choe-multiple, and the new mapping of shared
// memory, as lee-choe-shared. Launches, reads and writes: lee-choe-multiple.

#include "kernels/scan/plain.hpp"

namespace areal::kernels {

using LeeChoeScan = SharedMemoryScan<RotatedBanks<>, true>;

}  // namespace areal::kernels
