#pragma once
// Timing: everything that is compared runs in turns, so that what disturbs the machine disturbs all alike.

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

}  // namespace areal::bench
