#pragma once
// The schedule of network: which kernel a request gets, and how an image is cut into strips and segments.

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include "kernels/filter/constants.hpp"
#include "kernels/filter/network/network_kernel.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// The pixel of n in their order that a percentile is.
inline std::int64_t rank_of(double percent, std::int64_t n) {
  const double rank = std::floor(percent * static_cast<double>(n) / 100);
  return rank >= static_cast<double>(n) ? n - 1 : static_cast<std::int64_t>(rank);
}

template <class C, class Launcher>
void launch_network(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  using Kernel = RankNetwork<NoMachine, C>;
  using Key = typename Kernel::Key;
  NetworkArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.columns = FilterAxis(request.columns), a.rows = FilterAxis(request.rows);
  a.percent = std::get<filter::Percentile>(request.filter).percent;
  a.min_count = request.min_count;
  const std::int64_t pixels = std::int64_t{C::size} * C::size;
  a.fills = request.min_count > pixels;
  const auto size = static_cast<std::int64_t>(sizeof(Key));
  // Words of rows that begin at one may not begin before the row; others begin up to 3 bytes earlier.
  const bool words = (reinterpret_cast<std::uintptr_t>(views.image.data) |
                      static_cast<std::uintptr_t>(a.from.row | a.from.channel | a.from.batch)) %
                         4 ==
                     0;
  if (rank_of(a.percent, pixels) == pixels / 2 && a.from.column == size) {
    const std::int64_t lead = words ? 0 : 3, v = Kernel::V;
    const std::int64_t x = std::max<std::int64_t>(0, a.columns.before + (lead + size - 1) / size + v - 1) / v * v;
    const std::int64_t seen = (4 * (Kernel::words + 1) + size - 1) / size;  // pixels, from a lane's first one on
    const std::int64_t lanes = (a.columns.extent - seen - (x - a.columns.before)) / v + 1;
    const bool skips = a.columns.edge == Edge::shrink;
    const int y = skips ? a.rows.before : 0, y_end = skips ? a.rows.extent - a.rows.after() : a.rows.outputs;
    if (a.columns.extent >= seen + x - a.columns.before && y < y_end)
      a.inner = {static_cast<int>(x), static_cast<int>(x + lanes * v), y, y_end};
  }
  const std::int64_t across = a.inner.x_end - a.inner.x, down = a.inner.y_end - a.inner.y;
  const std::int64_t planes = views.image.shape.channels * views.image.shape.batch;
  a.channels = static_cast<int>(views.image.shape.channels);
  a.frame = std::int64_t{a.columns.outputs} * a.rows.outputs - across * down;
  a.frame_units = planes * ((a.frame + warp_size - 1) / warp_size);
  a.pixel_aligned = alignment_of(views.image.data, a.from, sizeof(Key), sizeof(Key)) != Alignment::bytes;
  a.out_aligned = alignment_of(views.out.data, a.to, sizeof(Key), sizeof(Key)) != Alignment::bytes;
  a.vectors = alignment_of(views.out.data, a.to, sizeof(Key), sizeof(typename Kernel::Vector)) == Alignment::vectors;
  const KeyOrder<Key> order(request.in);
  a.order_flip = in_every_place(order.flip), a.real = order.real;
  a.beyond = in_every_place(element_of<Key>(request.in, request.columns.edge == Edge::constant ? request.value : 0));
  a.fill = in_every_place(element_of<Key>(request.in, request.fill));
  if (across > 0) {
    a.strips = static_cast<int>((across - 1) / Kernel::strip_columns + 1);
    const std::int64_t held = held_blocks<RankNetwork, C>(launcher) * Kernel::warps;
    constexpr double begin = 2 + 0.5 * (C::size - 1);
    const int rows = segment_rows(down, begin, static_cast<double>(planes * a.strips), static_cast<double>(held));
    a.segment_rows = rows + rows % 2;  // steps have two
    a.segments = static_cast<int>((down - 1) / a.segment_rows + 1);
    a.units = planes * a.strips * a.segments;
  }
  launcher.template launch<RankNetwork, C>((a.frame_units + a.units + Kernel::warps - 1) / Kernel::warps, a, false);
}

/// f<C>() for the kernel of a request that network takes.
template <class F>
void with_network(const FilterRequest& request, const F& f) {
  with_key(request.in, [&]<class Key>() {
    if (request.columns.size == 3) return f.template operator()<NetworkOf<Key, 3>>();
    return f.template operator()<NetworkOf<Key, 5>>();
  });
}

/// What network needs, if it does not take the request.
inline std::string network_takes(const FilterRequest& request) {
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  if (!std::holds_alternative<filter::Percentile>(request.filter)) return "it takes percentiles";
  if (request.columns.size != request.rows.size || (request.columns.size != 3 && request.columns.size != 5))
    return "it takes windows of 3x3 and 5x5 pixels; this one has " + is(request.columns.size) + "x" +
           is(request.rows.size);
  if (request.mask || request.omit_nan) return "it takes neither masks nor nan omit";
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis)
    return "it takes images of up to " + is(most_of_filter_axis) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  return {};
}

}  // namespace areal::kernels
