#include <cuda_runtime.h>

#include "cuda/error.hpp"
#include "cuda/shared_memory.hpp"

namespace areal::cuda {

std::string lacks_shared(int device, std::size_t bytes) {
  if (bytes <= shared_without_asking) return {};
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "a device's shared memory");
  if (bytes <= static_cast<std::size_t>(most)) return {};
  return "takes " + std::to_string(bytes) + " bytes of shared memory a block, and device " + std::to_string(device) +
         " has " + std::to_string(most) + ": choose the backend cpu";
}

}  // namespace areal::cuda
