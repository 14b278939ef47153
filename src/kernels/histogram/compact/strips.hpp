#pragma once
// The compact store: anchors, row strips and column strips, in whole sectors.

#include <cstdint>
#include "kernels/histogram/compact/planes.hpp"
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A block has a tile and a group of bins. A warp has half a block's lines, two halves of up to 32 bins: strips add up
/// from the lattice line on. Reads each label once more unless a block is a tile, 4 K'/128 bytes a pixel of sums, and
/// the tiles' totals left of the tile; writes 4 K'/B bytes a pixel.
template <class M, class B>
struct CompactStrips {
  using Args = CompactArgs;
  static constexpr int warps = 8, threads = warps * warp_size, resident = 4;
  static constexpr int most_halves = 2 * compact_chunks;
  static constexpr int ahead = 4;  ///< lines whose sums are loaded together
  struct Shared {
    union {
      CompactNumbers numbers;
      /// Counts in half a block of rows, left of each of the tile's lattice columns: the lower bin and the higher one.
      std::uint32_t left[most_halves][compact_chunks][B::bins / 2];
    };
    CompactPlanes planes[2];
    std::uint64_t total[B::bins];  ///< of the tiles above and to the left
  };
  M m;
  const Args& a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const CompactSpot spot = compact_spot(m, a.groups, a.before_x, a.before_y);
    if (m.thread() < B::bins) m.put(s.total[m.thread()], std::uint64_t{0});
    m.wait_previous_launch();
    if (lattice_step() < compact_chunks && spot.x < a.tiles_x && spot.y < a.tiles_y) {
      AREAL_UNROLL
      for (int k = 0; k < compact_squares; k += warps) {
        const int square = k + m.warp();
        m.put(s.numbers.at[square][m.lane()],
              stored_numbers(m, a, spot.group, spot.image, spot.y * compact_tile + square * 4,
                             spot.x * compact_tile + m.lane() * 4));
      }
      m.sync();
      make_planes<warps>(m, s.numbers, s.planes);
    }
    m.sync();
    add_total(s, spot);
    const int units = 2 * halves();
    AREAL_NO_UNROLL
    for (int unit = m.warp() * B::lines; unit < units; unit += warps * B::lines)
      write_strips(s, spot, unit + m.lane() / B::lanes);
    m.sync();
    write_anchors(s, spot);
  }

  AREAL_DEVICE int lattice_step() const { return a.c.block / warp_size; }      ///< in chunks
  AREAL_DEVICE int lattice_lines() const { return compact_tile / a.c.block; }  ///< of a tile
  AREAL_DEVICE int halves() const { return 2 * compact_tile / a.c.block; }     ///< of a tile's blocks
  AREAL_DEVICE bool is_inside(const CompactSpot& spot) const { return spot.x < a.tiles_x && spot.y < a.tiles_y; }

  AREAL_DEVICE void add_total(Shared& s, const CompactSpot& spot) {
    const std::int64_t bins = a.c.padded_bins(), k = m.thread() % B::bins, bin = spot.group * B::bins + k;
    if (bin >= bins) return;
    static constexpr int entries = CompactArgs::entries(1);
    const std::uint32_t* const from =
        a.cells[1] + (a.tile_before(1, spot.image, spot.y, 0) * entries + compact_chunks) * bins + bin;
    const std::int64_t end = spot.x < a.tiles_x ? spot.x : a.tiles_x;
    std::uint64_t sum = 0;
    for (std::int64_t x = m.thread() / B::bins; x < end; x += threads / B::bins)
      sum += m.load(from + x * entries * bins);
    if (sum != 0) m.shared_add(s.total[k], sum);
  }

  // ---- strips

  AREAL_DEVICE void write_strips(Shared& s, const CompactSpot& spot, int unit) {
    const std::int64_t bins = a.c.padded_bins();
    const int direction = unit >= halves() ? 1 : 0, half = unit - direction * halves();
    const bool backwards = (half & 1) != 0;
    const int lane = m.lane() % B::lanes, lines = a.c.block / 2;
    const LaneBins<B> mine(lane);
    const std::int64_t first_bin = spot.group * B::bins + 2 * lane;
    const std::int64_t y = spot.y * compact_tile, x = spot.x * compact_tile;
    const std::int64_t row = spot.y * lattice_lines(), column = spot.x * lattice_lines();

    // What lies before the tile on each line.
    const bool has_before = direction == 0 ? spot.y < a.tiles_y : spot.x < a.tiles_x;
    const std::uint16_t* const before =
        a.before[direction] + a.tile_before(direction, spot.image, spot.y, spot.x) * compact_tile * bins + first_bin;
    // Strips of the tile's lattice lines, and how many of lines and of lattice lines exist.
    auto* const strips = reinterpret_cast<std::uint16_t*>(
        a.store +
        (direction == 0
             ? a.c.row_strips_at() + a.c.row_strip(spot.image, y, column) * formulas::Compact::strip_bytes
             : a.c.column_strips_at() + a.c.column_strip(spot.image, row, x) * formulas::Compact::strip_bytes));
    const std::int64_t line_pitch = direction == 0 ? a.c.columns() * bins : bins;
    const std::int64_t lattice_pitch = direction == 0 ? bins : (a.c.width + 1) * bins;
    const std::int64_t lines_left = direction == 0 ? a.c.height + 1 - y : a.c.width + 1 - x;
    const std::int64_t lattice_left = direction == 0 ? a.c.columns() - column : a.c.rows() - row;
    const bool counts = lattice_step() < compact_chunks && is_inside(spot);

    LaneCounts<B> sums[compact_chunks], left[compact_chunks];
    AREAL_NO_UNROLL
    for (int first = 0; first < lines; first += ahead) {
      std::uint32_t pairs[ahead][B::pairs];
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        const int line = line_of(half, first + k, lines, backwards);
        AREAL_UNROLL
        for (int p = 0; p < B::pairs; ++p)
          pairs[k][p] = has_before && first_bin + p * B::step < bins
                            ? m.load(reinterpret_cast<const std::uint32_t*>(before + line * bins + p * B::step))
                            : 0;
      }
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        const int line = line_of(half, first + k, lines, backwards);
        LaneCounts<B> inside;
        AREAL_UNROLL
        for (int chunk = 0; chunk < compact_chunks; ++chunk) {
          if ((chunk & (lattice_step() - 1)) == 0) {
            left[chunk].add(inside);
            const int lattice = chunk / lattice_step();
            const bool is_there = line < lines_left && lattice < lattice_left;
            AREAL_UNROLL
            for (int p = 0; p < B::pairs; ++p) {
              const std::uint32_t low = (pairs[k][p] & 0xffffu) + inside.low[p],
                                  high = (pairs[k][p] >> 16) + inside.high[p];
              std::uint32_t& low_sum = sums[chunk].low[p];
              std::uint32_t& high_sum = sums[chunk].high[p];
              // Lines after the lattice line have the sums before them, lines before it these and their own.
              const std::uint32_t low_before = low_sum, high_before = high_sum;
              low_sum += backwards ? 0 - low : low, high_sum += backwards ? 0 - high : high;
              const std::uint32_t pair =
                  m.permute(backwards ? low_sum : low_before, backwards ? high_sum : high_before, 0x5410);
              if (is_there && first_bin + p * B::step < bins)
                m.store(reinterpret_cast<std::uint32_t*>(strips + line * line_pitch + lattice * lattice_pitch +
                                                         first_bin + p * B::step),
                        pair);
            }
          }
          if (counts && chunk + lattice_step() < compact_chunks)
            inside.add(mine.counts(m, s.planes[direction], chunk, line));
        }
      }
    }
    if (direction == 0) AREAL_UNROLL
    for (int chunk = 0; chunk < compact_chunks; ++chunk)
      if ((chunk & (lattice_step() - 1)) == 0) AREAL_UNROLL
    for (int p = 0; p < B::pairs; ++p)
      m.put(s.left[half][chunk / lattice_step()][lane + p * B::step / 2],
            left[chunk].low[p] | left[chunk].high[p] << 16);
  }
  AREAL_DEVICE static int line_of(int half, int step, int lines, bool backwards) {
    return half * lines + (backwards ? lines - 1 - step : step);
  }

  // ---- anchors

  AREAL_DEVICE void write_anchors(Shared& s, const CompactSpot& spot) {
    const std::int64_t bins = a.c.padded_bins();
    const int lattice = lattice_lines(), per_lattice = lattice_step();
    static constexpr int all_pairs = B::bins / 2;
    const std::uint32_t* const rows =
        a.cells[0] + a.tile_before(0, spot.image, spot.y, spot.x) * CompactArgs::entries(0) * bins;
    const std::uint32_t* const columns =
        a.cells[1] + a.tile_before(1, spot.image, spot.y, spot.x) * CompactArgs::entries(1) * bins;
    for (int i = m.thread(); i < lattice * lattice * all_pairs; i += threads) {
      const int pair = i % all_pairs, point = i / all_pairs, down = point / lattice, right = point % lattice;
      const std::int64_t bin = spot.group * B::bins + 2 * pair;
      const std::int64_t row = spot.y * lattice + down, column = spot.x * lattice + right;
      if (bin >= bins || row >= a.c.rows() || column >= a.c.columns()) continue;
      std::uint64_t low = m.get(s.total[2 * pair]), high = m.get(s.total[2 * pair + 1]);
      if (spot.y < a.tiles_y) add_cells(rows + bin, down * per_lattice, low, high);
      if (spot.x < a.tiles_x) add_cells(columns + bin, right * per_lattice, low, high);
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
  AREAL_DEVICE void add_cells(const std::uint32_t* cells, int chunks, std::uint64_t& low, std::uint64_t& high) const {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const auto both = m.load(reinterpret_cast<const Vec<std::uint32_t, 2>*>(cells + chunk * a.c.padded_bins()));
      low += both.at[0], high += both.at[1];
    }
  }
};

}  // namespace areal::kernels
