#pragma once
// What a table is to be, as Python says it.

#include <areal/sat.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include "nanobind.hpp"

namespace areal::python {

struct Options {
  SatOptions sat;
  std::optional<Type> table;  ///< the tables' type; none: default_types
  Execution execution;
  std::uint64_t number = 0;  ///< its own, by which plans are found again
};

}  // namespace areal::python
