#pragma once
// The work-efficient scan of Harris, Sengupta and Owens, as in Lee and Choe 2014 (2), of one line. 2 launches for up to
// 2048 elements, the first of which copies; longer lines have two more (and as many again above 2048^2), which scan the
// blocks' sums and add them. Reads 3, writes 3 per element, coalesced; 2 and 2 for one block. Harris' padding, two
// elements a thread; blocks of 64, 256, 512 or 1024 threads. Workspace: the blocks' sums. What the four share, and what
// the paper leaves open: blocked_prescan.hpp.

#include "kernels/scan/plain.hpp"

namespace areal::kernels {

using HarrisScan = SharedMemoryScan<PaddedBanks<>, false>;

}  // namespace areal::kernels
