#pragma once
// Statistics of regions from one pass over the image in strips, without a table: `areal query PICTURE` and
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

/// Writes a row per region, or one for the whole image if none is named. Throws InvalidArgument for stats other than
/// sum, mean, variance and std, OutOfMemory if --memory is too small.
void answer_by_strips(const InputOptions& input, const InputImage& image, const Limits& limits,
                      const RegionOptions& regions, const std::vector<Stat>& stats, const Settings& settings);

/// The same for an image in memory with NaN or infinity, which would spread in a table. `prefix` puts the cells before
/// a region of a channel.
void answer_from_pixels(RowWriter& rows, const std::function<void(RowWriter&, std::int64_t)>& prefix,
                        const ConstView& image, const std::vector<media::NamedRegion>& regions,
                        const std::vector<Stat>& stats);

}  // namespace areal::command
