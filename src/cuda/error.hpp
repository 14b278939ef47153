#pragma once
// Converts errors of the CUDA runtime to areal's exceptions. Needs <cuda_runtime.h> before it.

#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <cstdint>

namespace areal::cuda {

/// Throws unless `status` is success: OutOfMemory, Unavailable (no device, no driver), or DeviceError, which names the
/// operation. If the device is lost to this process, it says so, and names this thread's last launch: work runs after
/// it was queued, so a later call reports its error.
void check(cudaError_t status, const char* what);

/// A launch of a kernel: `type` is the type name of its object.
struct Launch {
  const char* type;
  std::int64_t blocks;
  int threads;
  std::size_t shared_bytes;  ///< of a block
};
/// The same, naming the kernel and the launch.
void check(cudaError_t status, const Launch& launch);
[[noreturn]] void throw_too_many_blocks(const Launch& launch);
[[noreturn]] void throw_too_many_clusters(const Launch& launch, int blocks_each, int most);
/// The launch as a LaunchReport gets it.
LaunchCounts counts_of(const Launch& launch);

}  // namespace areal::cuda
