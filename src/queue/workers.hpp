#pragma once
// The workers that a caller names.

#include <areal/sequence.hpp>
#include <vector>

namespace areal::queue {

/// Throws InvalidArgument for a worker that names no backend or threads below 0, Unavailable for one that is not there.
void require_workers(const std::vector<Worker>& workers);

}  // namespace areal::queue
