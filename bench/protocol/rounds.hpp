#pragma once
// The timing loop of all benchmarks.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace areal::bench {

/// Microseconds of each of `contestants` over that many rounds, after `warm` rounds that do not count. Each round runs
/// all once, in random order, so that none always finds the same predecessor's data in a cache, and disturbances of the
/// machine hit all alike. The orders are the same in every run. `time(i)` runs contestant i and returns microseconds.
template <class Time>
std::vector<std::vector<double>> time_rounds(std::size_t contestants, int rounds, int warm, const Time& time) {
  std::vector<std::vector<double>> times(contestants);
  std::vector<std::size_t> order(contestants);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(7);
  for (int round = -warm; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      const double microseconds = time(i);
      if (round >= 0) times[i].push_back(microseconds);
    }
  }
  return times;
}

}  // namespace areal::bench
