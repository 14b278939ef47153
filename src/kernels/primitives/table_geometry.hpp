#pragma once
// The position of an image's sums in its table.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/view.hpp>
#include <cstdint>

namespace areal::kernels {

/// The border is an output offset and an edge of zeros: all algorithms compute the inclusive table of a (sub)image.
struct TableGeometry {
  std::int64_t width = 0, height = 0;  ///< of the image that is summed
  std::int64_t offset = 0;             ///< columns and rows of zeros before the first sum
};
inline TableGeometry table_geometry(const Shape& image, Border border) {
  const std::int64_t lost = border == Border::exclusive ? 1 : 0;
  return {std::max<std::int64_t>(0, image.width - lost), std::max<std::int64_t>(0, image.height - lost),
          border == Border::none ? 0 : 1};
}
/// A volume's slices are placed like its rows.
inline std::int64_t table_depth(const Shape& image, Border border) {
  return std::max<std::int64_t>(0, image.batch - (border == Border::exclusive ? 1 : 0));
}

}  // namespace areal::kernels
