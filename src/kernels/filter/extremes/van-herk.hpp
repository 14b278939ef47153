#pragma once
// The schedule of van-herk: which kernel a request gets, and how an image is cut into strips and segments.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <variant>
#include "kernels/filter/constants.hpp"
#include "kernels/filter/extremes/kernel.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// An image beyond each edge shows every pixel; a reflection needs two.
inline formulas::WindowAxis cut_for_extremes(const formulas::WindowAxis& axis) {
  if (axis.edge == Edge::valid) return axis;
  const bool turns = axis.edge == Edge::reflect || axis.edge == Edge::symmetric;
  const std::int64_t most = (turns ? 2 : 1) * axis.extent;
  formulas::WindowAxis cut = axis;
  cut.before = std::min(axis.before, most);
  cut.size = cut.before + 1 + std::min(axis.size - 1 - axis.before, most);
  return cut;
}

template <class C, class Launcher>
void launch_van_herk(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  using Kernel = Extremes<NoMachine, C>;
  using Key = typename Kernel::Key;
  constexpr int V = Kernel::V;
  ExtremesArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.columns = FilterAxis(cut_for_extremes(request.columns)), a.rows = FilterAxis(cut_for_extremes(request.rows));
  a.channels = static_cast<int>(views.image.shape.channels);
  const bool least = std::holds_alternative<filter::Minimum>(request.filter);
  const auto order = KeyOrder<Key>::after_nan(request.in, least);
  a.flip = in_every_place(order.flip), a.real = order.real;
  const Edge edge = request.columns.edge;
  // A window of about as many columns on either side of its anchor holds the pixels that its reflection repeats.
  const int uneven = std::abs(a.columns.before - a.columns.after());
  a.mirrors = edge == Edge::wrap || (edge == Edge::reflect && uneven > 0) || (edge == Edge::symmetric && uneven > 1);
  const double infinity = std::numeric_limits<double>::infinity();
  const double value = edge == Edge::constant ? request.value : edge == Edge::zero ? 0 : least ? infinity : -infinity;
  a.beyond = in_every_place(element_of<Key>(request.in, value));
  a.fill = in_every_place(element_of<Key>(request.in, request.fill));
  // Windows of edges other than shrink all have the same pixels.
  const double pixels = static_cast<double>(request.columns.size) * static_cast<double>(request.rows.size);
  a.min_count = edge == Edge::shrink || pixels < static_cast<double>(request.min_count) ? request.min_count : 1;
  const auto alignment = [](const auto& view, const Strides& s, std::size_t vector) {
    return alignment_of(view.data, s, sizeof(Key), vector);
  };
  a.pixel_aligned = alignment(views.image, a.from, sizeof(Key)) != Alignment::bytes;
  a.out_aligned = alignment(views.out, a.to, sizeof(Key)) != Alignment::bytes;
  a.vectors = alignment(views.out, a.to, 16) == Alignment::vectors;
  // Strips begin at whole vectors, some columns before their first window.
  a.lead = (V - a.columns.before % V) % V;
  a.aligned = a.from.column != static_cast<std::int64_t>(sizeof(Key))    ? 0
              : alignment(views.image, a.from, 16) == Alignment::vectors ? 2
                                                                         : 1;
  a.strip_lanes = Kernel::places - (a.lead + a.columns.size - 1 + V - 1) / V;
  a.strips = (a.columns.outputs - 1) / (V * a.strip_lanes) + 1;
  const std::int64_t planes = views.image.shape.channels * views.image.shape.batch;
  a.segment_rows = Kernel::ring;
  if (a.rows.size <= Kernel::ring) {
    const std::int64_t held = held_blocks<Extremes, C>(launcher) * Kernel::spans;
    a.segment_rows = segment_rows(a.rows.outputs, 2 + 0.4 * a.rows.size, static_cast<double>(planes * a.strips),
                                  static_cast<double>(held));
  }
  a.segments = (a.rows.outputs - 1) / a.segment_rows + 1;
  a.units = planes * a.segments * a.strips;
  launcher.template launch<Extremes, C>((a.units + Kernel::spans - 1) / Kernel::spans, a, false);
}

/// f<C>() for the kernel of a request that van-herk takes.
template <class F>
void with_van_herk(const FilterRequest& request, const F& f) {
  with_key(request.in, [&]<class Key>() {
    // A warp's strips have outputs in at least half of its lanes.
    using OfWarps = Extremes<NoMachine, ExtremesOf<Key, 1>>;
    if (cut_for_extremes(request.columns).size <= OfWarps::V * (OfWarps::places / 2 - 2))
      return f.template operator()<ExtremesOf<Key, 1>>();
    return f.template operator()<ExtremesOf<Key, 8>>();
  });
}

/// What van-herk needs, if it does not take the request.
inline std::string van_herk_takes(const FilterRequest& request) {
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  if (!std::holds_alternative<filter::Minimum>(request.filter) &&
      !std::holds_alternative<filter::Maximum>(request.filter))
    return "it takes minimum and maximum";
  if (request.mask || request.omit_nan) return "it takes neither masks nor nan omit";
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis / 4)
    return "it takes images of up to " + is(most_of_filter_axis / 4) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  std::int64_t most = 0;
  with_key(request.in, [&]<class Key>() { most = Extremes<NoMachine, ExtremesOf<Key, 8>>::most_width; });
  const std::int64_t width = cut_for_extremes(request.columns).size, height = cut_for_extremes(request.rows).size;
  if (width > most || height > most_of_filter_axis)
    return "it takes windows of up to " + is(most_of_filter_axis) + " rows and " + is(most) +
           " columns; this one has " + is(height) + " and " + is(width);
  return {};
}

}  // namespace areal::kernels
