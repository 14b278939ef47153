#pragma once
// Answers about regions of an image that passes once, strip by strip; no table is made. `areal query PICTURE`, and
// `areal sat INPUT --regions F --memory 4G`.

#include <functional>
#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/input.hpp"
#include "io/regions.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// What goes with strips: sum, mean, variance and std. Throws InvalidArgument for another.
void require_stats_of_strips(const std::vector<Stat>& stats);

/// Rows for the regions, or for the whole image where none is named. `memory` is --memory, or empty. Throws
/// OutOfMemory where it is too little.
void answer_by_strips(const std::string& memory, const InputOptions& input, const RegionOptions& regions,
                      const std::vector<Stat>& stats, const Settings& settings);

/// The same for an image in memory that holds NaN or infinity, which would spread in a table. `prefix` puts what stands
/// before a channel's regions.
void answer_from_pixels(RowWriter& rows, const std::function<void(RowWriter&, std::int64_t)>& prefix,
                        const ConstView& image, const std::vector<media::NamedRegion>& regions,
                        const std::vector<Stat>& stats);

}  // namespace areal::command
