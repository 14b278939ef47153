#pragma once
// Sums of a line on the simulated machine. src/simt/absent.cpp replaces it in builds without simt.

#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <vector>
#include "kernels/scan/request.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

std::size_t scan_workspace_bytes(const kernels::ScanRequest& request);
/// Computes the sums with every access checked, and returns the counts of the launches. Views and request agree; all is
/// host memory. Throws Fault.
std::vector<LaunchCounts> scan(const kernels::ScanRequest& request, const ConstView& line, const View& sums,
                               void* workspace, const Options& options = {});

}  // namespace areal::simt
