#pragma once
// `areal hist` for one image in parts: histograms by strips or by tiles, and the tensor by strips.

#include <areal/histogram.hpp>
#include "hist_request.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"
#include "media/media.hpp"

namespace areal::command {

/// The sidecar of a tensor.
media::TableFile tensor_file(const HistRequest& request, Border border, Type image, Type counter, const Shape& shape,
                             const Binning& binning, const std::string& algorithm);

/// Writes a row per region, and the tensor with -o. Throws OutOfMemory if --memory is too small.
void hist_by_strips(HistRequest& request, const HistogramOptions& options, const Limits& limits,
                    const Settings& settings);
/// Writes a row per region, computed by the workers of --devices or --backend.
void hist_by_tiles(HistRequest& request, const Limits& limits, const Settings& settings);

}  // namespace areal::command
