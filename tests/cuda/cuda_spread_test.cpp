// A table spread over GPUs: over one that is named several times, and over all where there are two. All is skipped
// without a GPU.
#include <areal/device.hpp>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <thread>
#include "cuda/device.hpp"
#include "spread_cases.hpp"

namespace areal::spread_cases {
namespace {

const std::uint64_t seed = conformance::base_seed();
constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

class CudaSpread : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
};
class CudaSpreadOverTwo : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() < 2) GTEST_SKIP() << "one GPU or none: two are needed";
  }
};

void expect_random_cases(const std::vector<int>& numbers, std::uint64_t number) {
  for (const TypePair types : type_pairs())
    for (const Border border : borders)
      for (int turn = 0; turn < 3; ++turn) {
        const SpreadCase c = random_case(types, border, Backend::cuda, numbers, ++number, turn == 0 ? 600 : 90);
        ASSERT_EQ(fault_of(c), "") << describe(c);
      }
}

/// Large enough that a launch lasts: wide bands, several parts, uneven strips.
SpreadCase large(const char* pair, const std::vector<int>& numbers, Border border = Border::none) {
  SpreadCase c;
  c.image = {4100, 3001}, c.types = type_pair(pair), c.border = border, c.seed = seed, c.fill = Fill::exact;
  c.spread = {
      .devices = workers(Backend::cuda, 4, numbers), .rows = {900, 1, 1300, 800}, .band_width = 512, .parts = 2};
  return c;
}

/// Each takes a second or two, most of it on the host.
void expect_large_cases(const std::vector<int>& numbers) {
  const auto expect = [&](const char* pair, Border border, const char* algorithm) {
    SpreadCase c = large(pair, numbers, border);
    c.algorithm = algorithm;
    EXPECT_EQ(fault_of(c), "") << describe(c);
  };
  for (const char* pair : {"32f32f", "8u32u", "8u64u", "64f64f"})
    for (const Border border : borders) expect(pair, border, "auto");
  for (const char* algorithm : {"lookback", "lookback-diagonal", "all-partials"}) {
    expect("32f32f", Border::none, algorithm);
    expect("8u32u", Border::zero, algorithm);
  }
}

std::vector<std::vector<std::uint8_t>> bits_of(const SpreadCase& c, bool twice = false) {
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, spread);
  for (int turn = 0; turn < (twice ? 2 : 1); ++turn) spread.execute(memory.pixel_views(), memory.table_views());
  std::vector<std::vector<std::uint8_t>> bits;
  for (StripMemory& table : memory.tables) bits.push_back(table.fetched().bytes());
  return bits;
}

TEST_F(CudaSpread, EveryTypePairAndBorderOverOneDeviceSeveralTimes) { expect_random_cases({0}, seed); }
TEST_F(CudaSpread, LargeOverOneDeviceSeveralTimes) { expect_large_cases({0}); }
TEST_F(CudaSpreadOverTwo, EveryTypePairAndBorder) { expect_random_cases({0, 1}, seed + 1000000); }
TEST_F(CudaSpreadOverTwo, Large) {
  expect_large_cases({0, 1});
  expect_large_cases({1, 0});
}

void expect_all_tables(const std::vector<int>& numbers) {
  std::uint64_t number = seed + 2000000;
  for (const char* pair : {"8u32u", "16s64s", "32f32f", "64f64f"})
    for (const Border border : borders)
      for (const Layout images : {Layout::interleaved, Layout::planar})
        for (const Layout tables : {Layout::interleaved, Layout::planar}) {
          SpreadCase c = random_case(type_pair(pair), border, Backend::cuda, numbers, ++number, 300);
          c.fill = Fill::exact;
          ASSERT_EQ(fault_of_all_tables(c, images, tables), "") << describe(c);
        }
}
TEST_F(CudaSpread, SquaresAndCountsOfChannels) { expect_all_tables({0}); }
TEST_F(CudaSpreadOverTwo, SquaresAndCountsOfChannels) { expect_all_tables({0, 1}); }

TEST_F(CudaSpread, FewRowsOrColumnsOrNone) {
  for (const Border border : borders)
    for (const Shape& image : {Shape{0, 0}, {0, 7}, {7, 0}, {1, 1}, {1, 9}, {9, 1}, {2, 2}, {300, 3}})
      for (const std::size_t count : {1, 3, 8}) {
        SpreadCase c;
        c.image = image, c.border = border, c.seed = seed;
        c.spread = {.devices = workers(Backend::cuda, count), .band_width = 3, .parts = 2};
        EXPECT_EQ(fault_of(c), "") << describe(c) << ", devices " << count;
      }
}

