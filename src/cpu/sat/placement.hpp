#pragma once
// The border is an output offset and an edge fill (carried.hpp): every algorithm computes the inclusive table of a
// (sub)image.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>

namespace areal::cpu {

/// The part of the image whose inclusive table is written, and its offset to the right, down (and in depth) in the
/// table.
struct Placement {
  std::int64_t width = 0, height = 0, depth = 1;
  std::int64_t offset = 0;        ///< of columns and rows
  std::int64_t depth_offset = 0;  ///< of slices: `offset` for volumes, else 0
};

inline Placement placement(const Shape& image, Border border, bool volume) {
  const std::int64_t lost = border == Border::exclusive ? 1 : 0;
  const std::int64_t offset = border == Border::none ? 0 : 1;
  return {std::max<std::int64_t>(0, image.width - lost), std::max<std::int64_t>(0, image.height - lost),
          volume ? std::max<std::int64_t>(0, image.batch - lost) : image.batch, offset, volume ? offset : 0};
}

}  // namespace areal::cpu
