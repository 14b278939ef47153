#pragma once
// `areal query T.zarr`: answers from a chunked table, or from the formula of a synthetic image.

#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/regions.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Rows from a chunked table, whose tiles are held to their checksums if `checked`, or from the formula of a synthetic
/// image, as `path` says: sums and means.
void query_chunked(const std::string& path, const RegionOptions& regions, const std::vector<Stat>& stats,
                   const Limits& limits, bool checked, const Settings& settings);

}  // namespace areal::command
