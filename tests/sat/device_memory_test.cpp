// <areal/device.hpp> where the host stands for the device: the backends cpu and simt; and where there is no GPU.
#include "device_memory_cases.hpp"

namespace areal::test {
namespace {

class DeviceMemory : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    for (const BackendInfo& row : backends())
      if (row.backend == GetParam() && !row.available) GTEST_SKIP() << row.why_not;
  }
  Execution on() const { return {.backend = GetParam()}; }
};

TEST_P(DeviceMemory, CopiesOfAnyPitch) { copies_of_any_pitch(on()); }
TEST_P(DeviceMemory, PinnedArraysAndClears) { pinned_arrays_and_clears(on()); }
TEST_P(DeviceMemory, StreamsAndEvents) { streams_and_events(on()); }
TEST_P(DeviceMemory, APipelineOfTwoSlots) { a_pipeline_of_two_slots(on()); }
TEST_P(DeviceMemory, WhatIsRefused) { what_is_refused(on()); }
INSTANTIATE_TEST_SUITE_P(All, DeviceMemory, testing::Values(Backend::cpu, Backend::simt),
                         [](const auto& of) { return std::string(name_of(of.param)); });

TEST(WithoutADevice, EachConstructorSaysSo) {
  const Execution none{.backend = Backend::cuda, .device = 99}, simulated{.backend = Backend::simt, .device = 1};
  for (const Execution& on : {none, simulated}) {
    EXPECT_THROW(PinnedArray({4, 4}, Type::u8, on), Unavailable);
    EXPECT_THROW(DeviceArray({4, 4}, Type::u8, on), Unavailable);
    EXPECT_THROW(OwnedStream{on}, Unavailable);
    EXPECT_THROW(Event{on}, Unavailable);
  }
  if (!devices().empty()) return;
  EXPECT_THROW(OwnedStream(), Unavailable);
  Array image({4, 4}, Type::u8);
  EXPECT_THROW(copy_view(image.view(), View(image.data(), Type::u8, {4, 4}).in({MemoryPlace::cuda, 0})), Unavailable);
}

TEST(WithoutADevice, WhatDoesNotFitSaysItsBytes) {
  try {
    PinnedArray({1 << 30, 1 << 30}, Type::u8, {.backend = Backend::cpu});
    FAIL() << "2^60 bytes were allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), std::uint64_t{1} << 60);
  }
}

}  // namespace
}  // namespace areal::test
