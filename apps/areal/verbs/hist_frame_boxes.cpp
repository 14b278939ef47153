#include "hist_frame_boxes.hpp"

#include "io/numbers.hpp"

namespace areal::command {

FrameBoxes::FrameBoxes(const HistRequest& request, const Shape& frame)
    : frame_(frame), clips_(request.regions.clips()), files_(request.sequence.boxes) {
  for (const std::string& file : files_) {
    of_streams_.push_back(media::read_boxes_csv(file));
    if (of_streams_.back().empty()) refuse("--boxes ", file, ": holds no box");
  }
  if (!request.regions.named() && !of_streams_.empty()) return;
  std::vector<media::NamedRegion> buffer;
  fixed_ = request.regions.for_image(frame, buffer);
}

void FrameBoxes::note_late(int stream, std::int64_t frames, const Settings& settings) const {
  const auto i = static_cast<std::size_t>(stream);
  if (i >= of_streams_.size()) return;
  const auto& boxes = of_streams_[i];
  const auto late =
      std::count_if(boxes.begin(), boxes.end(), [&](const media::Box& box) { return box.frame >= frames; });
  if (late > 0)
    settings.note("{}: {} after the last, {}", files_[i],
                  late == 1 ? "1 box is of a frame" : fmt::format("{} boxes are of frames", late), frames - 1);
}

}  // namespace areal::command
