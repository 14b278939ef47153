#pragma once
// One image whose rows are read where they are needed: of a .npy file only those, of all else the whole.

#include <areal/tiled.hpp>
#include <memory>
#include "input.hpp"
#include "media/media.hpp"

namespace areal::command {

/// One channel, luma where the input has colour.
class ImageByRows {
 public:
  /// Throws InvalidArgument for a video, a folder and a stream, and what reading throws.
  ImageByRows(const InputOptions& input, const Settings& settings);

  Shape shape() const noexcept { return {stored_.shape.width, stored_.shape.height}; }
  Type type() const noexcept { return stored_.type; }
  /// The rows, until the next call.
  ImageRows rows();
  /// All of it: as it lies, or as luma, which takes memory.
  ConstView whole();

 private:
  ConstView part(std::int64_t first, std::int64_t count);

  Array loaded_;
  std::unique_ptr<media::MappedArray> mapped_;
  ConstView stored_;
  Array luma_, whole_;
};

}  // namespace areal::command
