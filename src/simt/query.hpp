#pragma once
// What tables are asked, on the simulated machine. src/simt/absent.cpp stands in where this build has none.

#include <areal/research/launch_counts.hpp>
#include <vector>
#include "kernels/query/request.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

/// Answers, every access checked, and gives the counts of its launches. All is host memory. Throws Fault.
std::vector<LaunchCounts> answer(const kernels::RegionRequest& request, const Options& options = {});

}  // namespace areal::simt
