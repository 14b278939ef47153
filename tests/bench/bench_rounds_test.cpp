// The timing loop of all benchmarks (bench/protocol/rounds.hpp), and what is kept of times.

#include <gtest/gtest.h>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include "bench/harness/measure.hpp"
#include "bench/protocol/rounds.hpp"

namespace areal::bench {
namespace {

using Calls = std::vector<std::size_t>;

/// What is wrong with the order of those calls, in rounds of n contestants; "" if nothing is.
std::string wrong_with(const Calls& calls, std::size_t n) {
  if (calls.size() % n != 0) return "a round is not whole";
  std::set<std::pair<std::size_t, std::size_t>> neighbours;
  for (std::size_t first = 0; first < calls.size(); first += n) {
    Calls round(calls.begin() + static_cast<std::ptrdiff_t>(first),
                calls.begin() + static_cast<std::ptrdiff_t>(first + n));
    std::sort(round.begin(), round.end());
    for (std::size_t i = 0; i < n; ++i)
      if (round[i] != i) return "a contestant does not run once in a round";
  }
  for (std::size_t i = 1; i < calls.size(); ++i) neighbours.emplace(calls[i - 1], calls[i]);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      if (a != b && neighbours.count({a, b}) == 0) return "a contestant never follows one of the others";
  return {};
}

Calls calls_of(std::size_t n, int rounds, int warm) {
  Calls calls;
  time_rounds(n, rounds, warm, [&](std::size_t i) {
    calls.push_back(i);
    return 1.0;
  });
  return calls;
}

TEST(BenchRounds, TheCheckFindsWhatItIsFor) {
  Calls fixed, left_out;
  for (int round = 0; round < 30; ++round)
    for (std::size_t i = 0; i < 4; ++i) fixed.push_back(i), left_out.push_back(i % 3);
  EXPECT_EQ(wrong_with(fixed, 4), "a contestant never follows one of the others");
  EXPECT_EQ(wrong_with(left_out, 4), "a contestant does not run once in a round");
  EXPECT_EQ(wrong_with({0, 1, 2}, 2), "a round is not whole");
}

TEST(BenchRounds, EachRunsOnceARoundInRandomOrder) {
  for (const std::size_t n : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(n);
    const Calls calls = calls_of(n, 30, 2);
    EXPECT_EQ(calls.size(), 32 * n);
    EXPECT_EQ(wrong_with(calls, n), "");
    EXPECT_EQ(calls, calls_of(n, 30, 2));  // in every run
  }
  EXPECT_TRUE(time_rounds(0, 5, 2, [](std::size_t) { return 1.0; }).empty());
}

TEST(BenchRounds, TimesAreOfTheContestantsAndWithoutTheWarmRounds) {
  std::vector<int> runs(3);
  const auto times = time_rounds(3, 4, 2, [&](std::size_t i) { return 100.0 * static_cast<double>(i) + runs[i]++; });
  ASSERT_EQ(times.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const double first = 100.0 * static_cast<double>(i) + 2;
    EXPECT_EQ(times[i], (std::vector<double>{first, first + 1, first + 2, first + 3}));
    EXPECT_EQ(runs[i], 6);
  }
}

TEST(BenchRounds, OnTheCpuTheyAreTheSameRounds) {
  Calls calls;
  std::vector<int> before(4);
  std::vector<Contestant> contestants;
  for (std::size_t i = 0; i < 4; ++i)
    contestants.push_back({std::to_string(i), [&, i] { calls.push_back(i); }, [&, i] { ++before[i]; }});
  const std::vector<Times> times = measure(contestants, 30);
  EXPECT_EQ(calls, calls_of(4, 30, 1));
  EXPECT_EQ(before, std::vector<int>(4, 31));
  for (const Times& t : times) {
    EXPECT_EQ(t.rounds, 30);
    EXPECT_TRUE(t.min <= t.low && t.low <= t.median && t.median <= t.high && t.high <= t.max);
  }
}

TEST(BenchRounds, TheMediansIntervalIsThatOfTheTables) {
  // Ranks of the 95 % interval of a median, from tables of the binomial distribution.
  for (const auto& [n, low, high] :
       {std::tuple(1, 1, 1), {5, 1, 5}, {6, 1, 6}, {15, 4, 12}, {30, 10, 21}, {100, 40, 61}}) {
    std::vector<double> all;
    for (int i = n; i > 0; --i) all.push_back(i);
    const Times times = times_of(all);
    EXPECT_EQ(times.low, low) << n;
    EXPECT_EQ(times.high, high) << n;
    EXPECT_EQ(times.rounds, n);
    EXPECT_EQ(times.min, 1);
    EXPECT_EQ(times.max, n);
    EXPECT_EQ(times.median, n / 2 + 1);
  }
}

}  // namespace
}  // namespace areal::bench