TEST_F(CudaSpread, FloatsHaveTheSameBitsForOneCut) {
  SpreadCase c = large("32f32f", {0});
  c.fill = Fill::wild;
  const auto first = bits_of(c);
  for (int turn = 0; turn < 5; ++turn) EXPECT_TRUE(bits_of(c, turn > 2) == first) << turn;
}
TEST_F(CudaSpreadOverTwo, FloatsHaveTheBitsOfOneDeviceWithTheSameCut) {
  for (const char* pair : {"32f32f", "64f64f"}) {
    SpreadCase one = large(pair, {0}), two = large(pair, {0, 1});
    one.fill = two.fill = Fill::wild;
    const auto expected = bits_of(one);
    for (int turn = 0; turn < 3; ++turn) EXPECT_TRUE(bits_of(two) == expected) << pair << " " << turn;
  }
}

void expect_queued(const std::vector<int>& numbers) {
  EXPECT_EQ(fault_of_queued(large("8u32u", numbers, Border::zero), 5), "");
  EXPECT_EQ(fault_of_queued(large("32f32f", numbers, Border::none), 5), "");
}
TEST_F(CudaSpread, QueuedOnStreams) { expect_queued({0}); }
TEST_F(CudaSpreadOverTwo, QueuedOnStreams) { expect_queued({0, 1}); }

TEST_F(CudaSpread, TwoTablesAtOnceFromTwoThreads) {
  const auto run = [](const char* pair) {
    for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(fault_of(large(pair, {0}), false), "") << pair;
  };
  std::thread other([&] { run("8u32u"); });
  run("32f32f");
  other.join();
}

TEST_F(CudaSpread, WhatIsNotThere) {
  EXPECT_THROW(SpreadSat({8, 6}, Type::u8, {}, {.devices = {{.backend = Backend::cuda, .device = 4711}}}), Unavailable);
  const Worker gpu{.backend = Backend::cuda};
  EXPECT_THROW(SpreadSat({8, 6}, Type::u8, {}, {.devices = {gpu, {.backend = Backend::cpu}}}), InvalidArgument);
  SpreadSat spread({8, 6}, Type::u8, {}, {.devices = {gpu, gpu}});
  Array pixels({8, 3}, Type::u8);
  std::vector<DeviceArray> tables = spread.allocate();
  try {
    spread.execute({pixels.view(), pixels.view()}, {tables[0].view(), tables[1].view()});
    FAIL() << "pixels of host memory were taken";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "pixels[0] does not lie in the memory of cuda:0");
  }
}

TEST_F(CudaSpread, MemoryThatDoesNotFitNamesTheDeviceAndTheBytesAndLeaksNone) {
  const Worker gpu{.backend = Backend::cuda};
  const std::uint64_t all = devices()[0].memory;
  // One part fits, two do not: the first is given back.
  const auto rows = static_cast<std::int64_t>(all / 8 / (std::int64_t{1} << 16) * 6 / 10);
  const SpreadSat spread({std::int64_t{1} << 16, 2 * rows}, Type::u8,
                         {.border = Border::none, .types = type_pair("8u64u")}, {.devices = {gpu, gpu}});
  const std::uint64_t before = cuda::free_memory(0);
  for (int turn = 0; turn < 3; ++turn) try {
      const auto tables = spread.allocate();
      FAIL() << "both fit";
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.bytes(), 8 * static_cast<std::uint64_t>(rows) << 16);
      EXPECT_EQ(std::string(error.what()).rfind("cuda:0: ", 0), 0U) << error.what();
    }
  EXPECT_GE(cuda::free_memory(0) + (std::uint64_t{64} << 20), before);
}

TEST_F(CudaSpreadOverTwo, SaysWhetherTheRowAboveComesStraight) {
  const SpreadSat spread({3000, 2000}, Type::u8, {}, {.devices = workers(Backend::cuda, 2, {0, 1})});
  EXPECT_FALSE(spread.strips()[0].direct);
  EXPECT_EQ(spread.strips()[1].direct, cuda::open_access(0, 1) && cuda::open_access(1, 0));
}

}  // namespace
}  // namespace areal::spread_cases
