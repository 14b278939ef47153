#pragma once
// What the CUDA runtime answers becomes an exception of areal. Needs <cuda_runtime.h> before it.

#include <cstdint>

namespace areal::cuda {

/// Throws unless `status` is success: OutOfMemory, Unavailable (no device, no driver), or DeviceError, which names what
/// was done, the kernel's name made readable, and whether the device is lost to this process.
void check(cudaError_t status, const char* what);
[[noreturn]] void throw_too_many_blocks(const char* kernel, std::int64_t blocks);

}  // namespace areal::cuda
