#pragma once
// Timing: contestants run in turns, so that disturbances of the machine hit all alike.

#include <functional>
#include <string>
#include <vector>

namespace areal::bench {

struct Times {
  double min = 0, median = 0, max = 0;  // microseconds
};

/// Something to time. `before` runs untimed before every repetition.
struct Contestant {
  std::string name;
  std::function<void()> run;
  std::function<void()> before = {};
};

/// Times of each, over `repetitions` rounds in which all run once, after one round that does not count.
std::vector<Times> measure(const std::vector<Contestant>& contestants, int repetitions);

/// Min, median and max of a list that is not empty.
Times times_of(std::vector<double> microseconds);

/// Where the median of all such times lies with a probability of about 95 %, if they are independent: between two of
/// the measured ones, by their ranks. Of fewer than six these are the least and the largest, and the probability is
/// less.
struct MedianInterval {
  double low = 0, high = 0;  // microseconds
};
MedianInterval median_interval(std::vector<double> microseconds);

}  // namespace areal::bench
