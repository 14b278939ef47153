#pragma once
// The table of the UMM (Nakano 2013, 8): optimal prefix-sums of the rows, transpose, again, transpose. Of a row 2d(w) +
// 1 launches, of a column 2d(h) + 1 (levels.hpp: d(L) is the least d for which L / 2^(d+1) is not above
// 256), and 2 for the transposes; none where a column is one element. Reads 10, writes 8 per element: for powers of two
// 10n - 3h - 4w - h log2(w) - w log2(h) and 8n - 2h - 3w - h log2(w) - w log2(h), transposes coalesced, prefix-sums
// runs of every element or of every second one. Blocks of 256 threads, 128 in a transpose; p is as many as there is
// work. Workspace: the transposed table and the levels, 2n: the paper's n are the levels alone, as it transposes
// elsewhere. Floats are the same every run.
//
// The transpose is only cited by the paper. Here w lanes have a tile of w x w elements in w registers each: in row r
// lane j reads column (j + r) mod w, so that the elements of a column are with w lanes, and go out as one row. Which
// register that is depends on the lane; so each lane first turns its registers by its own number, bit by bit.

#include "kernels/primitives/line/levels.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

struct DiagonalTransposeArgs {
  Matrix from, to;
  std::int64_t height = 0, width = 0;  ///< of `from`
  std::int64_t tiles_x = 0;
};

/// w lanes move a tile across the diagonal.
template <class M, class C>
struct DiagonalTranspose {
  using T = typename C::T;
  static constexpr int w = C::w;
  using Args = DiagonalTransposeArgs;
  using Shared = NoShared;
  static constexpr int threads = 128, resident = 1;
  static_assert(threads % w == 0 && (w & (w - 1)) == 0);
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t tile = m.block() * (threads / w) + m.thread() / w;
    const std::int64_t y = tile / a.tiles_x * w, x = tile % a.tiles_x * w;
    const int lane = m.thread() % w;
    T held[w]{};
    AREAL_UNROLL
    for (int r = 0; r < w; ++r) {
      const std::int64_t column = x + (lane + r) % w;
      if (y + r < a.height && column < a.width) held[r] = load<T, T>(m, a.from, y + r, column);
    }
    turn(held, lane);
    AREAL_UNROLL
    for (int c = 0; c < w; ++c) {
      const std::int64_t row = y + (c - lane + w) % w;
      if (x + c < a.width && row < a.height) store(m, a.to, x + c, row, held[c]);
    }
  }

 private:
  /// held[c] becomes held[(c - lane) mod w].
  AREAL_DEVICE static void turn(T (&held)[w], int lane) {
    AREAL_UNROLL
    for (int n = 1; n < w; n *= 2) {
      T turned[w];
      AREAL_UNROLL
      for (int c = 0; c < w; ++c) turned[c] = (lane & n) != 0 ? held[(c + w - n) % w] : held[c];
      AREAL_UNROLL
      for (int c = 0; c < w; ++c) held[c] = turned[c];
    }
  }
};

template <class C, class Launcher>
void transpose_diagonally(Launcher& launcher, const Matrix& from, const Matrix& to, std::int64_t height,
                          std::int64_t width) {
  const std::int64_t tiles_x = blocks_of(width, C::w), tiles = tiles_x * blocks_of(height, C::w);
  launcher.template launch<DiagonalTranspose, C>(blocks_of(tiles, 128 / C::w), {from, to, height, width, tiles_x},
                                                 false);
}

template <int w = warp_size, int threads = 256>
struct UmmOptimal {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    Workspace from(nullptr);
    transposed<T>(request, from);
    levels<T>(request, from);
    return from.bytes();
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void* workspace) {
    using Tiles = PlainConfig<T, T, w>;
    Workspace from(workspace);
    const Matrix flat = transposed<T>(request, from);
    T* const cells = levels<T>(request, from);
    optimal_prefix_sums<LineConfig<In, T, Plus, threads>>(launcher, {p.in, p.out, p.height, p.width, false}, cells);
    transpose_diagonally<Tiles>(launcher, p.out, flat, p.height, p.width);
    optimal_prefix_sums<LineConfig<T, T, Plus, threads>>(launcher, {flat, flat, p.width, p.height, true}, cells);
    transpose_diagonally<Tiles>(launcher, flat, p.out, p.width, p.height);
  }

 private:
  /// Of the rows, and then of the columns.
  template <class T>
  static T* levels(const TableRequest& request, Workspace& from) {
    const TableGeometry p = table_geometry(request.image, request.border);
    T* cells = nullptr;
    from.take(cells, std::max(level_cells(p.height, p.width), level_cells(p.width, p.height)));
    return cells;
  }
};

}  // namespace areal::kernels
