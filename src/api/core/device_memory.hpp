#pragma once
// Where an Execution's plans work, for memory, streams and events that are made without a plan.

#include <areal/execution.hpp>

namespace areal {

/// Memory of its device for cuda, which automatic stands for; of the host for cpu and simt. Throws Unavailable where
/// that backend or device is not there.
MemoryPlace memory_of(const Execution& on);

}  // namespace areal
