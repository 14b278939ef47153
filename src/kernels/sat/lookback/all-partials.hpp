#pragma once
// all-partials (areal). 1 launch. Reads 1, writes 1 per element. Floats have the same bits every run on one kind of
// device; one that cannot hold all tiles at once runs lookback instead. The kernel is kernel.hpp; this file is its
// gather, and the shapes of its tiles for small images.
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
    auto left =
        kernels::gather<K::loads_in_flight>(m, k.epoch, m.thread() / tile_height, threads_per_row, tx,
                                            [=](int n) { return rows + static_cast<std::int64_t>(n) * tile_height; });
    auto above = kernels::gather<K::loads_in_flight>(m, k.epoch, m.thread() / tile_width, threads_per_column, ty,
                                                     [=](int n) { return columns + n * down; });
    auto corner = kernels::gather<K::loads_in_flight>(m, k.epoch, m.thread(), K::threads, ty * wide, [=, &k](int n) {
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

/// Tiles of 64 rows instead of 128, for has_low_tiles. One H200, us between events, of 128 and of 64
/// rows: 8u32u 512x512 12.4, 11.2; 1024x1024 11.8, 11.3, border zero 13.5, 11.7; 1280x720 11.8, 11.0. 32f32f 512x512
/// 12.7, 11.2; 1024x1024 13.8, 12.7, border zero 13.9, 12.3; 1280x720 12.6, 11.5. No faster for 1920x1080.
template <class In_, class T_, bool reverse_>
struct LookbackLowConfig : LookbackConfig<In_, T_, GatherAllPartials, reverse_> {
  static constexpr int warps_x = 1, warps_y = 16, rows_per_warp = 4, resident = 2, loads_in_flight = 2;
};
/// True if the tiles are low: at most one for each multiprocessor of an H200, and 32 in a column, as each adds
/// up all above it. The same on all devices, because the bits of floats depend on it.
inline bool has_low_tiles(const Shape& image) {
  const std::int64_t across = (image.width + 127) / 128, down = (image.height + 63) / 64;
  return down <= 32 && image.batch * image.channels * across * down <= 132;
}

/// A sum and a sum of squares, in tiles of 128 columns and 16 times `rows` rows. One H200, 8u32u with 64u, us
/// between events, by tickets and at once with 4 and 8 rows: 512x512 22.6, 16.0, 18.1; 1024x1024 22.9, 15.3, 17.2,
/// border zero 28.0, 16.7, 20.1; 1920x1080 29.9, 20.4, 22.6; 2048x2048 28.5, -, 26.8, border zero 34.8, -, 30.9.
template <class In_, class T_, class Squares, int rows>
struct LookbackSquaresAtOnce : LookbackSquaresConfig<In_, T_, Squares, GatherAllPartials> {
  static constexpr bool together = true;
  static constexpr int most_across = 32;  // tiles of a line: each adds up all the others
  static constexpr int warps_x = 1, warps_y = 16, rows_per_warp = rows, resident = 2;
  static constexpr int loads_in_flight = 1;  // more spill
};

}  // namespace areal::kernels
