#pragma once
// The compact store: sums over the tiles before, along the rows of direction 0 and down the columns of direction 1.

#include <cstdint>
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A thread walks along the tiles of a row or column, with four bins of a line or one of a cell. Reads 2 K'/128 bytes a
/// pixel, writes twice as much. Loads of several tiles are in flight together.
template <class M, class C>
struct CompactWalk {
  using Args = CompactArgs;
  using Shared = NoShared;
  static constexpr int threads = 128, resident = 8;
  static constexpr int ahead = 8;
  M m;
  const Args& a;

  /// Threads of the counts and of the cells of a direction, in whole blocks.
  AREAL_BOTH static std::int64_t walks(const Args& a, int direction) {
    return a.c.images * (direction == 0 ? a.tiles_y : a.tiles_x);
  }
  AREAL_BOTH static std::int64_t blocks_of_counts(const Args& a, int direction) {
    return walks(a, direction) * (compact_tile / 4 * a.c.padded_bins() / threads);
  }
  AREAL_BOTH static std::int64_t blocks_of_cells(const Args& a, int direction) {
    return (walks(a, direction) * CompactArgs::entries(direction) * a.c.padded_bins() + threads - 1) / threads;
  }

  AREAL_DEVICE void operator()() {
    m.trigger_next_launch();
    m.wait_previous_launch();
    std::int64_t block = m.block();
    AREAL_NO_UNROLL
    for (int direction = 0; direction < 2; ++direction) {
      const std::int64_t counts = blocks_of_counts(a, direction), cells = blocks_of_cells(a, direction);
      if (block < counts) return walk_counts(direction, block * threads + m.thread());
      if (block < counts + cells) return walk_cells(direction, block * threads + m.thread() - counts * threads);
      block -= counts + cells;
    }
  }

  struct Way {
    std::int64_t from, to, from_step, to_step, tiles, sums;
  };
  /// In tiles; the walk of that number.
  AREAL_DEVICE Way way(int direction, std::int64_t walk) const {
    if (direction == 0) return {walk * a.tiles_x, walk * a.before_x, 1, 1, a.tiles_x, a.before_x};
    const std::int64_t image = walk / a.tiles_x, x = walk - image * a.tiles_x;
    return {a.tile(image, 0, x), a.tile_before(1, image, 0, x), a.tiles_x, a.tiles_x, a.tiles_y, a.before_y};
  }

  AREAL_DEVICE void walk_counts(int direction, std::int64_t i) {
    const std::int64_t size = compact_tile * a.c.padded_bins(), quads = size / 4, walk = i / quads;
    const Way w = way(direction, walk);
    const auto* from = reinterpret_cast<const std::uint32_t*>(a.counts[direction] + w.from * size) + (i - walk * quads);
    auto* to = reinterpret_cast<Vec<std::uint16_t, 4>*>(a.before[direction] + w.to * size) + (i - walk * quads);
    std::uint32_t sums[4] = {};
    AREAL_NO_UNROLL
    for (std::int64_t first = 0; first < w.sums; first += ahead) {
      std::uint32_t words[ahead];
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k)
        words[k] = first + k < w.tiles ? m.load(from + (first + k) * w.from_step * quads) : 0;
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k)
        if (first + k < w.sums) {
          Vec<std::uint16_t, 4> before;
          AREAL_UNROLL
          for (int v = 0; v < 4; ++v) {
            before.at[v] = static_cast<std::uint16_t>(sums[v]);
            sums[v] += words[k] >> (8 * v) & 0xffu;
          }
          m.store(to + (first + k) * w.to_step * quads, before);
        }
    }
  }

  AREAL_DEVICE void walk_cells(int direction, std::int64_t i) {
    const std::int64_t size = CompactArgs::entries(direction) * a.c.padded_bins(), walk = i / size;
    if (walk >= walks(a, direction)) return;
    const Way w = way(direction, walk);
    std::uint32_t* const cells = a.cells[direction] + w.to * size + (i - walk * size);
    std::uint32_t sum = 0;
    AREAL_NO_UNROLL
    for (std::int64_t first = 0; first < w.sums; first += ahead) {
      std::uint32_t values[ahead];
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k)
        values[k] = first + k < w.tiles ? m.load(cells + (first + k) * w.to_step * size) : 0;
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k)
        if (first + k < w.sums) {
          m.store(cells + (first + k) * w.to_step * size, sum);
          sum += values[k];
        }
    }
  }
};

}  // namespace areal::kernels
