#include <cuda_runtime.h>

#include <areal/error.hpp>
#include <string>
#include "cuda/error.hpp"
#include "kernels/primitives/kernel_name.hpp"

namespace areal::cuda {
namespace {

/// After these errors the device's context is lost: every call returns them until the process ends. After a fault on
/// one device, another device of the process was lost as well (CUDA 13.0, two H200).
bool sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
#if CUDART_VERSION >= 13000
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
      return true;
    default:
      return false;
  }
}

/// Of this thread; null before its first launch.
thread_local const char* last_launched = nullptr;

[[noreturn]] void fail(cudaError_t status, const std::string& what) {
  cudaGetLastError();  // clears an error that is not sticky
  const std::string words = what + ": " + cudaGetErrorString(status);
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw OutOfMemory(words, 0);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      throw Unavailable(words);
    default:
      break;
  }
  if (!sticky(status)) throw DeviceError(words, false);
  const std::string last =
      last_launched ? "; the last kernel that this thread launched was " + kernels::kernel_name(last_launched) : "";
  throw DeviceError(words + last +
                        "; the device's context is lost, with CUDA 13 those of the process's other devices, too: the "
                        "process must be restarted to use them again",
                    true);
}

/// "kernel Lookback, 12 blocks of 256 threads and 40000 bytes of shared memory".
std::string words_of(const Launch& launch) {
  return "kernel " + kernels::kernel_name(launch.type) + ", " + std::to_string(launch.blocks) + " blocks of " +
         std::to_string(launch.threads) + " threads and " + std::to_string(launch.shared_bytes) +
         " bytes of shared memory";
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail(status, what);
}

void check(cudaError_t status, const Launch& launch) {
  if (status != cudaSuccess) fail(status, words_of(launch));
  last_launched = launch.type;
}

LaunchCounts counts_of(const Launch& launch) {
  LaunchCounts counts;
  counts.kernel = kernels::kernel_name(launch.type);
  counts.blocks = launch.blocks, counts.threads = launch.threads, counts.shared_bytes = launch.shared_bytes;
  return counts;
}

void throw_too_many_blocks(const Launch& launch) {
  throw InvalidArgument(words_of(launch) + ": a launch takes at most 2147483647 blocks");
}

void throw_too_many_clusters(const Launch& launch, int blocks_each, int most) {
  throw InvalidArgument(words_of(launch) + ": the device holds " + std::to_string(most) + " clusters of " +
                        std::to_string(blocks_each) + " blocks of this kernel at once");
}

}  // namespace areal::cuda
