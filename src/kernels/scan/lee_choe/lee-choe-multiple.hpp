#pragma once
// Several elements a thread (Lee, Choe 2014, 3.1), of one line: as harris, but a thread of a block of 1024 has up to 8
// elements of 4 bytes, or 4 of 8 bytes, so that a block has 8192 or 4096 elements and fewer sums are to be added.
// Harris' padding. Launches, reads and writes: harris, with that capacity for 2048.

#include "kernels/scan/plain.hpp"

namespace areal::kernels {

using LeeChoeMultipleScan = SharedMemoryScan<PaddedBanks<>, true>;

}  // namespace areal::kernels
