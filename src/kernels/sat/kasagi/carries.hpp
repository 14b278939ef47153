#pragma once
// The carries of 2R1W (Kasagi 2014, V) and of the triangles of (1+r)R1W (VII): the sums of tiles' columns, rows and
// wholes become the sums above a tile's columns, left of its rows, and above and left of it.
//
//   SumTiles     step 1: each tile is read; its column sums, row sums (transposed, so that they are scanned coalesced)
//                and sum are written
//   ScanCarries  step 2: scans the column sums down the columns and the row sums along the rows, and turns the tiles'
//                sums into their own table: by one block if they fit its tile, else by the same three steps one level
//                deeper, which this launch begins with step 1
//   SumBlocks    step 3: each tile is read again, its carries added, summed and written
//
// A level is one matrix with its tiles. It can be a triangle of a square of side k: `upper` the tiles (i, j) with i + j
// < k, `lower` those with i + j >= k - 1, whose carries begin with the finished sums above and left of them.

#include <algorithm>
#include <array>
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/kasagi/block.hpp"

namespace areal::kernels {

enum class Part : std::uint8_t { all, upper, lower };

struct Level {
  Matrix from, to;
  std::int64_t height = 0, width = 0;   ///< of the matrix
  std::int64_t tile_y = 0, tile_x = 0;  ///< the first tile
  std::int64_t tiles_y = 0, tiles_x = 0;
  Part part = Part::all;
  /// The carries of tile (i, j): columns[i - skipped][x], rows[j - skipped][y] and, once it is a table, corners[i -
  /// skipped][j - skipped]; x and y count from the first tile. The first tiles have no carries, except in `lower`.
  Matrix columns, rows, corners;
  Matrix right;  ///< of a triangle: [tile x][y] the last columns of tiles, see stages.hpp

  AREAL_BOTH int skipped() const { return part == Part::lower ? 0 : 1; }
  AREAL_BOTH std::int64_t corners_y() const { return tiles_y - skipped(); }
  AREAL_BOTH std::int64_t corners_x() const { return tiles_x - skipped(); }
  AREAL_BOTH bool has(std::int64_t i, std::int64_t j) const {
    return part == Part::all || (part == Part::upper ? i + j < tiles_y : i + j >= tiles_y - 1);
  }
};

/// A table with finished sums outside the tiles: the sum before (y, x).
template <class T, class M>
AREAL_DEVICE T corner_before(const M& m, const Matrix& table, std::int64_t y, std::int64_t x) {
  return load<T, T>(m, table, y - 1, x - 1);
}

/// Step 1 for one tile, by all threads of a block.
template <class From, class T, int w, class M>
AREAL_DEVICE void sum_tile(const M& m, DiagonalTile<T, w>& shared, T (&sums)[w], const Level& level,
                           std::int64_t tile) {
  const std::int64_t i = tile / level.tiles_x, j = tile % level.tiles_x;
  const int k = m.thread();
  const auto corner = [&](std::int64_t y, std::int64_t x, T value) {
    const int skipped = level.skipped();
    if (k == 0 && y < level.tiles_y && x < level.tiles_x) store(m, level.corners, y - skipped, x - skipped, value);
  };
  if (!level.has(i, j)) {  // nothing is added there
    if (level.part == Part::upper)
      corner(i + 1, j + 1, T(0));
    else
      corner(i, j, T(0));
    return;
  }
  const BlockAt at = block_at(level.tile_y + i, level.tile_x + j, w, level.height, level.width);
  if (level.part == Part::lower && i + j <= level.tiles_y && k == 0) {
    // So that the corners' table is part of the finished one on the two diagonals where it ends.
    T value = corner_before<T>(m, level.to, at.y, at.x);
    if (i + j == level.tiles_y) {
      value -= corner_before<T>(m, level.to, at.y - w, at.x);
      value -= corner_before<T>(m, level.to, at.y, at.x - w);
    }
    corner(i, j, value);
  }
  const BlockTile<M, T, w> block{m, shared};
  block.template load_tile<From>(level.from, at);
  m.sync();
  if (k < w) {
    const T sum = block.column_sum(k);
    m.put(sums[k], sum);
    if (i + 1 < level.tiles_y && k < at.columns)
      store(m, level.columns, i + 1 - level.skipped(), at.x - level.tile_x * w + k, sum);
    const T across = block.row_sum(k);
    if (j + 1 < level.tiles_x && k < at.rows)
      store(m, level.rows, j + 1 - level.skipped(), at.y - level.tile_y * w + k, across);
  }
  m.sync();
  if (k == 0) {
    T sum = 0;
    for (int n = 0; n < w; ++n) sum += m.get(sums[n]);
    corner(i + 1, j + 1, sum);
  }
}

template <class M, class C>
struct SumTiles {
  using In = typename C::In;
  using T = typename C::T;
  static constexpr int w = C::w;
  using Args = Level;
  struct Shared {
    DiagonalTile<T, w> tile;
    T sums[w];
  };
  static constexpr int threads = block_threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    sum_tile<In>(m, s.tile, s.sums, a, m.block());
  }
};

