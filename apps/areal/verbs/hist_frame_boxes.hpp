#pragma once
// The regions of the frames of `areal hist`: --region, --regions and --boxes.

#include <algorithm>
#include <cstdint>
#include <vector>
#include "hist_request.hpp"
#include "io/settings.hpp"
#include "media/media.hpp"

namespace areal::command {

/// The regions of each frame: the fixed ones, and the boxes from its stream's file.
class FrameBoxes {
 public:
  FrameBoxes(const HistRequest& request, const Shape& frame);

  template <class Take>
  void each(int stream, std::int64_t number, const Take& take) const {
    for (const media::NamedRegion& region : fixed_) take(region);
    if (of_streams_.empty()) return;
    const auto& boxes = of_streams_[static_cast<std::size_t>(stream)];
    auto at = std::lower_bound(boxes.begin(), boxes.end(), number,
                               [](const media::Box& box, std::int64_t frame) { return box.frame < frame; });
    for (; at != boxes.end() && at->frame == number; ++at)
      take(media::NamedRegion{clips_ ? clipped(at->region, frame_) : at->region, at->id});
  }
  /// Notes how many boxes of a stream of so many frames are of later ones.
  void note_late(int stream, std::int64_t frames, const Settings& settings) const;

 private:
  Shape frame_;
  bool clips_;
  std::vector<std::string> files_;
  std::vector<media::NamedRegion> fixed_;
  std::vector<std::vector<media::Box>> of_streams_;
};

}  // namespace areal::command
