#pragma once
// The carry of a piece of a larger image, for one tile of the look-back kernel. It is added to the gathered sums, as if
// there were one more row of tiles above and one more column to the left: written sums take no further additions. Each
// tile reads its own stretch, in one coalesced pass. Several tiles read the same values, which are then in the L2
// cache.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/carry_lines.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/sat/lookback/sum_pair.hpp"

namespace areal::kernels {

/// The image of the batch and the channel of this tile.
struct PlaneOfTile {
  std::int64_t batch, channel;
};
template <class K>
AREAL_DEVICE PlaneOfTile plane_of_tile(const K& k, typename K::Shared& s) {
  const std::int64_t image = k.m.get(s.ticket.image);
  if (image == 0) return {0, 0};
  return {image / k.a.channels, image % k.a.channels};
}

/// One table of a tile, whose sums of type T are kept alone or as half of a pair.
template <int which, class K>
AREAL_DEVICE void add_carry_of(K& k, typename K::Shared& s, int ty, int tx) {
  using T = std::remove_reference_t<decltype(one_of<which>(s.left[0]))>;
  const CarryLines& carry = k.a.carry[which];
  if (carry.empty()) return;
  const auto& m = k.m;
  const PlaneOfTile plane = plane_of_tile(k, s);
  const std::int64_t x0 = static_cast<std::int64_t>(tx) * K::tile_width,
                     y0 = static_cast<std::int64_t>(ty) * K::tile_height;
  const auto above = [&](std::int64_t x) {
    return load_carry_after<T>(m, carry.corner, carry.above, plane.batch, plane.channel, x);
  };
  const auto left = [&](std::int64_t y) {
    return load_carry_after<T>(m, carry.corner, carry.left, plane.batch, plane.channel, y);
  };
  const int i = m.thread();
  const bool in_rows = i < K::tile_height && y0 + i < k.a.height, in_columns = i < K::tile_width && x0 + i < k.a.width;
  T of_row = 0, of_column = 0;
  if (in_rows) of_row = left(y0 + i);
  if (in_columns) of_column = above(x0 + i);
  m.put(one_of<which>(s.thread_sums[0][i]), of_row);
  m.put(one_of<which>(s.thread_sums[1][i]), of_column);
  T before_row = 0, before_column = 0;
  if (i == 0) {  // the larger table's entries next to the tile's corner
    before_column = above(x0 - 1);
    before_row = y0 == 0 && tx == 0 ? before_column : left(y0 - 1);
    T corner = ty == 0 ? before_column : before_row;
    if (ty > 0 && tx > 0) corner += step_between(above(-1), before_column);
    T& more = one_of<which>(s.warp_sums[1][0]);
    m.put(more, m.get(more) + corner);
  }
  m.sync();
  if (i > 0) {
    if (in_rows) before_row = m.get(one_of<which>(s.thread_sums[0][i - 1]));
    if (in_columns) before_column = m.get(one_of<which>(s.thread_sums[1][i - 1]));
  }
  const auto add = [&](auto& sums, T more) {
    auto& sum = one_of<which>(sums);
    m.put(sum, m.get(sum) + more);
  };
  if (in_rows) {
    const T step = step_between(before_row, of_row);
    add(s.left[i], step);
    AREAL_UNROLL
    for (int p = 0; p < K::warps_x; ++p) add(s.row[p][i], step);
  }
  if (in_columns) add(k.cell(s.above, i), step_between(before_column, of_column));
  m.sync();
}

template <class K>
AREAL_DEVICE void add_carry(K& k, typename K::Shared& s, int ty, int tx) {
  add_carry_of<0>(k, s, ty, tx);
  if constexpr (K::both) add_carry_of<1>(k, s, ty, tx);
}

/// Writes the larger table's row above and column to the left next to a table's first tiles; `at` is the begin of the
/// thread's part of the tile.
template <int which, class T, class K>
AREAL_DEVICE void write_carried_edge(K& k, typename K::Shared& s, char* at, const Strides& out, int ty, int tx,
                                     const typename K::Place& place) {
  const auto& m = k.m;
  const CarryLines& carry = k.a.carry[which];
  const PlaneOfTile plane = plane_of_tile(k, s);
  const bool aligned = out.alignment != Alignment::bytes;
  if (tx == 0 && k.warp_x() == 0) {
    char* const column = at - m.lane() * K::V * out.column - out.column;
    for (int i = m.lane(); i < place.rows; i += warp_size)
      store_element(m, column + i * out.row, load_carry<T>(m, carry.left, plane.batch, plane.channel, place.y + i),
                    aligned);
  }
  if (ty == 0 && k.warp_y() == 0) {
    for (int v = 0; v < place.columns; ++v)
      store_element(m, at - out.row + v * out.column,
                    load_carry<T>(m, carry.above, plane.batch, plane.channel, place.x + v), aligned);
    if (tx == 0 && m.thread() == 0)
      store_element(m, at - out.row - out.column, load_carry<T>(m, carry.corner, plane.batch, plane.channel, 0),
                    aligned);
  }
}

}  // namespace areal::kernels
