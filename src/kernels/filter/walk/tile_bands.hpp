#pragma once
// Which means and thresholds of bytes the products of warpgroups take, on devices that have them.

#include <algorithm>
#include <cstdint>
#include "kernels/filter/walk/bands.hpp"
#include "kernels/filter/walk/tile_bands_kernel.hpp"
#include "kernels/filter/walk/tile_decide_kernel.hpp"

namespace areal::kernels {

/// Windows that a kernel takes.
template <class Kernel>
bool tile_bands_reach(const FilterRequest& request) {
  const std::int64_t after = request.columns.size - 1 - request.columns.before;
  return bands_margin(request, Kernel::margin_unit) + Kernel::each + after <= Kernel::reach &&
         request.rows.size + Kernel::chunk - 1 <= 32 * Kernel::steps;
}

/// Windows of up to 15 columns and rows that stay with the other kernels. With edge `shrink` all of them, as counting
/// the pixels of windows at the edge takes a third of the time (one H200, 8192x8192, 17x17: 84 us, else 59). Else in
/// large images: those of up to 8 rows (8192x8192, 3x3: 59 us, Walk 50; 1920x1080: 13.5 and 15.5), and beyond 2^26
/// pixels the others (16384x16384, 15x15: 203 and 184; 8192x8192: 59 and 56, but on an H100 64 and 76).
inline bool few_pixels_stay(const FilterRequest& request) {
  const formulas::WindowAxis &columns = request.columns, &rows = request.rows;
  if (columns.size > 15 || rows.size > 15) return false;
  const std::int64_t most = rows.size <= few_rows_of_bands ? std::int64_t{1} << 23 : std::int64_t{1} << 26;
  return columns.edge == Edge::shrink || columns.outputs * rows.outputs > most;
}

/// Calls f<C>() for the kernel of these means, if there is one.
template <class F>
void with_tile_bands(const FilterRequest& request, const F& f) {
  if (few_pixels_stay(request)) return;
  if (!bands_serve<TileBandMeans<NoMachine, MeansByTileBands<3, WalkOutput::even>>>(request)) return;
  with_output_of_bands(request, [&]<WalkOutput output>() {
    if (tile_bands_reach<TileBandMeans<NoMachine, MeansByTileBands<3, output>>>(request))
      f.template operator()<MeansByTileBands<3, output>>();
    else if (tile_bands_reach<TileBandMeans<NoMachine, MeansByTileBands<4, output>>>(request))
      f.template operator()<MeansByTileBands<4, output>>();
  });
}

/// The same for thresholds with a deviation. With edge `shrink` WalkBytesDecide takes a half of the time: windows at
/// the edge are decided in double, which delays all windows of a block.
template <class F>
void with_tiles_that_decide(const FilterRequest& request, const F& f) {
  const FilterFinish finish(request);
  if (finish.statistic != FilterStatistic::threshold || !finish.quick || !finish.needs_squares() ||
      request.in != Type::u8 || request.out != Type::u8 || request.centre_x != 0 ||
      request.columns.edge == Edge::shrink)
    return;
  const auto n = static_cast<std::uint32_t>(request.columns.size * request.rows.size);
  if (!TileDecide(finish, n, static_cast<int>(request.columns.size)).finite()) return;
  const auto by = [&]<int steps, bool simple>() {
    using Kernel = TileBandDecide<NoMachine, DecidesByTileBands<steps, simple>>;
    const bool taken = bands_load<Kernel>(request) && tile_bands_reach<Kernel>(request);
    if (taken) f.template operator()<DecidesByTileBands<steps, simple>>();
    return taken;
  };
  if (finish.local.method == filter::Local::sauvola)
    by.template operator()<3, true>() || by.template operator()<4, true>();
  else
    by.template operator()<3, false>() || by.template operator()<4, false>();
}

/// The time of a chunk of the first or the last strip, whose columns beyond the edge are filled or counted, in chunks
/// of others.
inline constexpr double outer_chunk = 1.25;

/// Cuts strips into segments of whole chunks, for the least number of chunks that any of `held` blocks at once has to
/// work on one after the other. A segment takes as long as one chunk more.
template <class Kernel>
void cut_tile_bands(typename Kernel::Args& a, std::int64_t planes, std::int64_t held) {
  const bool sided = a.columns.copies() || a.columns.edge == Edge::shrink;
  a.outer = sided && a.strips > 2 ? 1 : 0;
  const std::int64_t chunks = (a.rows.outputs - 1) / Kernel::chunk + 1, inner = a.strips - 2 * a.outer;
  // The segments of `each` chunks in a strip; as well the chunks of each of so many segments.
  const auto segments_of = [&](std::int64_t each) { return (chunks - 1) / each + 1; };
  // Of segments of `each` chunks: the chunks of those of the first and the last strip, and the number of all.
  const auto outer_of = [](std::int64_t each) {
    const auto fewer = static_cast<std::int64_t>(static_cast<double>(each + 1) / outer_chunk) - 1;
    return std::max<std::int64_t>(1, fewer);
  };
  const auto blocks_of = [&](std::int64_t each) {
    return planes * (inner * segments_of(each) + 2 * a.outer * segments_of(outer_of(each)));
  };
  const double strips = static_cast<double>(planes) * (static_cast<double>(inner) + 2 * outer_chunk * a.outer);
  // In one to four waves of blocks: the shortest segments that make no more blocks.
  std::int64_t best = 0, least = 0;
  for (std::int64_t waves = 1; waves <= 4; ++waves) {
    auto n = std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(waves * held) / strips), 1, chunks);
    while (n > 1 && blocks_of(segments_of(n)) > waves * held) --n;
    const std::int64_t each = segments_of(n), time = ((blocks_of(each) - 1) / held + 1) * (each + 1);
    if (least == 0 || time < least) least = time, best = each;
  }
  const std::int64_t outer = outer_of(best);
  a.segments = static_cast<int>(segments_of(best)), a.segment_rows = static_cast<int>(best * Kernel::chunk);
  a.outer_segments = static_cast<int>(segments_of(outer)), a.outer_rows = static_cast<int>(outer * Kernel::chunk);
  a.outer_units = planes * 2 * a.outer * a.outer_segments;
  a.units = planes * inner * a.segments + a.outer_units;
}

template <template <class, class> class K, class C, class Launcher>
void launch_tile_bands(Launcher& launcher, const FilterRequest& request, const FilterArguments& views) {
  using Kernel = K<NoMachine, C>;
  typename Kernel::Args a{};
  set_bands<Kernel>(a, request, views, sizeof(typename Kernel::Vector));
  if constexpr (requires { a.decide; }) {
    a.finish = FilterFinish(request);
    a.decide = TileDecide(a.finish, static_cast<std::uint32_t>(a.columns.size * a.rows.size), a.columns.size);
  }
  cut_tile_bands<Kernel>(a, views.image.shape.channels * views.image.shape.batch, held_blocks<K, C>(launcher));
  launcher.template launch<K, C>(a.units, a, false);
}

}  // namespace areal::kernels
