#pragma once
// `areal hist` for videos, folders and raw frames: several inputs, moving regions, several workers.

#include <areal/binning.hpp>
#include <areal/sequence.hpp>
#include <string>
#include <vector>
#include "hist_request.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Processes the inputs as a sequence. Returns false if they are pictures or an option only supports single images (see
/// refusals()). Throws InvalidArgument for such an option together with one that needs a sequence.
bool run_sequence(HistRequest& request, const std::vector<GivenOption>& options, const Limits& limits,
                  const Settings& settings);

/// The workers of --devices or --backend. Throws InvalidArgument if both are given.
std::vector<Worker> workers_of(const SequenceRequest& sequence, const Settings& settings);

}  // namespace areal::command
