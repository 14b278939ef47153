#pragma once
// Which backend `automatic` is for images and tables in host memory: the one that is expected to end sooner, copies
// counted.

#include <areal/execution.hpp>
#include <cstdint>
#include <string>

namespace areal::policy {

/// What an execute moves, and who could do it.
struct BackendQuestion {
  std::uint64_t read = 0, written = 0;         ///< bytes of images and masks, and of tables
  std::uint64_t workspace = 0;                 ///< bytes on a device
  int threads = 1;                             ///< of the CPU
  bool cpu_has_it = true, cuda_has_it = true;  ///< the algorithm
  bool must_launch = false;                    ///< launches are reported: the CPU has none
  bool has_progress = false;                   ///< which only the CPU calls
};

/// Seconds and bytes per second.
struct BackendCosts {
  /// tiles on 8u32u, 8192x8192, one thread: 336 MB in 28.8 ms; two threads 17.0 ms
  /// (bench/results/2026-11-21-cpu-2-sat.json). Many threads end at the memory's bandwidth, which is assumed.
  double cpu_per_thread = 10e9, cpu_most = 150e9;
  double cuda_kernels = 4e12;  ///< an H200's floor `copy`, bytes read and written (bench/results/*-cuda-sat.json)
  double link = 55e9;  ///< each way, from and to pinned memory; its pages cost what is assumed to hide behind it
  double cpu_start = 5e-6, cuda_start = 30e-6;  ///< assumed: threads; launches, copies and the wait for them
};

/// What is there.
struct BackendMachine {
  std::string why_no_cuda;          ///< empty: there is a device
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
