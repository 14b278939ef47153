#pragma once
// The compact store: numbers of a tile's pixels as planes of bits, and counts of bins from these. A lane counts its own
// bins: it selects the pixels of a bin by the bits of its number, 32 pixels at once, and adds their bits up. No two
// lanes meet in a cell, so that the time does not depend on the pixels.

#include <bit>
#include <cstdint>
#include "kernels/histogram/bin_numbers.hpp"
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

using FourWords = Vec<std::uint32_t, 4>;

/// The numbers of a tile.
struct CompactNumbers {
  Square at[compact_squares][compact_squares];
};

/// Eight planes of each chunk of each line. The order of the pixels in a plane's word does not matter.
struct CompactPlanes {
  // 36 words for four lines, not 32: the stores of a warp would hit the same banks.
  FourWords at[compact_chunks][compact_tile / 4][9];

  AREAL_DEVICE FourWords& words(int chunk, int line, int half) { return at[chunk][line >> 2][(line & 3) * 2 + half]; }
};

/// Transposes the bits of eight words in each of their four bytes: bit j of word i becomes bit i of word j.
AREAL_DEVICE void transpose_bits(std::uint32_t (&w)[8]) {
  AREAL_UNROLL
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t low = w[i], high = w[i + 4];
    w[i] = (low & 0x0f0f0f0fu) | (high << 4 & 0xf0f0f0f0u);
    w[i + 4] = (low >> 4 & 0x0f0f0f0fu) | (high & 0xf0f0f0f0u);
  }
  AREAL_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int i = k / 2 * 4 + k % 2;
    const std::uint32_t low = w[i], high = w[i + 2];
    w[i] = (low & 0x33333333u) | (high << 2 & 0xccccccccu);
    w[i + 2] = (low >> 2 & 0x33333333u) | (high & 0xccccccccu);
  }
  AREAL_UNROLL
  for (int i = 0; i < 8; i += 2) {
    const std::uint32_t low = w[i], high = w[i + 1];
    w[i] = (low & 0x55555555u) | (high << 1 & 0xaaaaaaaau);
    w[i + 1] = (low >> 1 & 0x55555555u) | (high & 0xaaaaaaaau);
  }
}

/// Planes of the rows: a lane has a chunk of a row. 16 turns.
template <class M>
AREAL_DEVICE void make_row_planes(const M& m, CompactNumbers& numbers, CompactPlanes& planes, int turn) {
  const int chunk = turn & 3, square = (turn >> 2) * 8 + (m.lane() >> 2), row = m.lane() & 3;
  std::uint32_t w[8];
  AREAL_UNROLL
  for (int i = 0; i < 8; ++i)  // lanes of different squares begin at different banks
    w[i] = m.get(numbers.at[square][chunk * 8 + ((i + (m.lane() >> 2)) & 7)].at[row]);
  transpose_bits(w);
  const int line = square * 4 + row;
  m.put(planes.words(chunk, line, 0), FourWords{{w[0], w[1], w[2], w[3]}});
  m.put(planes.words(chunk, line, 1), FourWords{{w[4], w[5], w[6], w[7]}});
}

/// Planes of the columns: a lane has a chunk of four columns. 4 turns.
template <class M>
AREAL_DEVICE void make_column_planes(const M& m, CompactNumbers& numbers, CompactPlanes& planes, int chunk) {
  std::uint32_t bytes[4][8];  // of eight rows, each plane: a byte a column
  AREAL_UNROLL
  for (int rows = 0; rows < 4; ++rows) {
    const Square above = m.get(numbers.at[chunk * 8 + rows * 2][m.lane()]),
                 below = m.get(numbers.at[chunk * 8 + rows * 2 + 1][m.lane()]);
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) bytes[rows][i] = above.at[i], bytes[rows][i + 4] = below.at[i];
    transpose_bits(bytes[rows]);
  }
  AREAL_UNROLL
  for (int half = 0; half < 2; ++half) {
    FourWords columns[4];
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int plane = half * 4 + i;
      const std::uint32_t low = m.permute(bytes[0][plane], bytes[1][plane], 0x5140),
                          high = m.permute(bytes[0][plane], bytes[1][plane], 0x7362),
                          low2 = m.permute(bytes[2][plane], bytes[3][plane], 0x5140),
                          high2 = m.permute(bytes[2][plane], bytes[3][plane], 0x7362);
      columns[0].at[i] = m.permute(low, low2, 0x5410), columns[1].at[i] = m.permute(low, low2, 0x7632);
      columns[2].at[i] = m.permute(high, high2, 0x5410), columns[3].at[i] = m.permute(high, high2, 0x7632);
    }
    AREAL_UNROLL
    for (int v = 0; v < 4; ++v) m.put(planes.words(chunk, m.lane() * 4 + v, half), columns[v]);
  }
}

/// Planes of both directions, by all warps of a block.
template <int warps, class M>
AREAL_DEVICE void make_planes(const M& m, CompactNumbers& numbers, CompactPlanes (&planes)[2]) {
  AREAL_NO_UNROLL
  for (int turn = m.warp(); turn < compact_chunks + 16; turn += warps)
    if (turn < compact_chunks)
      make_column_planes(m, numbers, planes[1], turn);
    else
      make_row_planes(m, numbers, planes[0], turn - compact_chunks);
}

/// A lane's counts: its pairs' lower and higher bins.
template <class B>
struct LaneCounts {
  std::uint32_t low[B::pairs] = {}, high[B::pairs] = {};

  AREAL_DEVICE void add(const LaneCounts& other) {
    AREAL_UNROLL
    for (int p = 0; p < B::pairs; ++p) low[p] += other.low[p], high[p] += other.high[p];
  }
};

/// The bins of a lane, as the complements of the planes that select its pixels.
template <class B>
struct LaneBins {
  std::uint32_t flips[5];
  AREAL_DEVICE explicit LaneBins(int lane) {
    AREAL_UNROLL
    for (int i = 0; i < 5; ++i) flips[i] = (lane >> i & 1) != 0 ? 0u : ~0u;
  }

  /// Counts in a chunk of a line.
  template <class M>
  AREAL_DEVICE LaneCounts<B> counts(const M& m, CompactPlanes& planes, int chunk, int line) const {
    const FourWords p = m.get(planes.words(chunk, line, 0)), q = m.get(planes.words(chunk, line, 1));
    std::uint32_t pixels = ~q.at[3] & (p.at[1] ^ flips[0]);
    pixels &= p.at[2] ^ flips[1];
    pixels &= p.at[3] ^ flips[2];
    pixels &= q.at[0] ^ flips[3];
    if constexpr (B::bits > 5) pixels &= q.at[1] ^ flips[4];
    LaneCounts<B> counts;
    AREAL_UNROLL
    for (int pair = 0; pair < B::pairs; ++pair) {
      std::uint32_t own = pixels;
      if constexpr (B::pairs == 2) own &= pair == 0 ? ~q.at[2] : q.at[2];
      counts.low[pair] = static_cast<std::uint32_t>(std::popcount(own & ~p.at[0]));
      counts.high[pair] = static_cast<std::uint32_t>(std::popcount(own & p.at[0]));
    }
    return counts;
  }
};

}  // namespace areal::kernels
