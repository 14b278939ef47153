#pragma once
// A view's memory as runs of bytes in C order.

#include <areal/view.hpp>
#include <cstddef>

namespace areal::media {

// Calls run(data, bytes) for each contiguous piece, in .npy order: one call if the view is contiguous, else one for
// each row.
template <class Run>
void for_each_run(const ConstView& v, Run&& run) {
  const Shape& s = v.shape;
  if (s.empty()) return;
  const bool planar = s.layout == Layout::planar;
  const std::int64_t row = s.width * v.column_pitch();
  const std::int64_t planes = planar ? s.channels : 1;
  const bool plane_dense = v.row_pitch == row || s.height == 1;
  const bool image_dense = plane_dense && (planes == 1 || v.plane_pitch == s.height * row);
  if (image_dense && (s.batch == 1 || v.batch_pitch == planes * s.height * row))
    return run(v.data, static_cast<std::size_t>(s.batch * planes * s.height * row));
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < s.height; ++y)
        run(static_cast<const void*>(v.row(y, c, n)), static_cast<std::size_t>(row));
}

}  // namespace areal::media
