#pragma once
// Integral histograms on the simulated machine. src/simt/absent.cpp replaces it in builds without simt.

#include <areal/research/launch_counts.hpp>
#include <cstddef>
#include <string_view>
#include <vector>
#include "kernels/histogram/request.hpp"
#include "simt/engine/options.hpp"

namespace areal::simt {

std::size_t histogram_workspace_bytes(std::string_view id, const kernels::HistogramRequest& request);
/// Computes the tensor with every access checked, and returns the counts of its launches. Views and request agree; all
/// is host memory; the request's tables are at the start of the workspace. Throws Fault.
std::vector<LaunchCounts> histogram(std::string_view id, const kernels::HistogramRequest& request,
                                    const ConstView& image, const ConstView& weights, const View& tensor,
                                    void* workspace, const Options& options = {});

}  // namespace areal::simt
