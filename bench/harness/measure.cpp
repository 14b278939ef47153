#include "bench/harness/measure.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace areal::bench {

Times times_of(std::vector<double> microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  return {microseconds.front(), microseconds[microseconds.size() / 2], microseconds.back()};
}

MedianInterval median_interval(std::vector<double> microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  // The number of times below the median is binomial, with mean n / 2 and deviation sqrt(n) / 2.
  const auto n = static_cast<double>(microseconds.size());
  const double rank = std::max(std::floor((n + 1) / 2 - 0.98 * std::sqrt(n)), 1.0);
  const std::size_t from = static_cast<std::size_t>(rank) - 1;
  return {microseconds[from], microseconds[microseconds.size() - 1 - from]};
}

std::vector<Times> measure(const std::vector<Contestant>& contestants, int repetitions) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> all(contestants.size());
  for (int round = -1; round < repetitions; ++round)
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (contestants[i].before) contestants[i].before();
      const Clock::time_point start = Clock::now();
      contestants[i].run();
      const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      if (round >= 0) all[i].push_back(microseconds);
    }
  std::vector<Times> times;
  for (std::vector<double>& list : all) times.push_back(times_of(std::move(list)));
  return times;
}

}  // namespace areal::bench
