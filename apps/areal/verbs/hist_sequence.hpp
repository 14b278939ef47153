#pragma once
// `areal hist` of video, folders and raw frames: several inputs, regions that move, several workers.

#include <areal/binning.hpp>
#include "hist_request.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Answers the inputs as a sequence, or returns false where they are pictures, or something was asked that goes frame
/// by frame (--all-channels, --weights, -o, --map, --algorithm, --counter, --count, --border). Throws InvalidArgument
/// where both was asked.
bool run_sequence(HistRequest& request, const Settings& settings);

}  // namespace areal::command
