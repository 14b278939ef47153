#pragma once
// A block's tile of w x w elements in shared memory, diagonally arranged: how 2R1W and 1R1W (Kasagi 2014, V and VI)
// load it, add to its top row and left column, sum and store it. All 128 threads copy, w of them compute.

#include "kernels/primitives/matrix.hpp"
#include "kernels/sat/kasagi/diagonal.hpp"

namespace areal::kernels {

inline constexpr int block_threads = 128;

/// A tile's position in its matrix, and the extent of it that exists.
struct BlockAt {
  std::int64_t y = 0, x = 0;
  int rows = 0, columns = 0;
};
AREAL_DEVICE BlockAt block_at(std::int64_t tile_y, std::int64_t tile_x, int w, std::int64_t height,
                              std::int64_t width) {
  BlockAt at;
  at.y = tile_y * w, at.x = tile_x * w;
  at.rows = static_cast<int>(height - at.y < w ? height - at.y : w);
  at.columns = static_cast<int>(width - at.x < w ? width - at.x : w);
  return at;
}

template <class M, class T, int w>
struct BlockTile {
  static_assert(block_threads % w == 0);
  const M& m;
  DiagonalTile<T, w>& tile;

  /// Loads zeros beyond the matrix' edge. A barrier must follow.
  template <class From>
  AREAL_DEVICE void load_tile(const Matrix& from, const BlockAt& at) const {
    const int j = m.thread() % w;
    for (int i = m.thread() / w; i < w; i += block_threads / w)
      m.put(tile.at(i, j), i < at.rows && j < at.columns ? load<T, From>(m, from, at.y + i, at.x + j) : T(0));
  }
  AREAL_DEVICE void store_tile(const Matrix& to, const BlockAt& at) const {
    const int j = m.thread() % w;
    for (int i = m.thread() / w; i < at.rows; i += block_threads / w)
      if (j < at.columns) store(m, to, at.y + i, at.x + j, m.get(tile.at(i, j)));
  }

  AREAL_DEVICE void add(int i, int j, T value) const { m.put(tile.at(i, j), m.get(tile.at(i, j)) + value); }

  /// A thread's row or column, summed.
  AREAL_DEVICE T row_sum(int i) const {
    T sum = 0;
    for (int j = 0; j < w; ++j) sum += m.get(tile.at(i, j));
    return sum;
  }
  AREAL_DEVICE T column_sum(int j) const {
    T sum = 0;
    for (int i = 0; i < w; ++i) sum += m.get(tile.at(i, j));
    return sum;
  }

  /// The inclusive table of the tile, in place: down the columns, along the rows. Barriers before and after each.
  AREAL_DEVICE void sum_up() const {
    const int k = m.thread();
    m.sync();
    if (k < w) {
      T sum = 0;
      for (int i = 0; i < w; ++i) m.put(tile.at(i, k), sum += m.get(tile.at(i, k)));
    }
    m.sync();
    if (k < w) {
      T sum = 0;
      for (int j = 0; j < w; ++j) m.put(tile.at(k, j), sum += m.get(tile.at(k, j)));
    }
    m.sync();
  }

  /// Saves the tile's last column for the tile to the right.
  AREAL_DEVICE void save_right(const Matrix& right, std::int64_t tile_x, const BlockAt& at) const {
    if (m.thread() < at.rows) store(m, right, tile_x, at.y + m.thread(), m.get(tile.at(m.thread(), w - 1)));
  }
};

}  // namespace areal::kernels
