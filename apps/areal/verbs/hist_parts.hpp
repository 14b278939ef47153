#pragma once
// `areal hist` of one image in parts: histograms of regions by strips or by tiles, and the tensor by strips.

#include <areal/histogram.hpp>
#include "hist_request.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Rows for the regions, and the tensor where -o is given. Throws OutOfMemory where --memory is too little.
void hist_by_strips(HistRequest& request, const HistogramOptions& options, const Limits& limits,
                    const Settings& settings);
/// Rows for the regions, counted by the workers of --devices or --backend.
void hist_by_tiles(HistRequest& request, const Limits& limits, const Settings& settings);

}  // namespace areal::command
