#pragma once
// Histograms of boxes on a GPU, straight from the pixels and from a tensor: see CudaBoxes.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_boxes(const CudaBoxes& boxes);

}  // namespace areal::bench
