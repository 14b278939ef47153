#pragma once
// The execute that a profiler sees: the one whose result is checked. ncu --profile-from-start off has no other.

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include "cuda_device.hpp"

namespace areal::bench {

/// bench/pages/ncu_bounds.py tells executes apart by this kernel, one before each of them.
template <class = void>
__global__ void profiled_execute() {}

/// Runs it, and waits for it: profiled where a profiler is there.
template <class Execute>
void run_profiled(const Execute& execute, cudaStream_t stream) {
  check(cudaStreamSynchronize(stream));
  check(cudaProfilerStart());
  profiled_execute<<<1, 1, 0, stream>>>();
  execute();
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream));
  check(cudaProfilerStop());
}

}  // namespace areal::bench
