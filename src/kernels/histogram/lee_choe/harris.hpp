#pragma once
// Scan, transpose, scan, transpose by the scan of Harris, Sengupta and Owens, as in Lee and Choe 2014 (2). 4 launches,
// after one that sets the tensor to 0 and 1; 4 barrier steps. Reads 4 and 1/b, writes 5 per element, all coalesced but
// for the ends of rows; each scan of lines longer than the 2048 elements of a block reads and writes 1 more, by two
// more launches (and the same again above 2048^2). Harris' padding, two elements a thread; blocks of 64, 256, 512 or
// 1024 threads. Workspace: the transposed tensor, and the blocks' sums. What the four share, and what the paper leaves
// open: blocked_prescan.hpp.

#include "kernels/histogram/lee_choe/scan_transpose.hpp"

namespace areal::kernels {

template <class T>
using Harris = ScanTranspose<T, PaddedBanks<>, false>;

}  // namespace areal::kernels
