// The text of the CUDA runtime's errors; this needs no GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <string>
#include <typeinfo>
#include "cuda/error.hpp"

namespace areal::cuda {
namespace {

template <class M, class C>
struct Kernel {};
struct Configuration {};
const Launch launch{typeid(Kernel<int, Configuration>).name(), 12, 256, 4096};

template <class E, class... Arguments>
E thrown(Arguments... arguments) {
  try {
    check(arguments...);
  } catch (const E& error) {
    return error;
  }
  ADD_FAILURE() << "threw nothing of that type";
  std::abort();
}

TEST(DeviceSentences, SuccessIsSilent) {
  EXPECT_NO_THROW(check(cudaSuccess, "a stream"));
  EXPECT_NO_THROW(check(cudaSuccess, launch));
}

TEST(DeviceSentences, ALaunchIsNamed) {
  const DeviceError error = thrown<DeviceError>(cudaErrorInvalidConfiguration, launch);
  EXPECT_STREQ(
      error.what(),
      "kernel Kernel, 12 blocks of 256 threads and 4096 bytes of shared memory: invalid configuration argument");
  EXPECT_FALSE(error.lost());
  EXPECT_THROW(throw_too_many_blocks(launch), InvalidArgument);
}

TEST(DeviceSentences, ALostDeviceAsksForARestart) {
  check(cudaSuccess, launch);
  for (const cudaError_t status : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorIllegalInstruction,
                                   cudaErrorMisalignedAddress, cudaErrorAssert, cudaErrorECCUncorrectable}) {
    const DeviceError error = thrown<DeviceError>(status, "the queued work");
    EXPECT_TRUE(error.lost());
    const std::string words = error.what();
    EXPECT_EQ(words.rfind(std::string("the queued work: ") + cudaGetErrorString(status) +
                              "; the last kernel that this thread launched was Kernel; ",
                          0),
              0u)
        << words;
    EXPECT_NE(words.find("restarted"), std::string::npos) << words;
  }
}

TEST(DeviceSentences, WhatIsNotThereIsUnavailable) {
  for (const cudaError_t status : {cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorNoKernelImageForDevice,
                                   cudaErrorDevicesUnavailable, cudaErrorMpsServerNotReady})
    EXPECT_STREQ(thrown<Unavailable>(status, "a stream").what(),
                 (std::string("a stream: ") + cudaGetErrorString(status)).c_str());
  EXPECT_STREQ(thrown<OutOfMemory>(cudaErrorMemoryAllocation, "a stream").what(), "a stream: out of memory");
}

}  // namespace
}  // namespace areal::cuda
