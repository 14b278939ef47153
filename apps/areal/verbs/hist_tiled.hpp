#pragma once
// `areal hist` of one image in parts: on several workers, or where its tensor or the image does not fit.

#include "hist_request.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Answers the regions of one picture or array part by part. Returns false for what needs the whole tensor, weights or
/// several channels.
bool run_tiled(HistRequest& request, const Settings& settings);

}  // namespace areal::command
