#pragma once
// What tests that are made for several backends need of each.

#include <algorithm>
#include <areal/info.hpp>
#include <string>

namespace areal::conformance {

/// Is that backend no part of this build, or of this machine?
inline bool missing(Backend backend) {
  for (const BackendInfo& row : backends())
    if (row.backend == backend) return !row.available;
  return true;
}

/// As GoogleTest takes a test's name: ids of the catalogue have dashes.
inline std::string without_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace areal::conformance
