#pragma once
// Draws tracked boxes on frames.

#include <areal/track.hpp>
#include <memory>
#include <span>
#include <string>
#include "input.hpp"

namespace areal::command {

/// An output of frames with boxes, as made by `drawing_to`.
class TrackDrawing {
 public:
  virtual ~TrackDrawing() = default;
  virtual void put(const Item& frame, std::span<const TrackedBox> boxes) = 0;
  virtual void finish() {}  ///< call it after the last frame
};

/// NAME.mp4, .avi or .mkv: a video of that rate (25 if it is 0). NAME/: a folder with a picture per frame. NAME.png or
/// NAME.jpg: the first frame. Throws InvalidArgument for another name.
std::unique_ptr<TrackDrawing> drawing_to(const std::string& name, double frames_per_second);

}  // namespace areal::command
