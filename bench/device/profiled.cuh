#pragma once
// The execute that a profiler sees, the one whose result is checked; use ncu --profile-from-start off.

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include "cuda_device.hpp"

namespace areal::bench {

/// Marks the start of an execute, for bench/pages/ncu_bounds.py.
template <class = void>
__global__ void profiled_execute() {}

/// Runs the work and waits for it, with an attached profiler on.
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
