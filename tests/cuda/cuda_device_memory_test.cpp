// <areal/device.hpp> on a GPU. Skipped where there is none.
#include "device_memory_cases.hpp"

namespace areal::test {
namespace {

const Execution on{.backend = Backend::cuda};

class CudaDeviceMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(CudaDeviceMemory, CopiesOfAnyPitch) { copies_of_any_pitch(on); }
TEST_F(CudaDeviceMemory, PinnedArraysAndClears) { pinned_arrays_and_clears(on); }
TEST_F(CudaDeviceMemory, StreamsAndEvents) { streams_and_events(on); }
TEST_F(CudaDeviceMemory, APipelineOfTwoSlots) { a_pipeline_of_two_slots(on); }
TEST_F(CudaDeviceMemory, WhatIsRefused) { what_is_refused(on); }

// 512 MiB from pinned memory are on their way when the call returns, and what the other stream does waits for them.
TEST_F(CudaDeviceMemory, ACopyIsQueuedAndAnotherStreamWaitsForIt) {
  const Shape shape{1 << 15, 1 << 14};
  PinnedArray host(shape, Type::u8, on), back({1 << 15, 1}, Type::u8, on);
  std::memset(host.data(), 0x5a, host.bytes());
  DeviceArray there(shape, Type::u8, on);
  clear_view(there.view());
  const OwnedStream first(on), second(on);
  Event copied(on);
  copy_view(host.view(), there.view(), first.get());
  copied.record(first);
  EXPECT_FALSE(copied.has_happened());
  copied.hold_back(second.get());
  const View all = there.view();
  copy_view(View(all.row(shape.height - 1), Type::u8, {shape.width, 1}).in(all.memory), back.view(), second.get());
  second.wait();
  EXPECT_TRUE(copied.has_happened());
  EXPECT_EQ(std::memcmp(back.data(), host.data(), back.bytes()), 0);
}

TEST_F(CudaDeviceMemory, WhatDoesNotFitSaysItsBytes) {
  try {
    DeviceArray({1 << 30, 1 << 20}, Type::u8, on);
    FAIL() << "2^50 bytes were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), std::uint64_t{1} << 50);
  }
}

}  // namespace
}  // namespace areal::test
