#pragma once
// lookback-diagonal (areal). 1 launch. Reads 1, writes 1 per element. Floats have the same bits every run. The kernel
// is kernel.hpp; this file is its gather.
//
// Tiles along anti-diagonals. To the left and upwards a tile looks back to the nearest one that has published its sums
// from the image's edge, and then publishes its own: both neighbours have begun a diagonal earlier, but only large
// images have diagonals that fill the machine.

#include <cstdint>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/sat/lookback/schedule.hpp"

namespace areal::kernels {

struct GatherAlongDiagonals {
  static constexpr LookbackOrder order = LookbackOrder::diagonals;
  template <class K>
  AREAL_DEVICE static void gather(K& k, typename K::Shared& s, int ty, int tx) {
    using T = typename K::T;
    using Word = typename K::Word;
    static constexpr int tile_height = K::tile_height, tile_width = K::tile_width;
    static_assert(tile_width + tile_height <= K::threads);
    const auto& m = k.m;
    const auto& a = k.a;
    const std::int64_t at = k.tile_at(ty, tx);
    auto corner = k.prefetch_corner(ty, tx);
    T down = 0;
    if (m.thread() < tile_width + tile_height) {
      const bool columns = m.thread() < tile_width;
      const int n = columns ? m.thread() : k.row_of_thread(), count = columns ? ty : tx;
      Word* const word = columns ? a.columns + at * tile_width + n : a.rows + at * tile_height + n;
      const std::int64_t stride = columns ? static_cast<std::int64_t>(a.tiles_x) * tile_width : tile_height;
      T beyond = 0;
      const T own = columns ? m.get(k.cell(s.above, n)) : k.row_sum(s, n);
      if (count > 0) {
        typename K::Window up;
        k.load_window(up, word - stride, stride, count);
        beyond = k.look_back(up, word - stride, stride, count);
        if (count + 1 < (columns ? a.tiles_y : a.tiles_x))
          store_word(m, word, Word{static_cast<T>(beyond + own), epoch_with(k.epoch, TileStatus::inclusive)});
      }
      if (columns) {
        down = beyond + own;
        m.put(k.cell(s.above, n), beyond);
      } else {
        k.put_left(s, n, beyond);
      }
    }
    k.put_total(s, down);
    k.put_corner(s, corner.sum());
    m.sync();
    k.store_total(s, ty, tx);
  }
};

}  // namespace areal::kernels
