#pragma once
// Checks of the workers that a caller names.

#include <areal/sequence.hpp>
#include <vector>

namespace areal::queue {

/// Throws InvalidArgument for a worker without a backend or with negative threads, Unavailable for a missing one.
void require_workers(const std::vector<Worker>& workers);

}  // namespace areal::queue
