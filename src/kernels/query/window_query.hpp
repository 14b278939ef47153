#pragma once
// Sums, means, variances and standard deviations of dense windows: the kernels of a request. 1 launch, or 2 where a
// walk answers the windows inside.

#include "kernels/query/window_walk.hpp"

namespace areal::kernels {

/// Launches a walk and leaves the other blocks to `Windows`: the rim, or all of them if no walk takes these windows.
template <class Launcher>
void launch_walk_of(Launcher& launcher, WindowsArgs& a) {
  const bool all = formulas::finishes_alike(a.columns.edge, a.statistic != Statistic::sum);
  WindowsArgs walked = a;
  if (all) walked.inner = {0, a.out.width, 0, a.out.height};
  const WindowRange& range = walked.inner;
  if (range.left >= range.right || range.top >= range.bottom) return;
  if (!a.sum.aligned || !a.out.aligned || a.sum.column != sizeof(std::uint32_t)) return;
  if (launch_window_walk<WindowRing<113 * 1024, 12, 2>>(launcher, walked) ||
      launch_window_walk<WindowRing<227 * 1024, 16, 1>>(launcher, walked))
    a.plane_blocks = all ? 0 : a.rim_blocks;
}

template <class Launcher>
void run_query(Launcher& launcher, const WindowsRequest& request) {
  const OutputArgs out = output_args(request.out);
  const bool varies = request.statistic != Statistic::sum && request.statistic != Statistic::mean;
  const bool opencv = request.rounding == Rounding::opencv && request.statistic == Statistic::mean;
  const auto pixels = static_cast<std::uint64_t>(request.columns.size) * static_cast<std::uint64_t>(request.rows.size);
  const bool serves = formulas::FixedPointMean::serves(pixels);
  WindowsArgs a{table_args(request.sum.view, request.sum.border),
                request.squares ? table_args(request.squares->view, request.squares->border) : TableArgs{},
                request.columns,
                request.rows,
                request.statistic,
                out,
                request.beyond,
                request.squares_beyond,
                plane_args(request.sum.view),
                {},
                {},
                {},
                high_window_tile,
                0,
                0,
                0,
                opencv && out.type == Type::u8 && !is_float(request.sum.view.type),
                opencv && out.type == Type::f64,
                pixels,
                formulas::FixedPointMean(serves ? static_cast<std::uint32_t>(pixels) : 2),
                request.statistic == Statistic::mean && out.type == Type::u8 && !is_float(request.sum.view.type) &&
                    formulas::RoundedMean::serves(pixels, 255),
                {},
                0};
  if (a.rounded_means) {
    a.rounded = formulas::RoundedMean(static_cast<std::uint32_t>(pixels));
    a.most = static_cast<std::uint32_t>(255 * pixels + (pixels - 1) / 2);
  }
  const WindowRange inner = a.inner = inner_windows(a, varies);
  const WindowRange rim[rim_ranges] = {{0, out.width, 0, inner.top},
                                       {0, inner.left, inner.top, inner.bottom},
                                       {inner.right, out.width, inner.top, inner.bottom},
                                       {0, out.width, inner.bottom, out.height}};
  for (int i = 0; i < rim_ranges; ++i) {
    a.rim[i] = rim[i];
    a.rim_first[i] = a.rim_blocks;
    a.rim_blocks += rim[i].blocks(warp_size, window_threads(varies) / warp_size);
  }
  if (!varies && request.columns.size <= most_overlap)
    a.overlap = static_cast<int>((request.columns.size + warp_size - 1) / warp_size * warp_size);
  const std::int64_t across = window_threads(varies) - a.overlap, high = inner.blocks(across, high_window_tile);
  if (a.planes.count * high < least_of_high_window_tiles) a.tile_rows = low_window_tile;
  a.plane_blocks = a.rim_blocks + inner.blocks(across, a.tile_rows);
  with_element(a.sum, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, std::uint32_t>)
      if (!varies && request.walks) launch_walk_of(launcher, a);
    const std::int64_t blocks = a.planes.count * a.plane_blocks;
    if (blocks == 0) return;  // the walk answers all windows
    if (varies)
      launcher.template launch<Windows, WindowsConfig<T, true>>(blocks, a, false);
    else
      launcher.template launch<Windows, WindowsConfig<T, false>>(blocks, a, false);
  });
}

}  // namespace areal::kernels
