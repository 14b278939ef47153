#pragma once
// Scan, transpose, scan, transpose by the scan of Harris, Sengupta and Owens, as Lee and Choe 2014 (2) have it. 4
// launches, and one that sets the tensor to 0 and 1 before; 4 barrier steps. Reads 4 and 1/b, writes 5 per element, all
// coalesced but for the ends of rows; for each of the two scans 1 and 1 more, by two launches, where a line has more
// than the 2048 elements of a block (and as many again above 2048^2). Harris' padding, two elements a thread; blocks of
// 64, 256, 512 or 1024 threads. Workspace: the transposed tensor, and the blocks' sums. What the four have in common,
// and what the paper leaves open: blocked_prescan.hpp.

#include "kernels/histogram/lee_choe/scan_transpose.hpp"

namespace areal::kernels {

template <class T>
using Harris = ScanTranspose<T, PaddedBanks<>, false>;

}  // namespace areal::kernels
