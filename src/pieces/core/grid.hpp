#pragma once
// How an image is cut into parts.

#include <algorithm>
#include <cstdint>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Strips of full width, from the top down. The last may have fewer rows; an image without rows is one part.
class RowGrid {
 public:
  RowGrid(const Shape& image, std::int64_t height) : image_(image), height_(height) {}

  std::int64_t parts() const noexcept { return std::max<std::int64_t>(1, (image_.height + height_ - 1) / height_); }
  Part part(std::int64_t number) const noexcept {
    const std::int64_t y = number * height_;
    return {number, {0, y, image_.width, std::min(height_, image_.height - y)}};
  }

 private:
  Shape image_;
  std::int64_t height_;
};

}  // namespace areal::pieces
