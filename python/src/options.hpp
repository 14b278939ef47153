#pragma once
// Python's options of a table.

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
  std::uint64_t number = 0;  ///< unique; part of the keys of plans
};

}  // namespace areal::python
