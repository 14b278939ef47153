#pragma once
// The compact store: anchors, row strips and column strips, in whole sectors.

#include <cstdint>
#include "kernels/histogram/compact/planes.hpp"
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// step: chunks from one lattice line to the next, 1, 2 or 4.
template <int bits, int step_>
struct CompactLattice : CompactBins<bits> {
  static constexpr int lattice_step = step_;
  static constexpr int lattice_lines = compact_chunks / step_;  ///< of a tile
  static constexpr int half = warp_size * step_ / 2;            ///< lines of half a block
  static constexpr int halves = compact_tile / half;
};

/// A block has a tile and a group of bins. A warp has half a block's lines, two halves of up to 32 bins: strips add up
/// from the lattice line on. Reads each label once more unless a block is a tile, 4 K'/128 bytes a pixel of sums, and
/// the tiles' totals left of the tile; writes 4 K'/B bytes a pixel.
template <class M, class B>
struct CompactStrips {
  using Args = CompactArgs;
  static constexpr int warps = 8, threads = warps * warp_size, resident = 4;
  static constexpr int ahead = 4;  ///< lines whose sums are loaded together
  static constexpr bool counts = B::lattice_step < compact_chunks;
  struct Shared {
    union {
      CompactNumbers numbers;
      /// Counts in half a block of rows, left of each of the tile's lattice columns: the lower bin and the higher one.
      std::uint32_t left[B::halves][B::lattice_lines][B::bins / 2];
    };
    CompactPlanes planes[2];
    std::uint64_t total[B::bins];  ///< of the tiles above and to the left
    /// Counts left of the tile in the rows above each of its lattice lines, and above it in the columns left of each.
    std::uint32_t beside[2][B::lattice_lines][B::bins];
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const CompactSpot spot = compact_spot(m, a.groups, a.before_x, a.before_y);
    if (m.thread() < B::bins) m.put(s.total[m.thread()], std::uint64_t{0});
    m.wait_previous_launch();
    if (counts && is_inside(spot)) {
      Square numbers[compact_squares / warps];
      AREAL_UNROLL
      for (int k = 0; k < compact_squares / warps; ++k)
        numbers[k] = stored_numbers(m, a, spot.group, spot.image, spot.y * compact_tile + (k * warps + m.warp()) * 4,
                                    spot.x * compact_tile + m.lane() * 4);
      AREAL_UNROLL
      for (int k = 0; k < compact_squares / warps; ++k) m.put(s.numbers.at[k * warps + m.warp()][m.lane()], numbers[k]);
    }
    m.sync();
    add_total(s, spot);
    add_beside(s, spot);
    if (counts && is_inside(spot)) make_planes<warps>(m, s.numbers, s.planes);
    m.sync();
    AREAL_NO_UNROLL
    for (int unit = m.warp() * B::lines; unit < 2 * B::halves; unit += warps * B::lines)
      write_strips(s, spot, unit + m.lane() / B::lanes);
    m.sync();
    write_anchors(s, spot);
  }

  AREAL_DEVICE bool is_inside(const CompactSpot& spot) const { return spot.x < a.tiles_x && spot.y < a.tiles_y; }

