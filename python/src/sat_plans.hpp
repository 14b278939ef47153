#pragma once
// Plans of tables, found again by what they are for.

#include <areal/sat.hpp>
#include <memory>
#include "options.hpp"
#include "planned.hpp"
#include "recently_used.hpp"

namespace areal::python {

using PlannedSat = Planned<SatPlan>;

/// A plan of one kind of call.
struct PlannedTable {
  PlannedTable(const PlanKey& key, const Options& options);
  PlannedSat planned;
  Type table;       ///< as the framework has it: perhaps the plan's with a sign
  nb::object says;  ///< what its tables say: axes, border, reverse, the pixels' dtype, algorithm, reason, backend
};

using SatPlans = RecentlyUsed<PlanKey, PlannedTable>;

/// The plan of arrays of a framework, NumPy's by default; the key's flags and options are filled in.
std::shared_ptr<PlannedTable> planned_table(SatPlans& plans, const Options& options, PlanKey key,
                                            const std::optional<Framework>& on = std::nullopt);

/// The type of the table that the framework has.
Type table_type(const PlanKey& key, const Options& options);

}  // namespace areal::python
