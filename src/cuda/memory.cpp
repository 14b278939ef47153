#include "cuda/memory.hpp"

#include <cuda_runtime.h>

#include <areal/error.hpp>
#include <string>
#include "cuda/error.hpp"

namespace areal::cuda {

StreamMemory::StreamMemory(std::size_t bytes, Stream stream) : data_(nullptr, Release{stream, true}) {
  const std::size_t wanted = bytes == 0 ? 1 : bytes;
  void* data = nullptr;
  cudaError_t status = cudaMallocAsync(&data, wanted, static_cast<cudaStream_t>(stream.handle()));
  if (status == cudaErrorNotSupported) {
    cudaGetLastError();
    data_.get_deleter().pooled = false;
    status = cudaMalloc(&data, wanted);
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("the device has no " + std::to_string(bytes) + " bytes left", bytes);
  }
  check(status, "device memory");
  data_.reset(data);
}

void StreamMemory::Release::operator()(void* data) const noexcept {
  const cudaError_t status = pooled ? cudaFreeAsync(data, static_cast<cudaStream_t>(stream.handle())) : cudaFree(data);
  if (status != cudaSuccess) cudaGetLastError();
}

}  // namespace areal::cuda
