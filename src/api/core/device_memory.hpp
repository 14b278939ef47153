#pragma once
// The memory of an Execution, for arrays, streams and events that are made without a plan.

#include <areal/execution.hpp>

namespace areal {

/// Device memory for cuda, which automatic means; host memory for cpu and simt. Throws Unavailable if the backend or
/// device is missing.
MemoryPlace memory_of(const Execution& on);

}  // namespace areal
