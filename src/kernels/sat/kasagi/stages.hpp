#pragma once
// Anti-diagonals of tiles, a launch each, for 1R1W and between the triangles of (1+r)R1W (Kasagi 2014, VI and VII): a
// tile's carries are differences of the finished sums around it, the row above it and the column to its left, which its
// neighbour saved. Reads 1 and 2/w + 1/w^2, writes 1 and 1/w per element. Blocks of 128 threads, a tile each.

#include <algorithm>
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/kasagi/block.hpp"

namespace areal::kernels {

struct StageArgs {
  Plain p;
  Matrix right;  ///< [tile x][y]: the last columns of the tiles
  std::int64_t tiles_x = 0;
  std::int64_t stage = 0;  ///< tile y + tile x
  std::int64_t first = 0;  ///< the least tile y
};

template <class M, class C>
struct SumStage {
  using In = typename C::In;
  using T = typename C::T;
  static constexpr int w = C::w;
  using Args = StageArgs;
  struct Shared {
    DiagonalTile<T, w> tile;
    // The finished sums around the tile, from the left column's lowest up to the corner and along the row above: an
    // element and the one before it are adjacent, so reading both has no bank conflict.
    T around[2 * w + 1];

    AREAL_DEVICE T& above(int k) { return around[w + 1 + k]; }  // above(-1) is left(-1), the corner
    AREAL_DEVICE T& left(int k) { return around[w - 1 - k]; }
  };
  static constexpr int threads = block_threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t tile_y = a.first + m.block(), tile_x = a.stage - tile_y;
    const BlockAt at = block_at(tile_y, tile_x, w, a.p.height, a.p.width);
    const BlockTile<M, T, w> tile{m, s.tile};
    tile.template load_tile<In>(a.p.in, at);
    const int k = m.thread();
    if (k < w) {
      m.put(s.above(k), at.y > 0 && k < at.columns ? load<T, T>(m, a.p.out, at.y - 1, at.x + k) : T(0));
      m.put(s.left(k), at.x > 0 && k < at.rows ? load<T, T>(m, a.right, tile_x - 1, at.y + k) : T(0));
      if (k == 0) m.put(s.above(-1), at.y > 0 && at.x > 0 ? load<T, T>(m, a.p.out, at.y - 1, at.x - 1) : T(0));
    }
    m.sync();
    if (k < w && at.y > 0 && k < at.columns) tile.add(0, k, m.get(s.above(k)) - m.get(s.above(k - 1)));
    m.sync();
    if (k < w && at.x > 0 && k < at.rows) tile.add(k, 0, m.get(s.left(k)) - m.get(s.left(k - 1)));
    m.sync();
    if (k == 0) tile.add(0, 0, m.get(s.above(-1)));
    tile.sum_up();
    tile.store_tile(a.p.out, at);
    if (tile_x + 1 < a.tiles_x) tile.save_right(a.right, tile_x, at);
  }
};

/// The saved columns of a plain algorithm on tiles.
template <class T, int w>
Matrix right_columns(const TableGeometry& p, Workspace& from) {
  T* first = nullptr;
  from.take(first, std::max<std::int64_t>(0, blocks_of(p.width, w) - 1) * p.height);
  return {reinterpret_cast<char*>(first), p.height * static_cast<std::int64_t>(sizeof(T)), true};
}

/// Stages from `begin` to before `end`.
template <class C, class Launcher>
void sum_stages(Launcher& launcher, const Plain& p, const Matrix& right, std::int64_t begin, std::int64_t end) {
  const std::int64_t tiles_y = blocks_of(p.height, C::w), tiles_x = blocks_of(p.width, C::w);
  for (std::int64_t stage = begin; stage < end; ++stage) {
    const std::int64_t first = std::max<std::int64_t>(0, stage - tiles_x + 1), last = std::min(stage, tiles_y - 1);
    launcher.template launch<SumStage, C>(last - first + 1, {p, right, tiles_x, stage, first}, false);
  }
}

}  // namespace areal::kernels
