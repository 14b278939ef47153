#pragma once
// Queries of tables on the simulated machine. src/simt/absent.cpp replaces it in builds without simt.

#include <areal/research/launch_counts.hpp>
#include <vector>
#include "kernels/query/request.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

/// Computes the answers with every access checked, and returns the counts of its launches. All is host memory. Throws
/// Fault.
std::vector<LaunchCounts> answer(const kernels::RegionRequest& request, const Options& options = {});

}  // namespace areal::simt
