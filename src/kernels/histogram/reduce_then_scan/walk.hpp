#pragma once
// reduce-then-scan, second launch: turns each tile's sums into the sums left of its rows and above its columns. A warp
// walks along a row of tiles, or down a column of tiles, of one bin.

#include <cstdint>
#include "kernels/histogram/reduce_then_scan/tile.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

template <class M, class C>
struct ReduceThenScanWalk {
  using A = typename C::A;
  using Args = ReduceThenScanArgs<A>;
  using Part = typename Args::Part;
  using Side = typename C::Side;
  using Shared = NoShared;
  static constexpr int warps = 8, threads = warps * warp_size, resident = 4;
  static constexpr bool weighted = !std::is_integral_v<A>;
  static constexpr int ahead = weighted ? 4 : 8;  // tiles that are loaded at once

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t planes = a.images * a.bins, walk = m.block() * warps + m.warp();
    const std::int64_t across = planes * a.tiles_y, down = planes * a.tiles_x;
    m.trigger_next_launch();
    m.wait_previous_launch();
    if (walk < across) {
      const std::int64_t plane = walk / a.tiles_y, ty = walk % a.tiles_y;
      A* const corners = a.corners_along_columns ? a.corners + plane * a.tiles_x * a.tiles_y + ty : nullptr;
      go<tile_height>(a.rows, static_cast<Side*>(a.left), walk * a.tiles_x, 1, a.tiles_x, 1, corners, a.tiles_y);
    } else if (walk < across + down) {
      const std::int64_t plane = (walk - across) / a.tiles_x, tx = (walk - across) % a.tiles_x;
      const std::int64_t first = plane * a.tiles_x * a.tiles_y + tx;
      A* const corners = a.corners_along_columns ? nullptr : a.corners + first;
      go<tile_width>(a.columns, static_cast<Side*>(a.above), first, a.tiles_x, a.tiles_y, a.tiles_per_warp, corners,
                     a.tiles_x);
    }
  }

  /// Writes the sums of the tiles before every `every`-th one and, with `totals`, the total of each of these.
  template <int cells>
  AREAL_DEVICE void go(const Part* parts, Side* sums, std::int64_t tile, int stride, int steps, int every, A* totals,
                       std::int64_t totals_stride) {
    static constexpr int K = cells / warp_size;
    const Part* from = parts + tile * cells;
    Side* to = sums + tile * cells;
    const std::int64_t step = static_cast<std::int64_t>(stride) * cells;
    A before[K] = {};
    for (int first = 0; first < steps; first += ahead) {
      Part next[ahead][K] = {};
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i)
        if (first + i < steps) read(next[i], from + i * step);
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i)
        if (first + i < steps) {
          if ((first + i) % every == 0) write(to + i * step, before);
          if (totals) {
            A total = 0;
            AREAL_UNROLL
            for (int k = 0; k < K; ++k) total += before[k];
            total = warp_sum(m, total);
            if (m.lane() == 0) m.store(totals + (first + i) * totals_stride, total);
          }
          AREAL_UNROLL
          for (int k = 0; k < K; ++k) before[k] += next[i][k];
        }
      from += ahead * step, to += ahead * step;
    }
  }

  // A lane's cells: for counts the 4 columns of its word, or rows lane and lane + 32; for weights every 32nd.
  template <int K>
  AREAL_DEVICE void read(Part (&cell)[K], const Part* from) {
    if constexpr (weighted) {
      AREAL_UNROLL
      for (int k = 0; k < K; ++k) cell[k] = m.load(from + m.lane() + k * warp_size);
    } else {
      const auto all = m.load(reinterpret_cast<const Vec<Part, K>*>(from) + m.lane());
      AREAL_UNROLL
      for (int k = 0; k < K; ++k) cell[k] = all.at[k];
    }
  }
  template <int K>
  AREAL_DEVICE void write(Side* to, const A (&cell)[K]) {
    if constexpr (!weighted && K == 4) {
      static constexpr int V = sizeof(Side) == 8 ? 2 : 4;
      AREAL_UNROLL
      for (int k = 0; k < K; k += V) {
        Vec<Side, V> line;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) line.at[v] = static_cast<Side>(cell[k + v]);
        m.store(reinterpret_cast<Vec<Side, V>*>(to + m.lane() * K + k), line);
      }
    } else {
      AREAL_UNROLL
      for (int k = 0; k < K; ++k) m.store(to + m.lane() + k * warp_size, static_cast<Side>(cell[k]));
    }
  }
};

}  // namespace areal::kernels
