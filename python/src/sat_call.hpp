#pragma once
// One call of areal.sat or of a plan, from the arrays to the table.

#include "python_array.hpp"
#include "sat_plans.hpp"

namespace areal::python {

/// What a call passes; None where it does not.
struct Call {
  nb::handle array, mask, out, copy, above, left, corner;
  bool carries() const { return !above.is_none() || !left.is_none() || !corner.is_none(); }
};

/// An areal.Sat of the framework. `arrays` has read `image`, the call's first. Releases the GIL while it executes.
/// Throws what plans throw, and InvalidArgument for what `copy` False refuses.
nb::object sat_of(SatPlans& plans, const Options& options, const Axes& axes, const CallArrays& arrays,
                  PythonArray image, const Call& call);

}  // namespace areal::python
