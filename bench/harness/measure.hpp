#pragma once
// Timing of contestants on the CPU, and what is kept of times.

#include <functional>
#include <string>
#include <vector>

namespace areal::bench {

struct Times {
  double min = 0, median = 0, max = 0;  // microseconds
  double low = 0, high = 0;             // the median's interval: median_interval
  int rounds = 0;
};

/// Something to time. `before` runs untimed before every repetition.
struct Contestant {
  std::string name;
  std::function<void()> run;
  std::function<void()> before = {};
};

/// Times of each, over `repetitions` rounds of random order, after one round that does not count. Any of them may run
/// last: a result that is checked comes from another run.
std::vector<Times> measure(const std::vector<Contestant>& contestants, int repetitions);

/// Those of a list that is not empty.
Times times_of(std::vector<double> microseconds);

/// Where the median of all such times lies with a probability of about 95 %, if they are independent: between two of
/// the measured ones, by their ranks. Of fewer than six these are the least and the largest, and the probability is
/// less.
struct MedianInterval {
  double low = 0, high = 0;  // microseconds
};
MedianInterval median_interval(std::vector<double> microseconds);

}  // namespace areal::bench
