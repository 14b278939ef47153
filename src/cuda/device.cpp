#include "cuda/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <areal/error.hpp>
#include <atomic>
#include <cstdlib>
#include "cuda/error.hpp"
#include "cuda/probe.hpp"

namespace areal::cuda {

bool built() noexcept { return true; }

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

namespace {

/// Why CUDA reports no devices; empty if it reports some.
std::string why_none(cudaError_t status, int count) {
  if (status == cudaErrorInsufficientDriver) return "there is no NVIDIA driver, or it is older than this build's CUDA";
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    const char* const shown = std::getenv("CUDA_VISIBLE_DEVICES");
    return std::string("there is no NVIDIA device") +
           (shown ? " (CUDA_VISIBLE_DEVICES is \"" + std::string(shown) + "\")" : "");
  }
  return status == cudaSuccess ? "" : cudaGetErrorString(status);
}

Device describe(int number) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, number), "a device's properties");
  return {number,
          properties.name,
          properties.major,
          properties.minor,
          properties.multiProcessorCount,
          properties.totalGlobalMem,
          free_memory(number)};
}

}  // namespace

std::string why_not(int device) {
  // A usable device stays usable unless it is lost, which the next launch reports; a query takes as long as a launch.
  static constinit std::atomic<std::uint64_t> usable{0};
  const std::uint64_t bit =
      device >= 0 && device < 64 ? std::uint64_t{1} << device : 0;  // others are queried each time
  if ((usable.load(std::memory_order_relaxed) & bit) != 0) return "";
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) cudaGetLastError();
  if (std::string none = why_none(status, count); !none.empty()) return none;
  if (device < 0 || device >= count)
    return "device " + std::to_string(device) + " is not there: cuda has " + std::to_string(count);
  try {
    const DeviceScope scope(device);
    if (has_kernels()) {
      usable.fetch_or(bit, std::memory_order_relaxed);
      return "";
    }
  } catch (const Unavailable& error) {  // another process uses it exclusively, for example
    return error.what();
  }
  return "device " + std::to_string(device) + " is of an architecture that this build has no kernels for";
}

std::vector<Device> devices(std::string* why) {
  std::vector<Device> found;
  std::string reason;
  const int count = std::max(1, device_count());  // without devices, the first query says why
  for (int i = 0; i < count; ++i) {
    try {
      reason = why_not(i);
      if (reason.empty()) found.push_back(describe(i));
    } catch (const Error& error) {
      reason = error.what();
    }
  }
  if (why) *why = reason;
  return found;
}

std::uint64_t free_memory(int device) {
  const DeviceScope scope(device);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "free device memory");
  return free;
}

bool open_access(int device, int to) {
  if (device == to) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, to), "the access of one device to another");
  if (can == 0) return false;
  const DeviceScope scope(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers) cudaGetLastError();
  if (status == cudaErrorTooManyPeers) return false;
  if (status != cudaErrorPeerAccessAlreadyEnabled) check(status, "the access of one device to another");
  return true;
}

DeviceScope::DeviceScope(int device) : device_(device) {
  check(cudaGetDevice(&before_), "the current device");
  if (device == before_) return;
  const cudaError_t status = cudaSetDevice(device);
  if (status == cudaErrorInvalidDevice) {
    cudaGetLastError();
    throw Unavailable("there is no device " + std::to_string(device));
  }
  check(status, "the choice of a device");
}
DeviceScope::~DeviceScope() {
  if (before_ != device_ && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
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

PinnedMemory::PinnedMemory(std::size_t bytes)
    : data_(
          [&] {
            void* data = nullptr;
            const cudaError_t status = cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable);
            if (status == cudaErrorMemoryAllocation) {
              cudaGetLastError();
              throw OutOfMemory("the host cannot page-lock " + std::to_string(bytes) + " bytes", bytes);
            }
            check(status, "page-locked memory");
            return data;
          }(),
          [](void* data) {
            if (cudaFreeHost(data) != cudaSuccess) cudaGetLastError();
          }) {}

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, host), "the kind of an address");
  return attributes.type == cudaMemoryTypeHost;
}

Event::Event(bool timed) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | (timed ? 0 : cudaEventDisableTiming)), "an event");
  handle_ = event;
}
Event::~Event() {
  if (cudaEventDestroy(static_cast<cudaEvent_t>(handle_)) != cudaSuccess) cudaGetLastError();
}
void Event::record(Stream stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(handle_), static_cast<cudaStream_t>(stream.handle())), "an event");
}
void Event::synchronize() const { check(cudaEventSynchronize(static_cast<cudaEvent_t>(handle_)), "the queued work"); }
bool Event::has_happened() const {
  const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(handle_));
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, "the queued work");
  return true;
}
void Event::hold_back(Stream stream) const {
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream.handle()), static_cast<cudaEvent_t>(handle_), 0),
        "a stream that waits for an event");
}
double Event::seconds_since(const Event& before) const {
  float milliseconds = 0;
  check(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(before.handle_), static_cast<cudaEvent_t>(handle_)),
      "the time between two events");
  return static_cast<double>(milliseconds) * 1e-3;
}

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

bool is_capturing(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t answer = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream.handle()), &status);
  if (answer == cudaErrorStreamCaptureImplicit) {  // leaves the capture unchanged
    cudaGetLastError();
    return true;
  }
  check(answer, "the state of a stream");
  return status != cudaStreamCaptureStatusNone;
}
void clear(void* device, std::size_t bytes, Stream stream) {
  check(cudaMemsetAsync(device, 0, bytes, static_cast<cudaStream_t>(stream.handle())), "the clearing of a workspace");
}
void clear_rows(void* device, std::int64_t pitch, std::size_t row_bytes, std::size_t rows, Stream stream) {
  if (row_bytes == 0 || rows == 0) return;
  check(cudaMemset2DAsync(device, static_cast<std::size_t>(pitch), 0, row_bytes, rows,
                          static_cast<cudaStream_t>(stream.handle())),
        "zeros");
}
void copy_in(void* device, const void* host, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream.handle())),
        "a copy to the device");
}
void copy_out(void* host, const void* device, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream.handle())),
        "a copy from the device");
}
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch, std::size_t row_bytes,
               std::size_t rows, CopyDirection direction, Stream stream) {
  const cudaMemcpyKind kind = direction == CopyDirection::in    ? cudaMemcpyHostToDevice
                              : direction == CopyDirection::out ? cudaMemcpyDeviceToHost
                                                                : cudaMemcpyDeviceToDevice;
  check(cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_pitch), from, static_cast<std::size_t>(from_pitch), row_bytes,
                          rows, kind, static_cast<cudaStream_t>(stream.handle())),
        "a copy of rows");
}
void copy(void* to, const void* from, std::size_t bytes, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream.handle())),
        "a copy between devices");
}

}  // namespace areal::cuda