  AREAL_DEVICE void add_total(Shared& s, const CompactSpot& spot) {
    const std::int64_t bins = a.c.padded_bins(), k = m.thread() % B::bins, bin = spot.group * B::bins + k;
    if (bin >= bins) return;
    static constexpr int entries = CompactArgs::entries(1);
    const std::uint32_t* const from =
        a.cells[1] + (a.tile_before(1, spot.image, spot.y, 0) * entries + compact_chunks) * bins + bin;
    const std::int64_t end = spot.x < a.tiles_x ? spot.x : a.tiles_x;
    static constexpr int parts = threads / B::bins;
    std::uint64_t sum = 0;
    AREAL_NO_UNROLL
    for (std::int64_t x = m.thread() / B::bins; x < end; x += ahead * parts) {
      std::uint32_t values[ahead];
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i)
        values[i] = x + i * parts < end ? m.load(from + (x + i * parts) * entries * bins) : 0;
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) sum += values[i];
    }
    if (sum != 0) m.shared_add(s.total[k], sum);
  }
  AREAL_DEVICE void add_beside(Shared& s, const CompactSpot& spot) {
    const std::int64_t bins = a.c.padded_bins();
    for (int i = m.thread(); i < 2 * B::lattice_lines * B::bins; i += threads) {
      const int direction = i / (B::lattice_lines * B::bins), lattice = i / B::bins % B::lattice_lines, k = i % B::bins;
      const std::int64_t bin = spot.group * B::bins + k;
      const bool is_there = bin < bins && (direction == 0 ? spot.y < a.tiles_y : spot.x < a.tiles_x);
      const std::uint32_t* const from =
          a.cells[direction] +
          a.tile_before(direction, spot.image, spot.y, spot.x) * CompactArgs::entries(direction) * bins + bin;
      std::uint32_t values[compact_chunks];
      AREAL_UNROLL
      for (int chunk = 0; chunk < compact_chunks; ++chunk)
        values[chunk] = is_there && chunk < lattice * B::lattice_step ? m.load(from + chunk * bins) : 0;
      m.put(s.beside[direction][lattice][k], values[0] + values[1] + values[2] + values[3]);
    }
  }

  // ---- strips

  /// The strips of a direction at the tile's lattice lines.
  struct Strips {
    std::uint16_t* first;                    ///< of the tile's first line and lattice line, the lane's first bin
    std::int64_t line_pitch, lattice_pitch;  ///< in elements
    int lines, lattice_lines;                ///< that exist, up to a tile's
  };
  AREAL_DEVICE Strips strips_of(int direction, const CompactSpot& spot, std::int64_t bin) const {
    const formulas::Compact& c = a.c;
    const std::int64_t y = spot.y * compact_tile, x = spot.x * compact_tile;
    const std::int64_t row = spot.y * B::lattice_lines, column = spot.x * B::lattice_lines, bins = c.padded_bins();
    const auto up_to = [](std::int64_t n, int most) { return static_cast<int>(n < most ? n : most); };
    if (direction == 0)
      return {reinterpret_cast<std::uint16_t*>(a.store + c.row_strips_at()) + c.row_strip(spot.image, y, column) + bin,
              c.columns() * bins, bins, up_to(c.height + 1 - y, compact_tile),
              up_to(c.columns() - column, B::lattice_lines)};
    return {reinterpret_cast<std::uint16_t*>(a.store + c.column_strips_at()) + c.column_strip(spot.image, row, x) + bin,
            bins, (c.width + 1) * bins, up_to(c.width + 1 - x, compact_tile), up_to(c.rows() - row, B::lattice_lines)};
  }

  AREAL_DEVICE void write_strips(Shared& s, const CompactSpot& spot, int unit) {
    const std::int64_t bins = a.c.padded_bins();
    const int direction = unit >= B::halves ? 1 : 0, half = unit - direction * B::halves;
    const bool backwards = (half & 1) != 0;
    const int lane = m.lane() % B::lanes;
    const std::int64_t first_bin = spot.group * B::bins + 2 * lane;
    bool has_bins[B::pairs];
    AREAL_UNROLL
    for (int p = 0; p < B::pairs; ++p) has_bins[p] = first_bin + p * B::step < bins;
    const LaneBins<B> mine(lane);
    const Strips strips = strips_of(direction, spot, first_bin);
    const bool is_counted = counts && is_inside(spot);

    // Lines after a lattice line have the sums before them, in order; lines before the next one these and their own.
    int line = half * B::half + (backwards ? B::half - 1 : 0);
    const int turn = backwards ? -1 : 1;
    const bool has_before = direction == 0 ? spot.y < a.tiles_y : spot.x < a.tiles_x;
    const std::uint16_t* before = a.before[direction] +
                                  (a.tile_before(direction, spot.image, spot.y, spot.x) * compact_tile + line) * bins +
                                  first_bin;
    std::uint16_t* to = strips.first + line * strips.line_pitch;
    const auto load = [&](std::uint32_t(&pairs)[ahead][B::pairs], bool is_there) {
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k, before += turn * bins) AREAL_UNROLL
      for (int p = 0; p < B::pairs; ++p)
        pairs[k][p] =
            is_there && has_bins[p] ? m.load(reinterpret_cast<const std::uint32_t*>(before + p * B::step)) : 0;
    };
    LaneCounts<B> sums[B::lattice_lines];
    std::uint32_t left[B::lattice_lines][B::pairs] = {};
    std::uint32_t next[ahead][B::pairs];
    load(next, has_before);
    AREAL_NO_UNROLL
    for (int first = 0; first < B::half; first += ahead) {
      std::uint32_t pairs[ahead][B::pairs];
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) AREAL_UNROLL
      for (int p = 0; p < B::pairs; ++p) pairs[k][p] = next[k][p];
      load(next, has_before && first + ahead < B::half);  // while this one is counted
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k, line += turn, to += turn * strips.line_pitch) {
        LaneCounts<B> inside;
        std::uint16_t* at = to;
        AREAL_UNROLL
        for (int lattice = 0; lattice < B::lattice_lines; ++lattice, at += strips.lattice_pitch) {
          const bool is_there = line < strips.lines && lattice < strips.lattice_lines;
          AREAL_UNROLL
          for (int p = 0; p < B::pairs; ++p) {
            left[lattice][p] += inside.low[p] | inside.high[p] << 16;
            const std::uint32_t low = (pairs[k][p] & 0xffffu) + inside.low[p],
                                high = (pairs[k][p] >> 16) + inside.high[p];
            std::uint32_t &low_sum = sums[lattice].low[p], &high_sum = sums[lattice].high[p];
            const std::uint32_t low_before = low_sum, high_before = high_sum;
            low_sum += backwards ? 0 - low : low, high_sum += backwards ? 0 - high : high;
            const std::uint32_t pair =
                m.permute(backwards ? low_sum : low_before, backwards ? high_sum : high_before, 0x5410);
            if (is_there && has_bins[p]) m.store(reinterpret_cast<std::uint32_t*>(at + p * B::step), pair);
          }
          if (is_counted && lattice + 1 < B::lattice_lines) AREAL_UNROLL
          for (int chunk = 0; chunk < B::lattice_step; ++chunk)
            inside.add(mine.counts(m, s.planes[direction], lattice * B::lattice_step + chunk, line));
        }
      }
    }
    if (direction == 0) AREAL_UNROLL
    for (int lattice = 0; lattice < B::lattice_lines; ++lattice) AREAL_UNROLL
    for (int p = 0; p < B::pairs; ++p) m.put(s.left[half][lattice][lane + p * B::step / 2], left[lattice][p]);
  }

  // ---- anchors

  AREAL_DEVICE void write_anchors(Shared& s, const CompactSpot& spot) {
    const std::int64_t bins = a.c.padded_bins();
    static constexpr int lattice = B::lattice_lines, all_pairs = B::bins / 2;
    for (int i = m.thread(); i < lattice * lattice * all_pairs; i += threads) {
      const int pair = i % all_pairs, point = i / all_pairs, down = point / lattice, right = point % lattice;
      const std::int64_t bin = spot.group * B::bins + 2 * pair;
      const std::int64_t row = spot.y * lattice + down, column = spot.x * lattice + right;
      if (bin >= bins || row >= a.c.rows() || column >= a.c.columns()) continue;
      std::uint64_t low = m.get(s.total[2 * pair]), high = m.get(s.total[2 * pair + 1]);
      low += std::uint64_t{m.get(s.beside[0][down][2 * pair])} + m.get(s.beside[1][right][2 * pair]);
      high += std::uint64_t{m.get(s.beside[0][down][2 * pair + 1])} + m.get(s.beside[1][right][2 * pair + 1]);
      for (int half = 0; half < 2 * down; ++half) {
        const std::uint32_t both = m.get(s.left[half][right][pair]);
        low += both & 0xffffu, high += both >> 16;
      }
      char* const to = a.store + (a.c.anchor(spot.image, row, column) + bin) * a.c.anchor_bytes;
      if (a.c.anchor_bytes == 4)
        m.store(reinterpret_cast<Vec<std::uint32_t, 2>*>(to),
                Vec<std::uint32_t, 2>{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high)}});
      else
        m.store(reinterpret_cast<Vec<std::uint64_t, 2>*>(to), Vec<std::uint64_t, 2>{{low, high}});
    }
  }
};

}  // namespace areal::kernels
