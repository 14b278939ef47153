#pragma once
// Answers about regions of an image that passes once, strip by strip; no table is made. `areal query PICTURE`, and
// `areal sat INPUT --regions F --memory 4G`.

#include <functional>
#include <string>
#include <vector>
#include "io/answers.hpp"
#include "io/input_image.hpp"
#include "io/regions.hpp"
#include "io/routing.hpp"
#include "io/settings.hpp"

namespace areal::command {

/// Rows for the regions, or for the whole image where none is named. Throws InvalidArgument for stats other than sum,
/// mean, variance and std, OutOfMemory where --memory is too little.
void answer_by_strips(const InputOptions& input, const InputImage& image, const Limits& limits,
                      const RegionOptions& regions, const std::vector<Stat>& stats, const Settings& settings);

/// The same for an image in memory that holds NaN or infinity, which would spread in a table. `prefix` puts what stands
/// before a channel's regions.
void answer_from_pixels(RowWriter& rows, const std::function<void(RowWriter&, std::int64_t)>& prefix,
                        const ConstView& image, const std::vector<media::NamedRegion>& regions,
                        const std::vector<Stat>& stats);

}  // namespace areal::command
