#pragma once
// Filters on a GPU beside copies: see CudaFilters.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_filters(const CudaFilters& filters);

}  // namespace areal::bench
