#pragma once
// all-partials (areal). 1 launch. Reads 1, writes 1 per element. Floats have the same bits every run on one kind of
// device; one that cannot hold all tiles at once runs lookback instead. The kernel is kernel.hpp; this file is its
// gather.
//
// Tiles row by row; each adds up the published sums of all tiles to the left, above, and left of those above: one hop,
// for images whose tiles are few and all resident at once.

#include <cstdint>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/sat/lookback/schedule.hpp"

namespace areal::kernels {

struct GatherAllPartials {
  static constexpr LookbackOrder order = LookbackOrder::direct;
  template <class K>
  AREAL_DEVICE static void gather(K& k, typename K::Shared& s, int ty, int tx) {
    using T = typename K::T;
    static constexpr int tile_height = K::tile_height, tile_width = K::tile_width, threads_per_row = K::threads_per_row;
    static constexpr int threads_per_column = K::threads / tile_width;  // threads that gather for one column
    static_assert(K::threads % tile_width == 0);
    const auto& m = k.m;
    const auto& a = k.a;
    const int y = m.thread() % tile_height, x = m.thread() % tile_width;
    const auto* const rows = a.rows + k.tile_at(ty, 0) * tile_height + y;
    const auto* const columns = a.columns + static_cast<std::int64_t>(tx) * tile_width + x;
    const std::int64_t down = static_cast<std::int64_t>(a.tiles_x) * tile_width;
    const int wide = tx * K::totals;  // totals of a row of tiles, up to this tile

    // All loads are issued before the first wait.
    auto left = kernels::gather<4>(m, k.epoch, m.thread() / tile_height, threads_per_row, tx,
                                   [=](int n) { return rows + static_cast<std::int64_t>(n) * tile_height; });
    auto above = kernels::gather<4>(m, k.epoch, m.thread() / tile_width, threads_per_column, ty,
                                    [=](int n) { return columns + n * down; });
    auto corner = kernels::gather<4>(m, k.epoch, m.thread(), K::threads, ty * wide, [=, &k](int n) {
      return k.a.totals + k.tile_at(n / wide, 0) * K::totals + n % wide;
    });
    m.put(s.thread_sums[0][m.thread()], left.sum());
    m.put(s.thread_sums[1][m.thread()], above.sum());
    k.put_corner(s, corner.sum());
    m.sync();
    if (m.thread() < tile_height) {
      T sum = 0;
      AREAL_UNROLL
      for (int p = 0; p < threads_per_row; ++p) sum += m.get(s.thread_sums[0][p * tile_height + y]);
      k.put_left(s, y, sum);
    }
    if (m.thread() < tile_width) {
      T sum = 0;
      AREAL_UNROLL
      for (int p = 0; p < threads_per_column; ++p) sum += m.get(s.thread_sums[1][p * tile_width + x]);
      m.put(k.cell(s.above, x), sum);
    }
    m.sync();
  }
};

}  // namespace areal::kernels
