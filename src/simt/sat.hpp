#pragma once
// Summed-area tables on the simulated machine. src/simt/absent.cpp replaces it in builds without simt.

#include <areal/research/launch_counts.hpp>
#include <areal/sat.hpp>
#include <cstddef>
#include <string_view>
#include <vector>
#include "kernels/sat/request.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

/// True if this build contains the simulated machine.
bool built() noexcept;

std::size_t sat_workspace_bytes(std::string_view id, const kernels::SatRequest& request);
/// Computes the tables with every access checked, and returns the counts of the launches. Views and request agree; all
/// is host memory. Throws Fault.
std::vector<LaunchCounts> sat(std::string_view id, const kernels::SatRequest& request, const SatArguments& views,
                              void* workspace, const Options& options = {});

}  // namespace areal::simt
