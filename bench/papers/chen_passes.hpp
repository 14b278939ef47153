#pragma once
// Launches of Chen 2018's algorithms as in its VI-D: the time of each kernel, the mean if it ran twice.

#include <map>
#include <optional>
#include <string>
#include "bench/papers/model_chen.hpp"

namespace areal::command::chen {

class Passes {
 public:
  void add(const std::string& kernel, double time) {
    Sum& sum = of_[kernel];
    sum.time += time;
    ++sum.launches;
  }
  std::optional<double> of(const std::string& kernel) const {
    const auto found = of_.find(kernel);
    if (found == of_.end()) return {};
    return found->second.time / found->second.launches;
  }
  /// None if one of the four is missing.
  std::optional<Times> times() const {
    const auto row = of("ScanRow"), column = of("ScanColumn"), brlt_row = of("BrltScanRow"),
               row_brlt = of("ScanRowBrlt");
    if (!row || !column || !brlt_row || !row_brlt) return {};
    return Times{*row, *column, *brlt_row, *row_brlt};
  }

 private:
  struct Sum {
    double time = 0;
    int launches = 0;
  };
  std::map<std::string, Sum> of_;
};

/// VI-D, as `claims` evaluates it.
inline constexpr std::array<const char*, 3> claimed{"ScanColumn < BrltScanRow", "2 BrltScanRow < ScanRow + ScanColumn",
                                                    "BrltScanRow < ScanRowBrlt"};
/// Both sides of each.
constexpr std::array<std::array<double, 2>, 3> sides(const Times& t) {
  return {{{t.scan_column, t.brlt_scan_row},
           {2 * t.brlt_scan_row, t.scan_row + t.scan_column},
           {t.brlt_scan_row, t.scan_row_brlt}}};
}

}  // namespace areal::command::chen
