#pragma once
// `areal sat INPUT --regions F --memory 4G`: answers about regions of an image that passes once, strip by strip; no
// table is made.

#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/input.hpp"
#include "io/regions.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Throws InvalidArgument where `without` names an option that this does not go with.
void sat_by_strips(const std::string& memory, const std::string& without, const InputOptions& input,
                   const RegionOptions& regions, const std::vector<Stat>& stats, const Settings& settings);

}  // namespace areal::command
