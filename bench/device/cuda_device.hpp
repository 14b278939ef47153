#pragma once
// Device memory, streams and events of the GPU part of `areal bench`.

#include <cuda_runtime_api.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/plan.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>
#include "bench/protocol/rounds.hpp"

namespace areal::bench {

inline void check(cudaError_t answer) {
  if (answer == cudaSuccess) return;
  cudaGetLastError();  // clear the error, so that the next caller does not see it
  if (answer == cudaErrorMemoryAllocation) throw OutOfMemory(cudaGetErrorString(answer), 0);
  throw Error(cudaGetErrorString(answer));
}

class Memory {
 public:
  explicit Memory(std::size_t bytes) { check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1))); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

using OwnedStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, void (*)(cudaStream_t)>;
inline OwnedStream new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return {stream, [](cudaStream_t s) { cudaStreamDestroy(s); }};
}

/// A plan's workspace in preallocated device memory, so that executes neither allocate nor wait.
class DeviceWorkspace {
 public:
  DeviceWorkspace(const Plan& plan, cudaStream_t stream)
      : memory_(plan.workspace_bytes()),
        workspace_(plan,
                   Span<std::byte>(static_cast<std::byte*>(memory_.data()), plan.workspace_bytes(), plan.memory()),
                   Stream::cuda(stream)) {}
  Workspace& get() { return workspace_; }

 private:
  Memory memory_;
  Workspace workspace_;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Microseconds of one call, between two events.
inline double time_once(const std::function<void()>& contestant, const Event& begin, const Event& end,
                        cudaStream_t stream) {
  check(cudaEventRecord(begin.get(), stream));
  contestant();
  check(cudaEventRecord(end.get(), stream));
  check(cudaEventSynchronize(end.get()));
  check(cudaGetLastError());
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return 1000.0 * ms;
}

/// Microseconds of each contestant in rounds of random order.
inline std::vector<std::vector<double>> time_shuffled(const std::vector<std::function<void()>>& contestants, int rounds,
                                                      cudaStream_t stream, int warm = 2) {
  const Event begin, end;
  return time_rounds(contestants.size(), rounds, warm,
                     [&](std::size_t i) { return time_once(contestants[i], begin, end, stream); });
}

/// The contestant with the least median among the first `count`.
inline const std::vector<double>& fastest(const std::vector<std::vector<double>>& times, std::size_t count) {
  const auto median = [](const std::vector<double>& t) {
    std::vector<double> sorted(t);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  };
  return *std::min_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count),
                           [&](const auto& a, const auto& b) { return median(a) < median(b); });
}

}  // namespace areal::bench
