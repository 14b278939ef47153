#pragma once
// The choice of Backend::automatic for images and tables in host memory: the backend expected to finish first, copies
// included.

#include <areal/execution.hpp>
#include <cstdint>
#include <string>

namespace areal::policy {

/// What an execute moves, and which backends support it.
struct BackendQuestion {
  std::uint64_t read = 0, written = 0;         ///< bytes of images and masks, and of tables
  std::uint64_t workspace = 0;                 ///< bytes on a device
  int threads = 1;                             ///< of the CPU
  bool cpu_has_it = true, cuda_has_it = true;  ///< whether the backend has the algorithm
  bool must_launch = false;                    ///< launches are reported, and the CPU has none
  bool has_progress = false;                   ///< a callback that only the CPU calls
};

/// Seconds and bytes per second.
struct BackendCosts {
  /// tiles on 8u32u, 8192x8192, one thread: 336 MB in 28.8 ms; two threads 17.0 ms
  /// (bench/results/2026-11-21-cpu-2-sat.json). The limit for many threads, the memory's bandwidth, is assumed.
  double cpu_per_thread = 10e9, cpu_most = 150e9;
  double cuda_kernels = 4e12;  ///< an H200's floor `copy`, bytes read and written (bench/results/*-cuda-sat.json)
  double link = 55e9;          ///< each way, with pinned memory; assumes that the cost of its pages is hidden
  double cpu_start = 5e-6, cuda_start = 30e-6;  ///< assumed: threads; launches, copies and the wait for them
};

/// The machine's devices.
struct BackendMachine {
  std::string why_no_cuda;          ///< empty if there is a device
  std::uint64_t device_memory = 0;  ///< bytes that are free
  BackendCosts costs = {};
};

struct BackendChoice {
  Backend backend = Backend::cpu;
  std::string reason;
};

double cpu_seconds(const BackendQuestion& question, const BackendCosts& costs);
double cuda_seconds(const BackendQuestion& question, const BackendCosts& costs);
BackendChoice choose_backend(const BackendQuestion& question, const BackendMachine& machine);

}  // namespace areal::policy
