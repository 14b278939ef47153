#pragma once
// One call of areal.sat or of a plan, from the arrays to the table.

#include "arrays.hpp"
#include "plans.hpp"

namespace areal::python {

/// What a call passes; None where it does not.
struct Call {
  nb::handle array, mask, out, copy, above, left, corner;
  bool carries() const { return !above.is_none() || !left.is_none() || !corner.is_none(); }
};

/// The array, or a copy of one that is not in this machine's byte order or no array at all, which `copy` False refuses.
ArrayRef read_array(const Call& call);
/// An areal.Sat. Releases the GIL while it executes. Throws what plans throw, and InvalidArgument for what `copy` False
/// refuses.
nb::object sat_of(PlanSource& source, const Axes& axes, ArrayRef array, const Call& call);

/// What a plan of Python is for.
struct PlanSays {
  const Options& options;
  const Axes& axes;
  const std::array<std::int64_t, 4>& extents;
  Type type;
};
PlanSays plan_says(nb::handle plan);
/// Throws InvalidArgument for an array of another shape or type.
void require_planned(const PlanSays& plan, const ArrayRef& array);

}  // namespace areal::python
