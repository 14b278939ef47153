#pragma once
// The planes of a view: the channels of one image after another. Answers for several planes have this order.

#include <areal/view.hpp>
#include <cstdint>

namespace areal {

inline std::int64_t planes_of(const Shape& shape) { return shape.channels * shape.batch; }

/// Plane p of a view, with rows `row(y)` and elements `column_pitch()` bytes apart.
template <class Void>
BasicView<Void> with_plane(BasicView<Void> view, std::int64_t p) {
  const std::int64_t channel = p % view.shape.channels, n = p / view.shape.channels;
  if (!view.data) return view;
  const std::int64_t pitch =
      view.shape.layout == Layout::planar ? view.plane_pitch : static_cast<std::int64_t>(size_of(view.type));
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  view.data = static_cast<Byte*>(view.data) + n * view.batch_pitch + channel * pitch;
  return view;
}

}  // namespace areal
