#include "cuda/probe.hpp"

#include <cuda_runtime.h>
#include "cuda/error.hpp"

namespace areal::cuda {
namespace {
__global__ void __launch_bounds__(1) probe() {}
}  // namespace

bool has_kernels() {
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&probe));
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
      status == cudaErrorUnsupportedPtxVersion) {
    cudaGetLastError();
    return false;
  }
  check(status, "the kernels of this build");
  return true;
}

}  // namespace areal::cuda
