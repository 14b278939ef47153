// What SpreadSat queues on CUDA's streams, on devices that do it as late and in as odd an order as streams and events
// allow.
#include <set>
#include "queued_gpus.hpp"
#include "spread_cases.hpp"

namespace areal::spread_cases {
namespace {

using queued_gpus::gpus;

const std::uint64_t seed = conformance::base_seed();

class SpreadQueue : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    reset();
    EXPECT_EQ(gpus().queued(), 0);
    EXPECT_EQ(gpus().allocations(), 0U);
    EXPECT_EQ(gpus().queues(), 0U);
    EXPECT_EQ(gpus().points, 0);
  }
  static void reset() {
    gpus().waits_for_events = true, gpus().calls_left = gpus().allocations_left = -1;
    gpus().random.seed(seed);
  }
};

/// Devices 0 and 1 have access to each other, 0 and 2 have none.
SpreadCase random_queued(std::uint64_t number) {
  std::mt19937_64 random(number);
  const Border borders[] = {Border::zero, Border::none, Border::exclusive};
  const char* const pairs[] = {"8u32u", "32f32f", "16s64s", "64f64f"};
  const std::vector<int> numbers[] = {{0}, {0, 1}, {2, 0, 1}, {1, 1, 0}};
  SpreadCase c = random_case(type_pair(pairs[random() % 4]), borders[random() % 3], Backend::cuda,
                             numbers[random() % 4], number, 40);
  c.fill = Fill::exact;
  gpus().random.seed(number);
  gpus().eager = static_cast<int>(random() % 4);
  return c;
}

TEST_F(SpreadQueue, TablesThatAreWaitedFor) {
  for (std::uint64_t i = 0, n = static_cast<std::uint64_t>(turns(250)); i < n; ++i) {
    const SpreadCase c = random_queued(seed + i);
    ASSERT_EQ(fault_of(c, false), "") << describe(c);
  }
}

TEST_F(SpreadQueue, TablesThatAreQueuedOneBehindTheOther) {
  for (std::uint64_t i = 0, n = static_cast<std::uint64_t>(turns(250)); i < n; ++i) {
    const SpreadCase c = random_queued(seed + 1000 + i);
    ASSERT_EQ(fault_of_queued(c, 4), "") << describe(c);
  }
}

TEST_F(SpreadQueue, SquaresAndCountsOfChannels) {
  const Layout layouts[] = {Layout::interleaved, Layout::planar};
  for (std::uint64_t i = 0, n = static_cast<std::uint64_t>(turns(100)); i < n; ++i) {
    const SpreadCase c = random_queued(seed + 3000 + i);
    ASSERT_EQ(fault_of_all_tables(c, layouts[i % 2], layouts[i / 2 % 2]), "") << describe(c) << ", layouts " << i % 4;
  }
}

TEST_F(SpreadQueue, StreamsThatDoNotWaitAreFound) {
  int wrong = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    SpreadCase c = random_queued(seed + 2000 + i);
    c.image = {40, 30}, c.border = Border::none;
    c.spread = {.devices = workers(Backend::cuda, 3, {0, 1}), .rows = {10, 10, 10}, .band_width = 8, .parts = 2};
    gpus().waits_for_events = false;
    wrong += fault_of(c, false).empty() ? 0 : 1;
    gpus().waits_for_events = true;
    EXPECT_EQ(fault_of(c, false), "") << describe(c);
  }
  EXPECT_GT(wrong, 15);
}

SpreadCase three_devices() {
  SpreadCase c;
  c.image = {30, 24}, c.seed = seed, c.border = Border::exclusive;
  c.spread = {.devices = workers(Backend::cuda, 3, {0, 1, 2}), .band_width = 10, .parts = 2};
  return c;
}

// Each call in turn answers with an error: nothing stays queued, and the next run is right.
TEST_F(SpreadQueue, AnErrorOfAnyCallLeavesNothingAtWork) {
  const SpreadCase c = three_devices();
  SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
  SpreadMemory memory(c, spread);
  const conformance::Expected expected = expected_of(c, memory.image);
  const std::vector<ConstView> pixels = memory.pixel_views();
  const std::vector<View> tables = memory.table_views();
  int failed = 0;
  for (std::int64_t call = 0;; ++call) {
    gpus().calls_left = call;
    try {
      spread.execute(pixels, tables);
      break;  // it has fewer calls
    } catch (const DeviceError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what == "cuda:0: planted" || what == "cuda:1: planted" || what == "cuda:2: planted") << what;
      ++failed;
    }
    gpus().calls_left = -1;
    EXPECT_EQ(gpus().queued(), 0) << call;
    if (call % 10 != 0) continue;
    memory.poison(0x33);
    spread.execute(pixels, tables);
    ASSERT_EQ(conformance::difference(expected, memory.whole(spread)), "") << call;
  }
  EXPECT_GT(failed, 50);
}

TEST_F(SpreadQueue, MemoryThatRunsOutNamesItsDeviceAndIsGivenBack) {
  const SpreadCase c = three_devices();
  std::set<std::string> who;
  for (std::int64_t allocation = 0;; ++allocation) {
    gpus().allocations_left = allocation;
    try {
      const SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
      spread.allocate();
      break;
    } catch (const OutOfMemory& error) {
      who.insert(std::string(error.what()).substr(0, 8));
      EXPECT_GT(error.bytes(), 0U);
    }
    EXPECT_EQ(gpus().allocations(), 0U) << allocation;
    EXPECT_EQ(gpus().queues(), 0U) << allocation;
  }
  EXPECT_EQ(who, (std::set<std::string>{"cuda:0: ", "cuda:1: ", "cuda:2: "}));
}

TEST_F(SpreadQueue, SaysWhichRowsComeStraight) {
  const auto direct = [](const std::vector<int>& numbers) {
    SpreadCase c = three_devices();
    c.spread.devices = workers(Backend::cuda, 3, numbers);
    const SpreadSat spread(c.image, c.types.input, c.options(), c.spread);
    std::vector<bool> rows;
    for (const SpreadStrip& strip : spread.strips()) rows.push_back(strip.direct);
    return rows;
  };
  EXPECT_EQ(direct({0, 1, 2}), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(direct({1, 0, 2}), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(direct({2, 2, 0}), (std::vector<bool>{false, true, false}));
}

TEST_F(SpreadQueue, DevicesThatAreNotThere) {
  EXPECT_THROW(SpreadSat({8, 6}, Type::u8, {}, {.devices = workers(Backend::cuda, 2, {0, 3})}), Unavailable);
  EXPECT_EQ(SpreadSat({8, 6}, Type::u8).strips().size(), 3U);  // all that are
}

}  // namespace
}  // namespace areal::spread_cases
