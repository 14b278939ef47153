#pragma once
// One call of areal.sat or of a plan.

#include "python_array.hpp"
#include "sat_plans.hpp"

namespace areal::python {

/// The arguments of a call; None for those that it omits.
struct Call {
  nb::handle array, mask, out, copy, above, left, corner;
  bool carries() const { return !above.is_none() || !left.is_none() || !corner.is_none(); }
};

/// Returns an areal.Sat of the framework. `arrays` has read `image`, the call's first array. Releases the GIL during
/// the execution. Throws the exceptions of plans, and InvalidArgument if `copy` is False and a copy is needed.
nb::object sat_of(SatPlans& plans, const Options& options, const Axes& axes, const CallArrays& arrays,
                  PythonArray image, const Call& call);

}  // namespace areal::python
