#include <cuda_runtime.h>

#include <areal/error.hpp>
#include "cuda/shared_memory.hpp"

namespace areal::cuda {

void grant_shared(const void* kernel, const Launch& launch, SharedGrants& grants) {
  int device = 0;
  check(cudaGetDevice(&device), "the current device");
  const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;  // those beyond are asked each time
  if ((grants.load(std::memory_order_relaxed) & bit) != 0) return;
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(launch.shared_bytes));
  if (status != cudaSuccess) check(status, launch);
  grants.fetch_or(bit, std::memory_order_relaxed);
}

void require_shared(int device, std::size_t bytes, const std::string& what) {
  if (bytes <= shared_without_asking) return;
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "a device's shared memory");
  if (bytes > static_cast<std::size_t>(most))
    throw Unavailable(what + " takes " + std::to_string(bytes) + " bytes of shared memory a block, and device " +
                      std::to_string(device) + " has " + std::to_string(most) + ": choose the backend cpu");
}

}  // namespace areal::cuda
