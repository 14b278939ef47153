#pragma once
// The schedule of window-counts: how an image is cut into strips and segments.

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include "kernels/filter/constants.hpp"
#include "kernels/filter/counts/kernel.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Without what lies beyond the image where that is nothing.
inline formulas::WindowAxis cut_for_counts(const formulas::WindowAxis& axis) {
  if (axis.edge != Edge::shrink) return axis;
  formulas::WindowAxis cut = axis;
  cut.before = std::min(axis.before, axis.extent);
  cut.size = cut.before + 1 + std::min(axis.size - 1 - axis.before, axis.extent);
  return cut;
}

template <class Launcher>
void launch_window_counts(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  using Kernel = WindowCounts<NoMachine, NoConfig>;
  CountsArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  a.columns = FilterAxis(cut_for_counts(request.columns)), a.rows = FilterAxis(cut_for_counts(request.rows));
  a.channels = static_cast<int>(views.image.shape.channels);
  a.flip = is_signed_integer(request.in) ? 0x80 : 0;
  const double value = request.columns.edge == Edge::constant ? request.value : 0;
  a.beyond = element_of<std::uint8_t>(request.in, value) ^ a.flip;
  a.fill = element_of<std::uint8_t>(request.in, request.fill);
  a.percent = std::get<filter::Percentile>(request.filter).percent;
  a.min_count = request.min_count;
  const std::int64_t planes = views.image.shape.channels * views.image.shape.batch;
  a.strips = (a.columns.outputs - 1) / Kernel::threads + 1;
  // A row that only enters takes half the time of two, and less.
  a.segment_rows = segment_rows(a.rows.outputs, 2 + 0.4 * a.rows.size, static_cast<double>(planes * a.strips),
                                static_cast<double>(held_blocks<WindowCounts, NoConfig>(launcher)));
  a.segments = (a.rows.outputs - 1) / a.segment_rows + 1;
  launcher.template launch<WindowCounts, NoConfig>(planes * a.strips * a.segments, a, false);
}

/// What window-counts needs, if it does not take the request.
inline std::string window_counts_takes(const FilterRequest& request) {
  using Kernel = WindowCounts<NoMachine, NoConfig>;
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  if (!std::holds_alternative<filter::Percentile>(request.filter)) return "it takes percentiles";
  if (size_of(request.in) != 1) return "it takes 8u and 8s";
  if (request.mask) return "it takes no mask";
  const std::int64_t width = cut_for_counts(request.columns).size, height = cut_for_counts(request.rows).size;
  if (width > Kernel::most_width || height > Kernel::most_pixels / width)
    return "it takes windows of up to " + is(Kernel::most_width) + " columns and " + is(Kernel::most_pixels) +
           " pixels; this one has " + is(width) + " columns and " + is(height) + " rows";
  if (std::max(request.columns.extent, request.rows.extent) > most_of_filter_axis)
    return "it takes images of up to " + is(most_of_filter_axis) + " rows and columns; this one has " +
           is(request.rows.extent) + " and " + is(request.columns.extent);
  return {};
}

}  // namespace areal::kernels
