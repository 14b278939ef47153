#pragma once
// Queries on a GPU against plain kernels of the same accesses: see CudaQueries.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_queries(const CudaQueries& queries);

}  // namespace areal::bench
