#pragma once
// The schedule of window-counts: how an image is cut into strips and segments. The workspace begins with a table.

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include "kernels/filter/constants.hpp"
#include "kernels/filter/counts/kernel.hpp"
#include "kernels/filter/level_tables.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/segments.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

inline CountsStatistic counts_statistic(const Filter& filter) {
  if (std::holds_alternative<filter::Equalize>(filter)) return CountsStatistic::equalize;
  if (std::holds_alternative<filter::Otsu>(filter)) return CountsStatistic::otsu;
  if (std::holds_alternative<filter::Entropy>(filter)) return CountsStatistic::entropy;
  if (std::holds_alternative<filter::Modal>(filter)) return CountsStatistic::modal;
  if (std::holds_alternative<filter::Bilateral>(filter)) return CountsStatistic::bilateral;
  return CountsStatistic::percentile;
}

/// f<C>() for the configuration of a request.
template <class F>
void with_counts(const FilterRequest& request, const F& f) {
  switch (counts_statistic(request.filter)) {
    case CountsStatistic::percentile:
      return f.template operator()<CountsOf<CountsStatistic::percentile>>();
    case CountsStatistic::entropy:
      return f.template operator()<CountsOf<CountsStatistic::entropy>>();
    default:
      return f.template operator()<OtherCounts>();
  }
}

template <class C, class Launcher>
void launch_window_counts(Launcher& launcher, const FilterRequest& request, const FilterArguments& views,
                          void* workspace) {
  using Kernel = WindowCounts<NoMachine, C>;
  CountsArgs a{};
  a.image = static_cast<const char*>(views.image.data), a.out = static_cast<char*>(views.out.data);
  a.from = strides(views.image), a.to = strides(views.out);
  if (request.mask) a.mask = static_cast<const char*>(views.mask.data), a.mask_from = strides(views.mask);
  a.columns = FilterAxis(cut_for_counts(request.columns)), a.rows = FilterAxis(cut_for_counts(request.rows));
  a.channels = static_cast<int>(views.image.shape.channels);
  a.flip = is_signed_integer(request.in) ? 0x80 : 0;
  const double value = request.columns.edge == Edge::constant ? request.value : 0;
  a.beyond = element_of<std::uint8_t>(request.in, value) ^ a.flip;
  a.statistic = counts_statistic(request.filter);
  if (const auto* const one = std::get_if<filter::Percentile>(&request.filter)) a.percent = one->percent;
  if (const auto* const one = std::get_if<filter::Otsu>(&request.filter)) a.zeros_alone = one->zeros_alone;
  if (const auto* const one = std::get_if<filter::Bilateral>(&request.filter))
    a.reach = formulas::range_reach(one->sigma_range);
  a.table = workspace == nullptr ? nullptr : first_in(workspace);
  a.most = static_cast<int>(counted_pixels(request));
  a.centre_x = static_cast<int>(request.centre_x), a.centre_y = static_cast<int>(request.centre_y);
  a.out_type = request.out;
  const std::size_t element = size_of(request.out);
  a.out_aligned = alignment_of(views.out.data, a.to, element, element) != Alignment::bytes;
  a.fill = request.fill, a.fill_pixel = element_of<std::uint8_t>(request.out, request.fill);
  a.min_count = std::max<std::int64_t>(1, request.min_count);
  const std::int64_t planes = views.image.shape.channels * views.image.shape.batch;
  a.strips = (a.columns.outputs - 1) / Kernel::threads + 1;
  // A row that only enters takes half the time of two, and less.
  a.segment_rows = segment_rows(a.rows.outputs, 2 + 0.4 * a.rows.size, static_cast<double>(planes * a.strips),
                                static_cast<double>(held_blocks<WindowCounts, C>(launcher)));
  a.segments = (a.rows.outputs - 1) / a.segment_rows + 1;
  launcher.template launch<WindowCounts, C>(planes * a.strips * a.segments, a, false);
}

/// What window-counts needs, if it does not take the request.
inline std::string window_counts_takes(const FilterRequest& request) {
  using Kernel = WindowCounts<NoMachine, OtherCounts>;
  const auto is = [](std::int64_t n) { return std::to_string(n); };
  if (!std::holds_alternative<filter::Percentile>(request.filter) &&
      counts_statistic(request.filter) == CountsStatistic::percentile)
    return "it takes percentiles, equalize, otsu, entropy, modal and bilateral filters";
  if (size_of(request.in) != 1) return "it takes 8u and 8s";
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
