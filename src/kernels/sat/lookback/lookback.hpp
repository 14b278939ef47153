#pragma once
// lookback (areal). 1 launch. Reads 1, writes 1 per element; with squares reads 1 and writes 1 of each table. Floats
// have the same bits every run. The kernel is kernel.hpp; this file is its gather.
//
// Tiles row by row. Sideways a tile adds the published sums of the tiles to the left in its group, and the sums of the
// groups to the left, which each group's last tile publishes. Upwards it looks back to the nearest tile that has
// published its sums from the image's top, and then publishes its own.

#include <cstdint>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/sat/lookback/schedule.hpp"

namespace areal::kernels {

struct GatherByRows {
  static constexpr LookbackOrder order = LookbackOrder::rows;
  template <class K>
  AREAL_DEVICE static void gather(K& k, typename K::Shared& s, int ty, int tx) {
    using T = typename K::T;
    using Word = typename K::Word;
    static constexpr int tile_height = K::tile_height, tile_width = K::tile_width, threads_per_row = K::threads_per_row;
    const auto& m = k.m;
    const auto& a = k.a;
    const auto epoch = k.epoch;
    const int y = m.thread() % tile_height, nth = m.thread() / tile_height, x = m.thread();
    const int place = tx % a.group, group = tx / a.group;
    const std::int64_t at = k.tile_at(ty, tx);

    // All loads are issued before the first wait.
    auto corner = k.prefetch_corner(ty, tx);
    const std::int64_t row_of_tiles = static_cast<std::int64_t>(a.tiles_x) * tile_width;
    const Word* const above_from = a.columns + at * tile_width + x - row_of_tiles;
    typename K::Window up;
    if (x < tile_width && ty > 0) k.load_window(up, above_from, row_of_tiles, ty);
    const Word* const group_from = a.rows + (at - place) * tile_height + y;
    m.put(s.thread_sums[0][m.thread()],
          kernels::gather<K::loads_in_flight>(m, epoch, nth, threads_per_row, place, [=](int n) {
            return group_from + static_cast<std::int64_t>(n) * tile_height;
          }).sum());

    T down = 0;
    if (x < tile_width) {
      T above = 0;
      down = m.get(k.cell(s.above, x));
      if (ty > 0) {
        above = k.look_back(up, above_from, row_of_tiles, ty);
        down += above;
        if (ty + 1 < a.tiles_y)
          store_word(m, a.columns + at * tile_width + x, Word{down, epoch_with(epoch, TileStatus::inclusive)});
      }
      m.put(k.cell(s.above, x), above);
    }
    k.put_total(s, down);
    m.sync();
    k.store_total(s, ty, tx);
    T left = 0;
    if (m.thread() < tile_height) {
      AREAL_UNROLL
      for (int p = 0; p < threads_per_row; ++p) left += m.get(s.thread_sums[0][p * tile_height + y]);
    }
    if (a.groups > 1) {
      Word* const sums = a.group_sums + static_cast<std::int64_t>(ty) * a.groups * tile_height + y;
      if (m.thread() < tile_height && place == a.group - 1 && group + 1 < a.groups)
        store_word(m, sums + static_cast<std::int64_t>(group) * tile_height,
                   Word{left + k.row_sum(s, y), epoch_with(epoch, TileStatus::partial)});
      m.put(s.thread_sums[1][m.thread()],
            kernels::gather<K::loads_in_flight>(m, epoch, nth, threads_per_row, group, [=](int n) {
              return sums + static_cast<std::int64_t>(n) * tile_height;
            }).sum());
    }
    k.put_corner(s, corner.sum());
    if (a.groups > 1) m.sync();
    if (m.thread() < tile_height) {
      if (a.groups > 1) {
        AREAL_UNROLL
        for (int p = 0; p < threads_per_row; ++p) left += m.get(s.thread_sums[1][p * tile_height + y]);
      }
      k.put_left(s, y, left);
    }
    m.sync();
  }
};

}  // namespace areal::kernels
