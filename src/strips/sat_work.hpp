#pragma once
// The tables of strips by a SatPlan.

#include <areal/sat.hpp>
#include "strips/strip_slots.hpp"

namespace areal::strips {

/// The sum, then squares and counts as far as the options ask for them. The options' border is `zero` and their types
/// are given. Throws as SatPlan.
StripWork sat_work(const Shape& image, Type type, const SatOptions& options, const Execution& execution);

}  // namespace areal::strips
