#include <cuda_runtime.h>

#include <cxxabi.h>
#include <areal/error.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include "cuda/error.hpp"

namespace areal::cuda {
namespace {

/// "areal::kernels::Bands" of a mangled kernel object's name; other words as they are.
std::string readable(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return name;
  const std::string whole = text.get();
  return "kernel " + whole.substr(0, whole.find('<'));
}

/// After these the process can do nothing more with the device.
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
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky is told once
  const std::string words = readable(what) + ": " + cudaGetErrorString(status);
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw OutOfMemory(words, 0);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorInitializationError:
      throw Unavailable(words);
    default:
      throw DeviceError(words + (sticky(status) ? "; this process can use the device no more" : ""), sticky(status));
  }
}

void throw_too_many_blocks(const char* kernel, std::int64_t blocks) {
  throw InvalidArgument(readable(kernel) + " would need " + std::to_string(blocks) +
                        " blocks: a launch takes 2147483647");
}

}  // namespace areal::cuda
