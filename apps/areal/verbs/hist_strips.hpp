#pragma once
// `areal hist INPUT --memory 4G`: histograms of regions, and the tensor, of an image that passes strip by strip.

#include <areal/histogram.hpp>
#include <string>
#include "hist_request.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// The first option that strips do not go with, or an empty text.
std::string not_by_strips(const HistRequest& request, const Settings& settings);

/// Throws InvalidArgument for such an option, OutOfMemory where --memory is too little.
void hist_by_strips(const HistRequest& request, const HistogramOptions& options, const Settings& settings);

}  // namespace areal::command
