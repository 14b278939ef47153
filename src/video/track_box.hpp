#pragma once
// Boxes with fractions on the grid of pixels, and what every tracker checks.

#include <areal/track.hpp>
#include <cmath>

namespace areal::video {

/// Halves up, so that a shift by whole pixels shifts what is rounded.
inline std::int64_t rounded(double value) noexcept { return static_cast<std::int64_t>(std::floor(value + 0.5)); }

/// The same box in another scale, around its centre.
inline TrackedBox scaled(const TrackedBox& box, double scale) noexcept {
  const double width = box.width * scale, height = box.height * scale;
  return {box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height, box.distance};
}

/// Throw InvalidArgument.
void check_options(const TrackerOptions& options);
void check_first_box(const Region& box, std::int64_t image_width, std::int64_t image_height, std::int64_t least_side);
/// The tensor of a frame, fit for searching.
const TensorView& checked_tensor(const TrackerFrame& frame, const char* tracker);
/// The image of a frame, in host memory.
const ConstView& checked_image(const TrackerFrame& frame, const char* tracker);

}  // namespace areal::video
