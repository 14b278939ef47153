#pragma once
// `areal query T.zarr`: sums and means from a chunked table, or from the formula of a synthetic image.

#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/regions.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Writes a row per region. `path` is a chunked table, whose tiles are verified if `checked`, or a synthetic image.
void query_chunked(const std::string& path, const RegionOptions& regions, const std::vector<Stat>& stats,
                   const Limits& limits, bool checked, const Settings& settings);

}  // namespace areal::command
