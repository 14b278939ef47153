#pragma once
// Tables by every algorithm that may be the default: see bench/subjects/bench_sweep.cpp.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_sweep(const CudaSweep& sweep);

}  // namespace areal::bench
