#pragma once
// The algorithms that take an option, for help texts and messages.

#include <areal/catalog.hpp>
#include <string>
#include <vector>
#include "listed.hpp"

namespace areal::command {

/// The ids of all algorithms that take it: "naive, optimal or sequential-parallel".
inline std::string takers(bool AlgorithmOptions::*what, const char* last = " or ") {
  std::vector<std::string> ids;
  for (const Algorithm& row : algorithms())
    if (row.takes.*what) ids.emplace_back(row.id);
  return ids.empty() ? "algorithms left out of this build" : listed(ids, last);
}

}  // namespace areal::command
