#pragma once
// The request of a case for the simulated machine, and the rows that sums by blocks read.

#include <algorithm>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>
#include "device_filter_cases.hpp"
#include "formulas/block_order.hpp"
#include "kernels/filter/request.hpp"
#include "simt/plan.hpp"

namespace device_filters {

inline areal::kernels::FilterRequest request_of(const Case& c, const std::string& id) {
  const areal::Window w = window_of(c);
  const auto axis = [&](std::int64_t extent, std::int64_t size, std::int64_t anchor) -> areal::formulas::WindowAxis {
    if (w.edge == Edge::valid) return {extent, size, 0, std::max<std::int64_t>(0, extent - size + 1), Edge::valid};
    return {extent, size, anchor < 0 ? size / 2 : anchor, extent, w.edge};
  };
  areal::kernels::FilterRequest r;
  r.id = id;
  r.filter = c.filter, r.image = c.image, r.in = c.in, r.out = c.out;
  r.columns = axis(c.image.width, w.width, w.anchor_x), r.rows = axis(c.image.height, w.height, w.anchor_y);
  if (w.edge == Edge::valid)
    r.centre_x = w.anchor_x < 0 ? w.width / 2 : w.anchor_x, r.centre_y = w.anchor_y < 0 ? w.height / 2 : w.anchor_y;
  r.value = w.value;
  r.omit_nan = c.options.nan == areal::Missing::omit, r.mask = c.options.mask;
  r.guide = c.options.guide, r.guide_type = c.options.guide_type.value_or(c.in);
  r.min_count = std::holds_alternative<filter::Count>(c.filter) ? 0 : c.options.min_count;
  r.fill = c.options.fill.value_or(is_float(c.out) ? std::numeric_limits<double>::quiet_NaN() : 0);
  return r;
}

/// Runs a case on a workspace of its own; returns the launches' counts.
inline std::vector<areal::LaunchCounts> run(const Case& c, Scene& scene, const std::string& id) {
  using Subject = areal::kernels::FilterSubject;
  areal::simt::Options options;
  options.seed = c.seed, options.residents = 1 + static_cast<int>(c.seed % 4);
  const auto plan = areal::simt::make_plan<Subject>(request_of(c, id), options);
  std::vector<char> workspace(plan->workspace_bytes());
  plan->prepare(workspace.data(), areal::Stream::host());
  std::vector<areal::LaunchCounts> launches;
  const auto note = [&](const areal::LaunchCounts& launch) { launches.push_back(launch); };
  if (!plan->execute(scene.arguments(c, scene.out.view), workspace.data(), areal::Stream::host(), note))
    throw areal::DeviceError("the simulated machine does not run all blocks at once", false);
  return launches;
}

/// The number of image rows that a strip of sums by blocks reads if its segments have `each` output rows.
inline std::int64_t rows_read(const areal::kernels::FilterRequest& r, std::int64_t each) {
  std::int64_t rows = 0;
  const auto add = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t v = from; v < to; ++v) rows += v >= 0 && v < r.rows.extent;
  };
  for (std::int64_t y = 0; y < r.rows.outputs; y += each) {
    const std::int64_t end = std::min(y + each, r.rows.outputs), begin = y - r.rows.before;
    const std::int64_t last = end - 1 - r.rows.before;  // the last window's first row
    if (r.rows.size <= 8) {
      for (std::int64_t v = begin; v <= last; ++v) add(v, v + r.rows.size);
      continue;
    }
    add(areal::formulas::floor_div(begin, 8) * 8 + 8, last + r.rows.size);
    add(begin, areal::formulas::floor_div(last, 8) * 8 + 8);
  }
  return rows;
}

}  // namespace device_filters
