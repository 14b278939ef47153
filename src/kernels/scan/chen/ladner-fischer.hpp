#pragma once
// The warp scan of Ladner and Fischer (Chen 2018, Algorithm 4) along one line, as ScanRow does (IV-C): one warp, 1024
// elements at a time. 1 launch. Reads 1, writes 1 per element, coalesced; 5 shuffles and 80 additions for 32 elements.
// No workspace.

#include "kernels/scan/plain.hpp"

namespace areal::kernels {

using LadnerFischerScan = OneWarpScan<WarpScan::ladner_fischer>;

}  // namespace areal::kernels
