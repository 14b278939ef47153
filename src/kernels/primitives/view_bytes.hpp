#pragma once
// The bytes that a view spans.

#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>

namespace areal::kernels {

/// Bytes from a view's first element to its last.
template <class V>
std::size_t bytes_of_view(const V& view) {
  const Shape& shape = view.shape;
  if (shape.empty()) return 0;
  const std::int64_t planes = shape.layout == Layout::planar ? shape.channels : 1;
  return static_cast<std::size_t>((shape.batch - 1) * view.batch_pitch + (planes - 1) * view.plane_pitch +
                                  (shape.height - 1) * view.row_pitch + (shape.width - 1) * view.column_pitch()) +
         size_of(view.type) * static_cast<std::size_t>(planes == 1 ? shape.channels : 1);
}

}  // namespace areal::kernels
