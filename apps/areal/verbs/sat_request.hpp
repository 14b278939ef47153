#pragma once
// The request of `areal sat`.

#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/input.hpp"
#include "io/launch_table.hpp"
#include "io/regions.hpp"
#include "io/table_maker.hpp"

namespace areal::command {

struct SatRequest {
  InputOptions input;
  RegionOptions regions;
  std::string output, types, border = "zero", squares, mask, algorithm = "auto", scan = "kogge-stone", share = "0.25";
  std::string memory, devices, device_memory, tile;
  std::vector<std::string> stat_texts;
  bool tilted = false, ignore_nan = false, interleaved = false, csv = false, resume = false, overwrite = false,
       repair = false;
  std::vector<Stat> stats;  // parsed stat_texts
  LaunchTable launches;
};

}  // namespace areal::command
