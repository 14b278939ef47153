#pragma once
// What tables on a CUDA device are asked. src/cuda/absent.cpp stands in where this build has no CUDA.

#include <areal/execution.hpp>
#include "kernels/query/request.hpp"

namespace areal::cuda {

/// Queues the answer on the stream, which belongs to the current device. All is device memory.
void answer(const kernels::RegionRequest& request, Stream stream);

}  // namespace areal::cuda
