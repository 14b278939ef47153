#pragma once
// held (areal). 1 launch. Reads 1, writes 1 per element; with squares reads 1 and writes 1 of each table. Floats are
// the same every run. The kernel is device/held/kernel.hpp; here is how it gathers.
//
// Tiles row by row. Sideways a tile adds what the tiles to the left in its group of tiles have published, and the
// groups' sums, which each group's last tile publishes. Upwards it looks back to the nearest tile that has published
// its sums from the image's top, which it then does itself.

#include <cstdint>
#include "kernels/primitives/handover.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/sat/lookback/schedule.hpp"

namespace areal::kernels {

template <class K>
AREAL_DEVICE void gather_by_rows(K& k, typename K::Shared& s, int ty, int tx) {
  using T = typename K::T;
  using Word = typename K::Word;
  static constexpr int tile_height = K::tile_height, tile_width = K::tile_width, parts = K::parts;
  const auto& m = k.m;
  const auto& a = k.a;
  const auto tag = k.tag;
  const int y = m.thread() % tile_height, part = m.thread() / tile_height, x = m.thread();
  const int place = tx % a.group, group = tx / a.group;
  const std::int64_t at = k.tile_at(ty, tx);

  // Everything is asked for before anything is waited for.
  auto corner = k.ask_corner(ty, tx);
  const std::int64_t row_of_tiles = static_cast<std::int64_t>(a.tiles_x) * tile_width;
  const Word* const above_from = a.columns + at * tile_width + x - row_of_tiles;
  typename K::Window up;
  if (x < tile_width && ty > 0) k.look(up, above_from, row_of_tiles, ty);
  const Word* const group_from = a.rows + (at - place) * tile_height + y;
  m.put(s.part[0][m.thread()], gather<K::asked>(m, tag, part, parts, place, [=](int n) {
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
        post_word(m, a.columns + at * tile_width + x, Word{down, static_cast<typename K::Tag>(tag + 1)});
    }
    m.put(k.cell(s.above, x), above);
  }
  k.put_total(s, down);
  m.sync();
  k.post_total(s, ty, tx);
  T left = 0;
  if (m.thread() < tile_height) {
    AREAL_UNROLL
    for (int p = 0; p < parts; ++p) left += m.get(s.part[0][p * tile_height + y]);
  }
  if (a.groups > 1) {
    Word* const sums = a.beside + static_cast<std::int64_t>(ty) * a.groups * tile_height + y;
    if (m.thread() < tile_height && place == a.group - 1 && group + 1 < a.groups)
      post_word(m, sums + static_cast<std::int64_t>(group) * tile_height, Word{left + k.row_sum(s, y), tag});
    m.put(s.part[1][m.thread()], gather<K::asked>(m, tag, part, parts, group, [=](int n) {
                                   return sums + static_cast<std::int64_t>(n) * tile_height;
                                 }).sum());
  }
  k.put_corner(s, corner.sum());
  if (a.groups > 1) m.sync();
  if (m.thread() < tile_height) {
    if (a.groups > 1) {
      AREAL_UNROLL
      for (int p = 0; p < parts; ++p) left += m.get(s.part[1][p * tile_height + y]);
    }
    k.put_left(s, y, left);
  }
  m.sync();
}

}  // namespace areal::kernels
