#pragma once
// A cache of plans of tables.

#include <areal/sat.hpp>
#include <memory>
#include "options.hpp"
#include "planned.hpp"
#include "recently_used.hpp"

namespace areal::python {

using PlannedSat = Planned<SatPlan>;

/// The plan for one kind of call.
struct PlannedTable {
  PlannedTable(const PlanKey& key, const Options& options);
  PlannedSat planned;
  Type table;       ///< of the framework's table: the plan's, perhaps with a sign
  nb::object says;  ///< properties of its tables: axes, border, reverse, the pixels' dtype, algorithm, reason, backend
};

using SatPlans = RecentlyUsed<PlanKey, PlannedTable>;

/// The plan for arrays of a framework, NumPy's by default; fills in the key's flags and options.
std::shared_ptr<PlannedTable> planned_table(SatPlans& plans, const Options& options, PlanKey key,
                                            const std::optional<Framework>& on = std::nullopt);

/// The type of the framework's table.
Type table_type(const PlanKey& key, const Options& options);

}  // namespace areal::python
