#pragma once
// `areal hist` of video, folders and raw frames: several inputs, regions that move, several workers.

#include <areal/binning.hpp>
#include <areal/sequence.hpp>
#include <string>
#include <vector>
#include "hist_request.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Answers the inputs as a sequence, or returns false where they are pictures, or something was asked that goes frame
/// by frame (--all-channels, --weights, -o, --map, --algorithm, --counter, --count, --border). Throws InvalidArgument
/// where both was asked.
bool run_sequence(HistRequest& request, const Settings& settings);

/// The first option that a sequence does not take, nor parts of one image, or an empty text.
std::string of_single_frames(const HistRequest& request);
/// Who takes the frames, or the parts of one image: --devices, or --backend. Throws InvalidArgument for both.
std::vector<Worker> workers_of(const SequenceRequest& sequence, const Settings& settings);

}  // namespace areal::command
