#pragma once
// --volume: the frames of a sequence as one volume.

#include <string>
#include "input.hpp"

namespace areal::command {

/// The frames of a sequence, one after another, as the slices of a volume; a single array as it is. `name` is the
/// input's, for sentences; `memory` the most bytes, 0: what is free. Throws IoError where the frames differ in size,
/// channels or type, OutOfMemory.
Array gathered(Source& source, const std::string& name, std::uint64_t memory, const Settings& settings);

}  // namespace areal::command
