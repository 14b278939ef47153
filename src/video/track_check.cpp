// The trackers' checks of their options and frames.
#include <algorithm>
#include <cmath>
#include "api/core/memory_check.hpp"
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "track_box.hpp"

namespace areal {

Region TrackedBox::region() const noexcept {
  return {video::rounded(x), video::rounded(y), video::rounded(width), video::rounded(height)};
}

namespace video {

void check_options(const TrackerOptions& options) {
  constexpr std::int64_t most_radius = 4096;
  require(options.radius >= 0 && options.radius <= most_radius, "radius: ", options.radius, ", it may be 0 to ",
          most_radius);
  for (const double scale : options.scales)
    require(scale >= 0.5 && scale <= 2, "scales: ", scale, ", each may be 0.5 to 2");
  require(std::count(options.scales.begin(), options.scales.end(), 1.0) == 1, "scales: 1 must be among them, once");
  require(options.scale_cost >= 0 && std::isfinite(options.scale_cost), "scale_cost: ", options.scale_cost,
          ", it may be 0 or more");
  require(options.quantile > 0 && options.quantile <= 1, "quantile: ", options.quantile,
          ", it may be above 0 and up to 1");
}

void check_first_box(const Region& box, std::int64_t image_width, std::int64_t image_height, std::int64_t least_side) {
  const auto words = [&] { return sentence("box ", box.x, ",", box.y, ",", box.width, ",", box.height); };
  if (box.width < least_side || box.height < least_side)
    throw InvalidArgument(
        sentence(words(), ": is too small, this tracker needs ", least_side, "x", least_side, " pixels"));
  const bool inside = box.x >= 0 && box.y >= 0 && box.width <= image_width && box.height <= image_height &&
                      box.x <= image_width - box.width && box.y <= image_height - box.height;
  if (!inside)
    throw InvalidArgument(sentence(words(), ": reaches outside the image of ", image_width, "x", image_height));
}

const TensorView& checked_tensor(const TrackerFrame& frame, const char* tracker) {
  require(frame.tensor.has_value(), "frame: has no tensor, which the tracker ", tracker, " reads");
  const TensorView& tensor = *frame.tensor;
  require(tensor.memory().is_host(), "tensor: is in ", words_of(tensor.memory()), ", the tracker ", tracker,
          " reads host memory");
  require_tensor(tensor);
  require_last_row_and_column(tensor.border, "tensor");
  require(tensor.bins() > 0, "tensor: has no bins");
  return tensor;
}

const ConstView& checked_image(const TrackerFrame& frame, const char* tracker) {
  require(frame.image.data != nullptr, "frame: has no image, which the tracker ", tracker, " reads");
  require(frame.image.memory.is_host(), "image: is in ", words_of(frame.image.memory), ", the tracker ", tracker,
          " reads host memory");
  require(frame.image.shape.batch == 1, "image: batch ", frame.image.shape.batch, ", a frame is one image");
  require_readable(frame.image, "image");
  return frame.image;
}

}  // namespace video
}  // namespace areal
