#pragma once
/// \file sat_arguments.hpp What one execute of a SatPlan reads and writes.

#include <areal/view.hpp>

namespace areal {

/// The image, its mask, and the tables. Views that were not asked for stay empty. Each view says in which memory it
/// lies; SatPlan::execute says which memory it takes.
struct SatArguments {
  ConstView image;
  View sum;
  ConstView mask = {};
  View squares = {};
  View tilted = {};
  View count = {};
};

}  // namespace areal