struct ScanCarriesArgs {
  Level level;
  Level deeper;  ///< of the corners, if they do not fit one tile
  std::int64_t column_blocks = 0, row_blocks = 0;
};

/// C: only T is used.
template <class M, class C>
struct ScanCarries {
  using T = typename C::T;
  static constexpr int w = C::w;
  using Args = ScanCarriesArgs;
  using Shared = typename SumTiles<M, C>::Shared;
  static constexpr int threads = block_threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const Level& level = a.level;
    const std::int64_t block = m.block() - a.column_blocks - a.row_blocks;
    if (m.block() < a.column_blocks) {
      scan(m.block() * threads + m.thread(), level.columns, level.width - level.tile_x * w, level.tiles_x,
           level.tiles_y, [&](std::int64_t x, std::int64_t tile_y) {
             const std::int64_t y = (level.tile_y + tile_y) * w - 1, at = level.tile_x * w + x;
             return load<T, T>(m, level.to, y, at) - load<T, T>(m, level.to, y, at - 1);
           });
    } else if (block < 0) {
      scan((m.block() - a.column_blocks) * threads + m.thread(), level.rows, level.height - level.tile_y * w,
           level.tiles_y, level.tiles_x, [&](std::int64_t y, std::int64_t tile_x) {
             const std::int64_t x = level.tile_x + tile_x - 1, at = level.tile_y * w + y;
             return load<T, T>(m, level.right, x, at) - load<T, T>(m, level.right, x, at - 1);
           });
    } else if (a.deeper.tiles_y > 0) {
      Shared& s = m.template shared<Shared>();
      sum_tile<T>(m, s.tile, s.sums, a.deeper, block);
    } else {
      const BlockTile<M, T, w> tile{m, m.template shared<Shared>().tile};
      const BlockAt at{0, 0, static_cast<int>(level.corners_y()), static_cast<int>(level.corners_x())};
      tile.template load_tile<T>(level.corners, at);
      tile.sum_up();
      tile.store_tile(level.corners, at);
    }
  }

  /// One line of the carries, in place: at `i` of the axis whose tiles are `across`, over the tiles `along`.
  template <class First>
  AREAL_DEVICE void scan(std::int64_t i, const Matrix& carries, std::int64_t extent, std::int64_t across,
                         std::int64_t along, const First& first) {
    if (i >= extent || i >= across * w) return;
    const Level& level = a.level;
    std::int64_t tile = 1, end = along;  // the first with a carry, and one past the last
    T sum = 0;
    if (level.part == Part::upper) end = along - i / w;
    if (level.part == Part::lower) {
      tile = along - 1 - i / w;
      sum = first(i, tile);
      store(m, carries, tile, i, sum);
      ++tile;
    } else if (tile < end) {
      sum = load<T, T>(m, carries, 0, i);
      ++tile;
    }
    for (; tile < end; ++tile) {
      sum += load<T, T>(m, carries, tile - level.skipped(), i);
      store(m, carries, tile - level.skipped(), i, sum);
    }
  }
};

