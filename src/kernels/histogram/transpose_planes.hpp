#pragma once
// The transpose of every matrix of a tensor by one launch (Poostchi 2017, 3.3 and Figure 4). Reads 1, writes 1 per
// element, all coalesced. A block moves a tile of 32 x 32 across the diagonal, through shared memory whose rows have 33
// cells, so that columns do not conflict; 256 threads, a row of the tile a warp, four in turn.

#include "kernels/primitives/planes.hpp"

namespace areal::kernels {

struct TransposePlanesArgs {
  Planes from, to;
  std::int64_t height = 0, width = 0;  ///< of a matrix of `from`
  std::int64_t first = 0;              ///< matrix
  std::int64_t tiles_x = 0, tiles = 0;
};

template <class T_>
struct TransposePlanesConfig {
  using T = T_;
};

template <class A>
struct TransposeTile {
  A cell[warp_size][warp_size + 1];
};
inline constexpr int transpose_threads = 256;

template <class T, class M>
AREAL_DEVICE void transpose_tile(const M& m, const TransposePlanesArgs& a) {
  using A = Added<T>;
  auto& tile = m.template shared<TransposeTile<A>>();
  static constexpr int w = warp_size, rows = transpose_threads / w;
  const std::int64_t bin = a.first + m.block() / a.tiles, at = m.block() % a.tiles;
  const std::int64_t y = at / a.tiles_x * w, x = at % a.tiles_x * w;
  const int j = m.thread() % w;
  AREAL_UNROLL
  for (int i = m.thread() / w; i < w; i += rows)
    if (y + i < a.height && x + j < a.width) m.put(tile.cell[i][j], load<A, T>(m, a.from.of(bin), y + i, x + j));
  m.sync();
  AREAL_UNROLL
  for (int i = m.thread() / w; i < w; i += rows)
    if (x + i < a.width && y + j < a.height)
      store(m, a.to.of(bin), x + i, y + j, static_cast<T>(m.get(tile.cell[j][i])));
}

template <class M, class C>
struct TransposePlanes {
  using Args = TransposePlanesArgs;
  using Shared = TransposeTile<Added<typename C::T>>;
  static constexpr int threads = transpose_threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() { transpose_tile<typename C::T>(m, a); }
};

/// The same for an algorithm that ends transposed, with its own name, so that it is counted and timed separately.
template <class M, class C>
struct TransposeBack {
  using Args = TransposePlanesArgs;
  using Shared = TransposeTile<Added<typename C::T>>;
  static constexpr int threads = transpose_threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() { transpose_tile<typename C::T>(m, a); }
};

/// `count` matrices from the `first` on.
template <class T, template <class, class> class Kernel, class Launcher>
void transpose_planes(Launcher& launcher, const Planes& from, const Planes& to, std::int64_t height, std::int64_t width,
                      std::int64_t first, std::int64_t count) {
  TransposePlanesArgs a{from, to, height, width, first, blocks_of(width, warp_size), 0};
  a.tiles = a.tiles_x * blocks_of(height, warp_size);
  launcher.template launch<Kernel, TransposePlanesConfig<T>>(a.tiles * count, a, false);
}

}  // namespace areal::kernels
