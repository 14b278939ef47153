#pragma once
// Measurements of `areal bench sat --figure chen --json F` for one size, to compare with the model.

#include <map>
#include <optional>
#include <string>
#include <vector>
#include "bench/papers/chen_passes.hpp"
#include "io/numbers.hpp"

namespace areal::command {

/// Of one type pair and warp scan, in microseconds.
struct MeasuredTypes {
  std::string types, scan;
  int bytes = 0;                             // of a sum
  std::map<std::string, double> algorithms;  // times of whole executes, also of scan-scan and others
  chen::Passes passes;                       // if launches were measured
};

struct MeasuredFigure {
  std::string device;
  std::vector<MeasuredTypes> pairs;
};

/// Throws IoError for a file that is none, or has no record of that size.
MeasuredFigure read_measured(const std::string& path, const Size& image);

}  // namespace areal::command
