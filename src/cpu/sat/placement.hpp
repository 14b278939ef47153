#pragma once
// The border is an output offset and an edge fill: every algorithm computes the inclusive table of a (sub)image.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <cstring>

namespace areal::cpu {

/// The part of the image for which the inclusive table is written, and its offset to the right, down (and in depth) in
/// the table.
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

/// Zeros in the first row and column (and slice) of every plane of a table with this offset.
inline void fill_edges(const View& table, const Placement& place) {
  const Shape& shape = table.shape;
  if (place.offset == 0 || shape.width == 0) return;  // an empty table may have no address
  const bool planar = shape.layout == Layout::planar;
  const std::int64_t planes = planar ? shape.channels : 1;
  const auto pixel = size_of(table.type) * static_cast<std::size_t>(planar ? 1 : shape.channels);
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < shape.height; ++y) {
        const bool whole = y == 0 || (place.depth_offset == 1 && n == 0);
        const std::int64_t columns = whole ? shape.width : 1;
        std::memset(table.row(y, c, n), 0, pixel * static_cast<std::size_t>(columns));
      }
}

}  // namespace areal::cpu
