#pragma once
// What `areal bench sat --figure chen --json F` measured of one size, to stand beside the model.

#include <map>
#include <optional>
#include <string>
#include <vector>
#include "chen_passes.hpp"
#include "io/numbers.hpp"

namespace areal::command {

/// Of one type pair and warp scan, in microseconds.
struct MeasuredTypes {
  std::string types, scan;
  int bytes = 0;                             // of a sum
  std::map<std::string, double> algorithms;  // of whole executes; scan-scan and others among them
  chen::Passes passes;                       // where launches were measured
};

struct MeasuredFigure {
  std::string device;
  std::vector<MeasuredTypes> pairs;
};

/// Throws IoError for a file that is none, or has no record of that size.
MeasuredFigure read_measured(const std::string& path, const Size& image);

}  // namespace areal::command
