#pragma once
// extended-boxes: Gaussians by boxes that repeat (Gwosdek et al. 2011), two launches. What it takes.

#include <algorithm>
#include <cstdint>
#include <string>
#include "formulas/block_order.hpp"
#include "kernels/filter/gaussian/schedule.hpp"

namespace areal::kernels {

/// What the kernel needs, if it does not take the request. An axis without a wide sigma has weights.
inline std::string extended_boxes_takes(const FilterRequest& request) {
  if (!is_gaussian(request)) return "it takes Gaussians";
  const GaussianAxes axes(request);
  const std::int64_t window = std::max(axes.columns.window(), axes.rows.window());
  if (formulas::block_of_window(window) != GaussianLines<NoMachine, NoConfig>::block)
    return "it takes boxes of up to 512 pixels; this one has " + std::to_string(window);
  return gaussian_lines_take(request);
}

}  // namespace areal::kernels
