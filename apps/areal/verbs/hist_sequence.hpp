#pragma once
// `areal hist` of video, folders and raw frames: several inputs, regions that move, several workers.

#include <areal/binning.hpp>
#include <areal/sequence.hpp>
#include <string>
#include <vector>
#include "hist_request.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Answers the inputs as a sequence, or returns false where they are pictures, or one of the options is for single
/// frames (the table of refusals says which). Throws InvalidArgument where both was asked.
bool run_sequence(HistRequest& request, const std::vector<GivenOption>& options, const Limits& limits,
                  const Settings& settings);

/// Who takes the frames, or the parts of one image: --devices, or --backend. Throws InvalidArgument for both.
std::vector<Worker> workers_of(const SequenceRequest& sequence, const Settings& settings);

}  // namespace areal::command
