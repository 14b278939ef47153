#pragma once
// The warp scan of Kogge and Stone (Chen 2018, Algorithm 3) along one line, as ScanRow does (IV-C): one warp, 1024
// elements at a time. 1 launch. Reads 1, writes 1 per element, coalesced; 5 shuffles and 129 additions for 32 elements.
// No workspace.

#include "kernels/scan/plain.hpp"

namespace areal::kernels {

using KoggeStoneScan = OneWarpScan<WarpScan::kogge_stone>;

}  // namespace areal::kernels
