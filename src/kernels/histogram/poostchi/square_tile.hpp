#pragma once
// The square tile of cw-tis and wf-tis (Poostchi 2017, 3.4 and 3.5): one bin's, in shared memory.
//
// The paper assigns a tile to a block and a row or column to a thread, with blocks of 512 to 1024 threads and tiles of
// 16, 32 or 64, and leaves open how they combine. Here all threads of a block (tile_threads.hpp) move the tile, `side`
// adjacent elements of a row each time: a tile of 64 by 512 threads in 8 rounds of 8 rows. Then the first `side`
// threads, two warps for 64, sum a row or a column each, while the others wait. Rows have one cell more than elements,
// so that neither direction conflicts. Elements beyond the image's edge are skipped, not padded.

#include <type_traits>
#include <utility>
#include "formulas/tile_threads.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/planes.hpp"

namespace areal::kernels {

template <class T_, int side_, int threads_>
struct SquareConfig {
  using T = T_;
  static constexpr int side = side_, threads = threads_;
  static_assert(threads >= side && threads % side == 0);  // whole rows a round, and a thread for each row and column
};

/// Where a tile lies in its matrix, and how much of it there is.
struct SquareAt {
  std::int64_t y = 0, x = 0;
  int rows = 0, columns = 0;
};

template <class M, class C>
struct Square2D {
  using T = typename C::T;
  using A = Added<T>;
  static constexpr int side = C::side, threads = C::threads;
  struct Shared {
    A cell[side][side + 1];
  };
  const M& m;
  Shared& tile;
  Matrix matrix;
  SquareAt at;

  AREAL_DEVICE Square2D(const M& machine, const Planes& of, std::int64_t bin, std::int64_t tile_y, std::int64_t tile_x,
                        std::int64_t height, std::int64_t width)
      : m(machine), tile(machine.template shared<Shared>()), matrix(of.of(bin)) {
    at.y = tile_y * side, at.x = tile_x * side;
    at.rows = static_cast<int>(height - at.y < side ? height - at.y : side);
    at.columns = static_cast<int>(width - at.x < side ? width - at.x : side);
  }

  AREAL_DEVICE void load_tile() const {
    const int j = m.thread() % side;
    for (int i = m.thread() / side; i < at.rows; i += threads / side)
      if (j < at.columns) m.put(tile.cell[i][j], load<A, T>(m, matrix, at.y + i, at.x + j));
  }
  AREAL_DEVICE void store_tile() const {
    const int j = m.thread() % side;
    for (int i = m.thread() / side; i < at.rows; i += threads / side)
      if (j < at.columns) store(m, matrix, at.y + i, at.x + j, static_cast<T>(m.get(tile.cell[i][j])));
  }

  /// This thread's row, or column, summed in place, starting from `sum`; returns the last sum.
  AREAL_DEVICE A across(A sum) const {
    for (int j = 0; j < at.columns; ++j) m.put(tile.cell[m.thread()][j], sum += m.get(tile.cell[m.thread()][j]));
    return sum;
  }
  AREAL_DEVICE void down(A sum) const {
    for (int i = 0; i < at.rows; ++i) m.put(tile.cell[i][m.thread()], sum += m.get(tile.cell[i][m.thread()]));
  }
};

template <class T, int side, class F>
void with_block(int threads, const F& f) {
  constexpr int usual = formulas::default_tile_threads(side);
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    const auto try_one = [&]<int these>() {
      if (threads == these) f.template operator()<SquareConfig<T, side, these>>();
      return threads == these;
    };
    const bool found = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return (try_one.template operator()<formulas::tile_threads(side)[i]>() || ...);
    }
    (std::make_index_sequence<formulas::tile_threads(side).size()>());
    if (found) return;
  }
  f.template operator()<SquareConfig<T, side, usual>>();
}

/// A request's choice of tiles.
struct TileChoice {
  int side, threads;
};
inline TileChoice tile_choice(const HistogramRequest& request) { return {request.tile, request.tile_threads}; }

/// f.operator()<C>() with the SquareConfig of that choice: any of tile_threads.hpp for counters of 32u, the default for
/// all others and for 0 threads. The plan refuses other choices.
template <class T, class F>
void with_tile(const TileChoice& tile, const F& f) {
  if (tile.side == 16)
    with_block<T, 16>(tile.threads, f);
  else if (tile.side == 64)
    with_block<T, 64>(tile.threads, f);
  else
    with_block<T, 32>(tile.threads, f);
}

}  // namespace areal::kernels
