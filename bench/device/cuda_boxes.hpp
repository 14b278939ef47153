#pragma once
// Histograms and medians of boxes on a GPU, straight from the pixels and from stores: see CudaBoxes and CudaMedians.

#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {

void run_boxes(const CudaBoxes& boxes);
void run_medians(const CudaMedians& medians);

}  // namespace areal::bench
