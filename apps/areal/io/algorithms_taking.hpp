#pragma once
// The algorithms with an option, for help texts and messages.

#include <areal/catalog.hpp>
#include <string>
#include <vector>
#include "word_list.hpp"

namespace areal::command {

/// The ids of all algorithms that take the option: "naive, optimal or sequential-parallel".
inline std::string algorithms_taking(bool AlgorithmOptions::*what, const char* last = " or ") {
  std::vector<std::string> ids;
  for (const Algorithm& row : algorithms())
    if (row.takes.*what) ids.emplace_back(row.id);
  return ids.empty() ? "algorithms left out of this build" : word_list(ids, last);
}

}  // namespace areal::command
