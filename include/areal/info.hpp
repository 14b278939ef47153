#pragma once
/// \file info.hpp What this build and this machine can do.

#include <areal/execution.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace areal {

struct BackendInfo {
  Backend backend;
  bool available;
  std::string why_not;  ///< empty where available
};

/// A device of the backend cuda: a GPU, or the part of one that MIG gives to this process.
struct DeviceInfo {
  int number = 0;  ///< what Execution::device names; CUDA_VISIBLE_DEVICES decides which devices have one
  std::string name;
  std::string architecture;  ///< "sm_90": compute capability 9.0
  int multiprocessors = 0;
  std::uint64_t memory = 0, free_memory = 0;  ///< bytes
};
/// The devices that plans on cuda may name, by number. Leaves out devices that this build has no kernels for, or that
/// this process has lost.
std::vector<DeviceInfo> devices();

/// Backends of this build, in the order in which `auto` prefers them.
std::vector<BackendInfo> backends();
/// SIMD targets that this CPU can run, best first; the first is used.
std::vector<std::string> simd_targets();
/// Threads that `threads = 0` means.
int default_threads();
/// Bytes of free memory (the smaller of the machine's and the control group's).
std::uint64_t free_memory();

}  // namespace areal
