#pragma once
// Checks that all trackers share.

#include <areal/track.hpp>
#include "formulas/fragments.hpp"

namespace areal::video {

using formulas::rounded;
using formulas::scaled;

/// Throw InvalidArgument.
void check_options(const TrackerOptions& options);
void check_first_box(const Region& box, std::int64_t image_width, std::int64_t image_height, std::int64_t least_side);
/// The frame's tensor, checked for searching.
const TensorView& checked_tensor(const TrackerFrame& frame, const char* tracker);
/// The frame's image, checked to be in host memory.
const ConstView& checked_image(const TrackerFrame& frame, const char* tracker);

}  // namespace areal::video
