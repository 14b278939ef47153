#pragma once
// How an image is cut into parts.

#include <algorithm>
#include <cstdint>
#include "pieces/core/work.hpp"

namespace areal::pieces {

/// Strips of full width, from the top down. The last may have fewer rows; where no rows are made, there is one part.
class RowGrid {
 public:
  RowGrid(const Shape& image, std::int64_t height, const Halo& halo)
      : image_(image), height_(height), halo_(halo), first_(halo.beyond == Halo::Beyond::inside ? halo.above : 0) {}

  std::int64_t parts() const noexcept { return std::max<std::int64_t>(1, (made() + height_ - 1) / height_); }
  Part part(std::int64_t number) const noexcept {
    const std::int64_t begin = number * height_, y = first_ + begin;
    Part part{number, {0, y, image_.width, std::max<std::int64_t>(0, std::min(height_, made() - begin))}};
    if (part.pixels.height == 0) return part;
    const bool cut = halo_.beyond == Halo::Beyond::cut;
    part.above = cut ? std::min(halo_.above, y) : halo_.above;
    part.below = cut ? std::min(halo_.below, image_.height - part.end()) : halo_.below;
    return part;
  }
  /// Of a part's inputs, at most.
  std::int64_t most_rows() const noexcept {
    const std::int64_t rows = height_ + halo_.rows();
    return halo_.beyond == Halo::Beyond::wrap ? rows : std::max(height_, std::min(rows, image_.height));
  }

 private:
  /// Rows of the image that parts are of.
  std::int64_t made() const noexcept {
    const bool inside = halo_.beyond == Halo::Beyond::inside;
    return std::max<std::int64_t>(0, image_.height - (inside ? halo_.rows() : 0));
  }

  Shape image_;
  std::int64_t height_;
  Halo halo_;
  std::int64_t first_;
};

}  // namespace areal::pieces
