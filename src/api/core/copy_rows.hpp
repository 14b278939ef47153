#pragma once
// Copies rows between views of host memory of the same shape and type, of any pitches; tests whether a view is
// contiguous.

#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace areal {

/// True for the pitches of a contiguous view.
template <class V>
bool is_contiguous(const V& view) {
  const V flat(view.data, view.type, view.shape);
  return view.row_pitch == flat.row_pitch && view.plane_pitch == flat.plane_pitch &&
         view.batch_pitch == flat.batch_pitch;
}

/// Calls row(bytes) after each row.
template <class Row>
void copy_rows(const ConstView& from, const View& to, const Row& row) {
  const Shape& shape = from.shape;
  const std::int64_t planes = shape.layout == Layout::planar ? shape.channels : 1;
  const auto bytes = static_cast<std::size_t>(shape.width * from.column_pitch());
  if (bytes == 0) return;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < shape.height; ++y) {
        std::memcpy(to.row(y, c, n), from.row(y, c, n), bytes);
        row(bytes);
      }
}
inline void copy_rows(const ConstView& from, const View& to) {
  copy_rows(from, to, [](std::size_t) {});
}

}  // namespace areal
