#include "cuda/device.hpp"

#include <cuda_runtime.h>

#include <areal/error.hpp>
#include "cuda/error.hpp"

namespace areal::cuda {

bool built() noexcept { return true; }

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::vector<Device> devices(std::string* why_not) {
  std::vector<Device> found;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) cudaGetLastError();
  if (why_not)
    *why_not = status == cudaErrorInsufficientDriver
                   ? "there is no NVIDIA driver, or it is older than this build's CUDA"
               : status != cudaSuccess ? cudaGetErrorString(status)
               : count == 0            ? "there is no NVIDIA device"
                                       : "";
  if (status != cudaSuccess) return found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    Device device{properties.name,           properties.major,
                  properties.minor,          properties.multiProcessorCount,
                  properties.totalGlobalMem, 0};
    try {
      const DeviceScope scope(i);
      std::size_t free = 0, total = 0;
      check(cudaMemGetInfo(&free, &total), "free device memory");
      device.free_memory = free;
    } catch (const Error& error) {
      if (why_not) *why_not = error.what();
      continue;
    }
    found.push_back(std::move(device));
  }
  return found;
}

DeviceScope::DeviceScope(int device) {
  check(cudaGetDevice(&before_), "the current device");
  if (device == before_) return;
  if (cudaSetDevice(device) != cudaSuccess) {
    cudaGetLastError();
    throw Unavailable("there is no device " + std::to_string(device));
  }
}
DeviceScope::~DeviceScope() {
  if (cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
}

namespace {
void* allocate(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes == 0 ? 1 : bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("the device has no " + std::to_string(bytes) + " bytes left", bytes);
  }
  check(status, "device memory");
  return data;
}
void release(void* data) {
  if (cudaFree(data) != cudaSuccess) cudaGetLastError();
}
}  // namespace

Memory::Memory(std::size_t bytes) : data_(allocate(bytes), release) {}

OwnedStream::OwnedStream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  handle_ = stream;
}
OwnedStream::~OwnedStream() {
  if (cudaStreamDestroy(static_cast<cudaStream_t>(handle_)) != cudaSuccess) cudaGetLastError();
}
void OwnedStream::synchronize() const { cuda::synchronize(get()); }

void synchronize(Stream stream) {
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle())), "the queued work");
}

void clear(void* device, std::size_t bytes, Stream stream) {
  check(cudaMemsetAsync(device, 0, bytes, static_cast<cudaStream_t>(stream.handle())), "the clearing of a workspace");
}
void copy_in(void* device, const void* host, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream.handle())),
        "a copy to the device");
}
void copy_out(void* host, const void* device, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream.handle())),
        "a copy from the device");
}

}  // namespace areal::cuda