template <class M, class C>
struct SumBlocks {
  using In = typename C::In;
  using T = typename C::T;
  static constexpr int w = C::w;
  using Args = Level;
  using Shared = DiagonalTile<T, w>;
  static constexpr int threads = block_threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() / a.tiles_x, j = m.block() % a.tiles_x;
    if (!a.has(i, j)) return;
    const BlockTile<M, T, w> tile{m, m.template shared<Shared>()};
    const BlockAt at = block_at(a.tile_y + i, a.tile_x + j, w, a.height, a.width);
    tile.template load_tile<In>(a.from, at);
    m.sync();
    const int k = m.thread(), skipped = a.skipped();
    if (i >= skipped && k < at.columns) tile.add(0, k, load<T, T>(m, a.columns, i - skipped, at.x - a.tile_x * w + k));
    m.sync();
    if (j >= skipped && k < at.rows) tile.add(k, 0, load<T, T>(m, a.rows, j - skipped, at.y - a.tile_y * w + k));
    m.sync();
    if (i >= skipped && j >= skipped && k == 0) tile.add(0, 0, load<T, T>(m, a.corners, i - skipped, j - skipped));
    tile.sum_up();
    tile.store_tile(a.to, at);
    if (a.part == Part::upper && i + j == a.tiles_y - 1) tile.save_right(a.right, a.tile_x + j, at);
  }
};

/// A matrix, the corners of its tiles, the corners' corners, until they fit one tile.
template <class T, int w>
struct Levels {
  static constexpr int most = 32;  // tiles of 4 x 4 need as many for 2^63 elements
  std::array<Level, most> level;
  int count = 0;  ///< the recursion's depth is one less

  /// `first` says which tiles; allocates its carries in the workspace.
  Levels(const Level& first, Workspace& from) {
    add(first, from);
    const auto fits = [](const Level& l) {
      const std::int64_t y = l.corners_y(), x = l.corners_x();
      return y <= 0 || x <= 0 || (y <= w && x <= w);
    };
    while (!fits(level[count - 1])) {
      const Level& above = level[count - 1];
      Level next;
      next.from = next.to = above.corners;
      next.height = above.corners_y(), next.width = above.corners_x();
      next.tiles_y = blocks_of(next.height, w), next.tiles_x = blocks_of(next.width, w);
      add(next, from);
    }
  }

  /// 2 depth + 3 launches; 2 for a single tile, which has no carries.
  template <class In, class Launcher>
  void run(Launcher& launcher) const {
    using C = PlainConfig<In, T, w>;
    using OfSums = PlainConfig<T, T, w>;
    const auto tiles = [](const Level& l) { return l.tiles_y * l.tiles_x; };
    launcher.template launch<SumTiles, C>(tiles(level[0]), level[0], false);
    for (int n = 0; n < count; ++n) {
      const Level& l = level[n];
      const bool last = n + 1 == count;
      ScanCarriesArgs a{l, last ? Level{} : level[n + 1], 0, 0};
      if (l.corners_y() > 0)
        a.column_blocks = blocks_of(std::min(l.width - l.tile_x * w, l.tiles_x * w), block_threads);
      if (l.corners_x() > 0) a.row_blocks = blocks_of(std::min(l.height - l.tile_y * w, l.tiles_y * w), block_threads);
      const std::int64_t rest = !last ? tiles(level[n + 1]) : l.corners_y() > 0 && l.corners_x() > 0 ? 1 : 0;
      const std::int64_t blocks = a.column_blocks + a.row_blocks + rest;
      if (blocks > 0) launcher.template launch<ScanCarries, OfSums>(blocks, a, false);
    }
    for (int n = count - 1; n > 0; --n) launcher.template launch<SumBlocks, OfSums>(tiles(level[n]), level[n], false);
    launcher.template launch<SumBlocks, C>(tiles(level[0]), level[0], false);
  }

 private:
  void add(Level l, Workspace& from) {
    const auto matrix = [&](std::int64_t height, std::int64_t width) {
      T* first = nullptr;
      from.take(first, std::max<std::int64_t>(0, height) * std::max<std::int64_t>(0, width));
      return Matrix{reinterpret_cast<char*>(first), width * static_cast<std::int64_t>(sizeof(T)), true};
    };
    l.columns = matrix(l.corners_y(), std::min(l.width - l.tile_x * w, l.tiles_x * w));
    l.rows = matrix(l.corners_x(), std::min(l.height - l.tile_y * w, l.tiles_y * w));
    l.corners = matrix(l.corners_y(), l.corners_x());
    level[count++] = l;
  }
};

}  // namespace areal::kernels
