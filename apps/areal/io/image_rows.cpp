#include "image_rows.hpp"

#include <utility>
#include "numbers.hpp"

namespace areal::command {

ImageByRows::ImageByRows(const InputOptions& input, const Settings& settings) {
  if (input.raw.empty() && is_npy_file(input.path)) {
    mapped_ = media::map_npy(input.path);
    stored_ = mapped_->view();
    const std::int64_t channels = stored_.shape.channels;
    if (stored_.shape.batch != 1)
      refuse(input.path, ": holds ", std::to_string(stored_.shape.batch), " images; one is needed here");
    if (channels != 1 && channels != 3 && channels != 4)
      refuse(input.path, ": has ", std::to_string(channels), " channels, which is not a colour");
    if (channels == 4) settings.note("{}: the fourth channel is assumed to be alpha and left out", input.path);
    return;
  }
  if (input.raw.empty()) {
    loaded_ = load_image(input.path, input, settings);
  } else {
    Item item;
    open_source(input, settings)->next(item);
    loaded_ = std::move(item.pixels);
  }
  stored_ = std::as_const(loaded_).view();
}

ConstView ImageByRows::part(std::int64_t first, std::int64_t count) {
  ConstView rows = stored_;
  rows.data = stored_.row(first);
  rows.shape.height = count;
  if (rows.shape.channels == 1) return rows;
  luma_ = media::luma(rows);
  return std::as_const(luma_).view();
}

ImageRows ImageByRows::rows() {
  return [this](std::int64_t first, std::int64_t count) { return part(first, count); };
}

ConstView ImageByRows::whole() {
  if (stored_.shape.channels == 1) return stored_;
  if (whole_.shape().empty()) whole_ = media::luma(stored_);
  return std::as_const(whole_).view();
}

}  // namespace areal::command
