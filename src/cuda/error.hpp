#pragma once
// What the CUDA runtime answers becomes an exception of areal. Needs <cuda_runtime.h> before it.

#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <cstdint>

namespace areal::cuda {

/// Throws unless `status` is success: OutOfMemory, Unavailable (no device, no driver), or DeviceError, which names what
/// was done. Where the device is lost to this process, it says so, and which launch of this thread was the last: work
/// runs long after it was queued, so that its error is told to who comes next.
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
/// What a LaunchReport is told of it.
LaunchCounts told_of(const Launch& launch);

}  // namespace areal::cuda
