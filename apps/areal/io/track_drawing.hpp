#pragma once
// Frames with their tracked boxes drawn on them.

#include <areal/track.hpp>
#include <memory>
#include <span>
#include <string>
#include "input.hpp"

namespace areal::command {

/// Where drawn frames go. One kind of target is one class behind `drawing_to`.
class TrackDrawing {
 public:
  virtual ~TrackDrawing() = default;
  virtual void put(const Item& frame, std::span<const TrackedBox> boxes) = 0;
  virtual void finish() {}  ///< after the last frame
};

/// NAME.mp4, .avi or .mkv is a video of that rate (25 where it is 0); NAME/ a folder of pictures, one a frame; NAME.png
/// and NAME.jpg are the first frame. Throws InvalidArgument for another name.
std::unique_ptr<TrackDrawing> drawing_to(const std::string& name, double frames_per_second);

}  // namespace areal::command
