#pragma once
// The schedule of direct means: which means of bytes get them, and how an image is cut.

#include <cstdint>
#include <utility>
#include <variant>
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/filter/walk/direct_kernel.hpp"
#include "kernels/filter/walk/product_mean.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

inline constexpr int most_direct_size = 16;

/// Calls f<size>() if direct means take the request: means of bytes of square windows of 2 to 16 columns around their
/// pixel, in images of whole vectors whose rows beyond the edge show rows not further than one image away.
template <class F>
void with_direct(const FilterRequest& request, const F& f) {
  const formulas::WindowAxis &columns = request.columns, &rows = request.rows;
  if (!std::holds_alternative<filter::Mean>(request.filter) || request.in != Type::u8 || request.out != Type::u8)
    return;
  const std::int64_t size = columns.size, before = size / 2;
  if (rows.size != size || columns.before != before || rows.before != before) return;  // not edge valid
  if (columns.extent % 16 != 0 || rows.extent <= before) return;
  [&]<int... i>(std::integer_sequence<int, i...>) { ((size == i + 2 ? f.template operator()<i + 2>() : void()), ...); }
  (std::make_integer_sequence<int, most_direct_size - 1>());
}

/// Whether these kernels can access the views.
inline bool direct_fits(const FilterArguments& views) {
  const auto vectors = [](const auto& view) {
    return alignment_of(view.data, strides(view), 1, 16) == Alignment::vectors;
  };
  return vectors(views.image) && vectors(views.out);
}

template <int size, class Launcher>
void launch_direct(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  DirectMeansArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.columns = FilterAxis(request.columns), a.rows = FilterAxis(request.rows);
  a.beyond_rows = RowsBeyond(a.rows);
  a.channels = static_cast<unsigned>(views.image.shape.channels);
  const Edge edge = request.columns.edge;
  a.beyond = static_cast<std::uint32_t>(edge == Edge::constant ? request.value : 0) * 0x01010101u;
  a.left = edge == Edge::reflect ? 0x1234 : edge == Edge::symmetric ? 0x0123 : 0;
  a.right = edge == Edge::reflect ? 0x3456 : edge == Edge::symmetric ? 0x4567 : 0x7777;
  const HalfEvenProduct product(static_cast<std::uint32_t>(size * size), request.rounding);
  a.factor = product.factor, a.add = product.add, a.tie = product.tie;
  const auto cut = [&]<bool high>() {  // returns the blocks
    using Kernel = DirectMeans<NoMachine, DirectOf<size, high>>;
    a.strips = static_cast<unsigned>((a.columns.outputs - 1) / Kernel::columns + 1);
    a.segments = static_cast<unsigned>((a.rows.outputs - 1) / (Kernel::outputs * Kernel::warps) + 1);
    return std::int64_t{a.strips} * a.segments * views.image.shape.channels * views.image.shape.batch;
  };
  // High warps if they fill the device. Of windows of many rows half of it is enough (2048x2048 on an H200, 9x9: 11.1
  // us with low and 11.3 with high warps, 13x13: 13.9 and 12.7), unless warps at the edge count pixels, which takes
  // longer.
  const std::int64_t held = held_blocks<DirectMeans, DirectOf<size, true>>(launcher);
  const std::int64_t enough = size > 10 && edge != Edge::shrink ? held / 2 : held;
  if (const std::int64_t blocks = cut.template operator()<true>(); blocks >= enough)
    launcher.template launch<DirectMeans, DirectOf<size, true>>(blocks, a, false);
  else
    launcher.template launch<DirectMeans, DirectOf<size, false>>(cut.template operator()<false>(), a, false);
}

}  // namespace areal::kernels
