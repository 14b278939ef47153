#pragma once
// Trackers on a GPU against their floor: see CudaTrack.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_track(const CudaTrack& track);

}  // namespace areal::bench
