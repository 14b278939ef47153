// Which backend `automatic` is, with planted costs and machines.
#include "policy/backend_choice.hpp"
#include <gtest/gtest.h>

namespace areal::policy {
namespace {

/// 1 GB/s a thread of at most 4, a link of 8 GB/s, kernels that take no time: a GPU is sooner from 0.1 s / (1 - 1/8)
/// GB/s on, for one thread.
BackendCosts planted() {
  BackendCosts costs;
  costs.cpu_per_thread = 1e9, costs.cpu_most = 4e9, costs.cuda_kernels = 1e30, costs.link = 8e9;
  costs.cpu_start = 0, costs.cuda_start = 0.1;
  return costs;
}
BackendMachine machine(std::uint64_t memory = std::uint64_t{1} << 40) { return {"", memory, planted()}; }
BackendQuestion question(std::uint64_t bytes, int threads = 1) {
  BackendQuestion asked;
  asked.read = bytes / 5, asked.written = bytes - bytes / 5, asked.threads = threads;
  return asked;
}

TEST(BackendChoice, SecondsAreThoseOfTheCosts) {
  EXPECT_DOUBLE_EQ(cpu_seconds(question(2'000'000'000), planted()), 2.0);
  EXPECT_DOUBLE_EQ(cpu_seconds(question(2'000'000'000, 2), planted()), 1.0);
  EXPECT_DOUBLE_EQ(cpu_seconds(question(2'000'000'000, 64), planted()), 0.5);  // the memory's bandwidth
  EXPECT_DOUBLE_EQ(cuda_seconds(question(2'000'000'000), planted()), 0.1 + 0.25);
  BackendCosts slow = planted();
  slow.cuda_kernels = 1e9;
  EXPECT_DOUBLE_EQ(cuda_seconds(question(2'000'000'000), slow), 0.1 + 0.25 + 2.0);
}

TEST(BackendChoice, TheOneThatEndsSooner) {
  EXPECT_EQ(choose_backend(question(100'000'000), machine()).backend, Backend::cpu);
  EXPECT_EQ(choose_backend(question(130'000'000), machine()).backend, Backend::cuda);
  EXPECT_EQ(choose_backend(question(130'000'000, 2), machine()).backend, Backend::cpu);  // two threads are sooner
  BackendMachine slow_link = machine();
  slow_link.costs.link = 0.9e9;  // copies cost more than the CPU takes, however large the image is
  EXPECT_EQ(choose_backend(question(1'000'000'000'000), slow_link).backend, Backend::cpu);
}

TEST(BackendChoice, WhatOneAloneCanDo) {
  BackendQuestion asked = question(100'000'000);
  asked.cpu_has_it = false;
  EXPECT_EQ(choose_backend(asked, machine()).backend, Backend::cuda);
  asked = question(1'000'000'000);
  ASSERT_EQ(choose_backend(asked, machine()).backend, Backend::cuda);
  asked.cuda_has_it = false;
  EXPECT_EQ(choose_backend(asked, machine()).backend, Backend::cpu);
  asked = question(1'000'000'000), asked.has_progress = true;
  EXPECT_EQ(choose_backend(asked, machine()).backend, Backend::cpu);
  asked = question(100), asked.must_launch = true;
  EXPECT_EQ(choose_backend(asked, machine()).backend, Backend::cuda);
}

TEST(BackendChoice, TheMemoryMustFit) {
  BackendQuestion asked = question(1'000'000'000);
  asked.workspace = 1000;
  EXPECT_EQ(choose_backend(asked, machine(1'000'001'000)).backend, Backend::cuda);
  const BackendChoice refused = choose_backend(asked, machine(1'000'000'999));
  EXPECT_EQ(refused.backend, Backend::cpu);
  EXPECT_NE(refused.reason.find("1000001000 bytes"), std::string::npos) << refused.reason;
}

TEST(BackendChoice, TheReasonSaysWhy) {
  BackendMachine none = machine();
  none.why_no_cuda = "there is no GPU";
  EXPECT_EQ(choose_backend(question(1'000'000'000), none).backend, Backend::cpu);
  EXPECT_EQ(choose_backend(question(1'000'000'000), none).reason, "backend cpu, as there is no GPU");
  EXPECT_EQ(choose_backend(question(2'000'000'000, 2), machine()).reason,
            "backend cuda, of host memory 350 ms expected on cuda, copies counted, and 1e+03 ms on cpu with 2 threads");
}

// The measured ones: a photograph of a few thousand pixels stays on the CPU, a large image goes to an H200.
TEST(BackendChoice, WithTheMeasuredCosts) {
  const BackendMachine h200{"", std::uint64_t{100} << 30, {}};
  EXPECT_EQ(choose_backend(question(5 * 64 * 48, 16), h200).backend, Backend::cpu);
  EXPECT_EQ(choose_backend(question(std::uint64_t{5} * 8192 * 8192, 2), h200).backend, Backend::cuda);
}

}  // namespace
}  // namespace areal::policy
