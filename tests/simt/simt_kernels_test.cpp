// Kernels that keep the rules give correct answers on the simulated machine, for any seed, number of resident blocks
// and start order of blocks, and without a fault.
#include "simt_kernels.hpp"
#include <gtest/gtest.h>
#include <cstdlib>
#include <numeric>

namespace areal::simt {
namespace {

std::vector<std::uint32_t> numbers(std::size_t n) {
  std::vector<std::uint32_t> v(n);
  std::uint32_t x = 12345;
  for (auto& e : v) e = (x = x * 1664525u + 1013904223u) >> 20;
  return v;
}

// Runs body with launchers of many seeds.
template <class Body>
void each(Body body, bool any_start = true) {
  const bool few = std::getenv("AREAL_TEST_SHORT") != nullptr;
  for (std::uint64_t seed = 1; seed <= (few ? 6 : 24); ++seed)
    for (const int residents : {1, 3, 8}) {
      Options options;
      options.seed = seed;
      options.residents = residents;
      if (any_start && seed % 3 != 0) options.start = seed % 3 == 1 ? StartOrder::random : StartOrder::descending;
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", residents " << residents);
      Launcher launcher(options);
      body(launcher);
      options.checks = false;
      Launcher counting(options);
      body(counting);
    }
}

TEST(Simt, Reverse) {
  std::vector<float> in(256 * 5), out(in.size());
  std::iota(in.begin(), in.end(), 0.f);
  each([&](Launcher& launcher) {
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch<Reverse, Plain>(5, {in.data(), out.data()});
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i / 256 * 256 + 255 - i % 256]);
    EXPECT_EQ(launcher.launches().at(0).kernel, "Reverse");
    EXPECT_EQ(launcher.launches()[0].threads, 256);
  });
}

TEST(Simt, BlockScan) {
  auto in = numbers(128 * 6);
  std::vector<std::uint32_t> out(in.size());
  each([&](Launcher& launcher) {
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch<BlockScan, Plain>(6, {in.data(), out.data()});
    for (std::size_t i = 0, sum = 0; i < in.size(); ++i) {
      sum = (i % 128 == 0 ? 0 : sum) + in[i];
      ASSERT_EQ(out[i], sum);
    }
  });
}

TEST(Simt, ChainedScan) {
  constexpr int blocks = 20;
  auto in = numbers(128 * blocks);
  std::vector<std::uint32_t> out(in.size()), sums(blocks), flags(blocks), next(1);
  each([&](Launcher& launcher) {
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    add(launcher, "sums", sums, false);
    add(launcher, "flags", flags, false);
    add(launcher, "next", next, false);
    for (int time = 0; time < 2; ++time) {  // the second launch finds what the first one left
      launcher.fill(flags.data(), 0, flags.size() * 4);
      launcher.fill(next.data(), 0, 4);
      launcher.launch<ChainedScan, Plain>(blocks, {in.data(), out.data(), sums.data(), flags.data(), next.data()});
      for (std::size_t i = 0, sum = 0; i < in.size(); ++i) ASSERT_EQ(out[i], sum += in[i]);
    }
    EXPECT_EQ(launcher.total().filled_bytes, 2u * (blocks * 4 + 4));
  });
}

TEST(Simt, LookBackScan) {
  constexpr int blocks = 50;
  auto in = numbers(128 * blocks);
  std::vector<std::uint32_t> out(in.size());
  std::vector<Word> words(blocks);
  each(
      [&](Launcher& launcher) {
        add(launcher, "in", in, true, false);
        add(launcher, "out", out, false);
        add(launcher, "words", words, false);
        launcher.fill(words.data(), 0, words.size() * sizeof(Word));
        launcher.launch<LookBackScan, Plain>(blocks, {in.data(), out.data(), words.data()});
        for (std::size_t i = 0, sum = 0; i < in.size(); ++i) ASSERT_EQ(out[i], sum += in[i]);
      },
      false);
}

TEST(Simt, DoubleBuffer) {
  auto in = numbers(64 * 16 * 3);
  std::vector<std::uint32_t> out(in.size());
  each([&](Launcher& launcher) {
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch<DoubleBuffer, Plain>(3, {in.data(), out.data()});
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 2 * in[i / 64 * 64 + 63 - i % 64]);
    EXPECT_EQ(launcher.total().copied_bytes, in.size() * 4);
  });
}

TEST(Simt, BulkStream) {
  using Numbers = std::vector<Vec<std::uint32_t, 4>>;  // aligned to 16 bytes
  Numbers in(8 * 256 * 3 / 4), out(in.size());
  for (std::size_t i = 0; i < in.size() * 4; ++i) in[i / 4].at[i % 4] = static_cast<std::uint32_t>(7 * i);
  each([&](Launcher& launcher) {
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch<BulkStream, Plain>(3, {in[0].at, out[0].at});
    for (std::size_t i = 0; i < in.size() * 4; ++i) ASSERT_EQ(out[i / 4].at[i % 4], 7 * i + 1);
    EXPECT_EQ(launcher.total().bulk_loaded_bytes, in.size() * 16);
    EXPECT_EQ(launcher.total().bulk_stored_bytes, in.size() * 16);
    EXPECT_EQ(launcher.total().mbarrier_phases, 3 * 8);
  });
}

TEST(Simt, ProducerConsumer) {
  auto in = numbers(64 * 8 * 3);
  std::vector<std::uint32_t> out(64 * 3);
  each([&](Launcher& launcher) {
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch<ProducerConsumer, Plain>(3, {in.data(), out.data()});
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint32_t sum = 0;
      for (std::size_t r = 0; r < 8; ++r) sum += in[i / 64 * 512 + r * 64 + 63 - i % 64];
      ASSERT_EQ(out[i], sum);
    }
    EXPECT_EQ(launcher.total().named_barriers, 3 * 16);
  });
}

template <class M, class C>
struct OneEach {
  static constexpr int threads = 1;
  using Shared = NoShared;
  struct Args {
    std::uint32_t* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    m.template shared<NoShared>();
    m.store(a.out + m.block(), m.load(a.out + m.block()) + 1);
  }
};

// The numbers of threads in stamps run out after 2^26, and restart.
TEST(Simt, ManyLaunches) {
  constexpr std::int64_t blocks = 200'000;
  std::vector<std::uint32_t> out(blocks + 1);
  Launcher launcher;
  launcher.add({"out", out.data(), 4 * blocks});
  launcher.add({"rest", out.data() + blocks, 4, false});
  constexpr int launches = 7;  // of 200,000 times 64 numbers
  for (int i = 0; i < launches; ++i) launcher.launch<OneEach, Plain>(blocks, {out.data()});
  for (std::int64_t b = 0; b < blocks; ++b) ASSERT_EQ(out[static_cast<std::size_t>(b)], launches);
  EXPECT_EQ(launcher.unwritten(out.data() + blocks), 4u);
  EXPECT_THROW((launcher.launch<OneEach, Plain>(blocks + 1, {out.data()})), Fault);
  EXPECT_THROW((launcher.launch<OneEach, Plain>(2'000'000, {out.data()})), InvalidArgument);
}

TEST(Simt, NothingToDo) {
  Launcher launcher;
  launcher.launch<Reverse, Plain>(0, {nullptr, nullptr});
  EXPECT_EQ(launcher.total().reads.elements, 0u);
  EXPECT_EQ(launcher.total().launches, 1u);
}

}  // namespace
}  // namespace areal::simt
