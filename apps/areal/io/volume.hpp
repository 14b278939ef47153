#pragma once
// --volume: stacks the frames of a sequence.

#include <string>
#include "input.hpp"

namespace areal::command {

/// Stacks the frames of a sequence as the slices of a volume; returns a single array unchanged. Messages call the input
/// `name`. `memory`: the most bytes; 0: free memory. Throws IoError if frames differ in size, channels or type,
/// OutOfMemory.
Array gather_volume(Source& source, const std::string& name, std::uint64_t memory, const Settings& settings);

}  // namespace areal::command
