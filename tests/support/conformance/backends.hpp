#pragma once
// Helpers for tests that are instantiated for several backends.

#include <algorithm>
#include <areal/info.hpp>
#include <string>

namespace areal::conformance {

/// True if this build or this machine lacks that backend.
inline bool missing(Backend backend) {
  for (const BackendInfo& row : backends())
    if (row.backend == backend) return !row.available;
  return true;
}

/// As a GoogleTest name: ids of the catalogue have dashes.
inline std::string without_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace areal::conformance
