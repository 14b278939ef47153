#include "bench/harness/measure.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include "bench/protocol/rounds.hpp"

namespace areal::bench {

MedianInterval median_interval(std::vector<double> microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  // The number of times below the median is binomial, with mean n / 2 and deviation sqrt(n) / 2.
  const auto n = static_cast<double>(microseconds.size());
  const double rank = std::max(std::floor((n + 1) / 2 - 0.98 * std::sqrt(n)), 1.0);
  const std::size_t from = static_cast<std::size_t>(rank) - 1;
  return {microseconds[from], microseconds[microseconds.size() - 1 - from]};
}

Times times_of(std::vector<double> microseconds) {
  const MedianInterval between = median_interval(microseconds);
  std::sort(microseconds.begin(), microseconds.end());
  return {microseconds.front(), microseconds[microseconds.size() / 2], microseconds.back(), between.low,
          between.high,         static_cast<int>(microseconds.size())};
}

std::vector<Times> measure(const std::vector<Contestant>& contestants, int repetitions) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](std::size_t i) {
    if (contestants[i].before) contestants[i].before();
    const Clock::time_point start = Clock::now();
    contestants[i].run();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  };
  std::vector<Times> times;
  for (std::vector<double>& list : time_rounds(contestants.size(), repetitions, 1, time))
    times.push_back(times_of(std::move(list)));
  return times;
}

}  // namespace areal::bench
