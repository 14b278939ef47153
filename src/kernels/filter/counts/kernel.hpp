#pragma once
// window-counts: percentiles of windows of 8-bit pixels from their histograms (Huang 1979), one launch without a
// workspace.
//
// A thread walks down one column of outputs with the histogram of its window: 256 counts of 16 bits, and 16 of 16
// levels each, in shared memory, where every lane has a bank of its own. A step takes the pixels of the row that leaves
// out, and adds those of the row that enters. Reads of both come from the L1; where a window reaches beyond the first
// or the last column, its block has the columns that it shows in a table. O(width) a pixel.
//
// Reads: for each segment of S rows of outputs, width (2 S + height - 2) pixels a column. Writes: each output once.

#include <cmath>
#include <cstdint>
#include "kernels/filter/axis.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

struct CountsArgs {
  const char* image;
  char* out;
  Strides from, to;
  FilterAxis columns, rows;  ///< with edge `shrink` cut to what the image has
  int strips, segments, segment_rows, channels;
  std::uint8_t flip;    ///< bits in which level and pixel differ
  std::uint8_t beyond;  ///< the level beyond the edge
  std::uint8_t fill;    ///< the pixel of windows of fewer than min_count
  double percent;
  std::int64_t min_count;
};

template <class M, class C>
struct WindowCounts {
  using Args = CountsArgs;
  static constexpr int warps = 2, threads = warps * warp_size, resident = 6;
  static constexpr int most_width = 256, most_pixels = 65535;
  static constexpr int together = 4;  ///< pixels of either row that are read while as many are counted
  static constexpr unsigned none =
      256;  ///< the level of what is no pixel of the window; it has a count that nothing reads
  static constexpr int fine_lines = 129, coarse_lines = 9;  ///< of two counts

  struct Shared {
    std::uint32_t fine[warps * fine_lines * warp_size], coarse[warps * coarse_lines * warp_size];
    int column[threads + most_width - 1];  ///< of the block's first window on: its place in the image, -1 for none
  };

  M m;
  Args a;

  /// A lane's counts: the words of a line lie apart by a warp.
  struct Counts {
    std::uint32_t *fine, *coarse;
  };
  AREAL_DEVICE static std::uint16_t& cell(std::uint32_t* counts, unsigned bin) {
    return reinterpret_cast<std::uint16_t*>(counts)[(bin & ~1u) * warp_size + (bin & 1)];
  }

  /// A row of the image, or beyond it.
  struct Row {
    std::int64_t offset = 0;
    bool is_pixels = false;
    bool counts = false;  ///< it is of the window
  };
  AREAL_DEVICE Row row_at(int place) const {
    const int y = a.rows.pixel(place);
    return {y * a.from.row, y >= 0, y >= 0 || a.rows.edge != Edge::shrink};
  }

  struct Place {
    const char* plane;
    int x;       ///< output column
    bool sided;  ///< a window of the block reaches beyond the first or the last column
  };
  /// The level of a window's i-th pixel in a row.
  AREAL_DEVICE unsigned level(const Shared& s, const Place& at, const Row& row, int i) const {
    if (!row.counts) return none;
    if (!row.is_pixels) return a.beyond;
    int x = at.x - a.columns.before + i;
    if (at.sided) x = m.get(s.column[m.thread() + i]);
    if (x < 0) return a.columns.edge == Edge::shrink ? none : a.beyond;
    return level_at(at.plane + row.offset + x * a.from.column);
  }
  AREAL_DEVICE unsigned level_at(const char* pixel) const {
    return static_cast<unsigned>(m.load(reinterpret_cast<const std::uint8_t*>(pixel)) ^ a.flip);
  }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const FilterUnit place = FilterUnit::at(m.block(), a);
    const int y = place.y, first = place.strip * threads;
    const int last = first + threads < a.columns.outputs ? first + threads : a.columns.outputs;
    Place at;
    at.plane = a.image + place.plane_in(a.from);
    at.x = first + m.thread();
    at.sided = first - a.columns.before < 0 || last + a.columns.after() > a.columns.extent;
    if (at.sided) {
      for (int i = m.thread(); i < last - first + a.columns.size - 1; i += threads)
        m.put(s.column[i], a.columns.pixel(first - a.columns.before + i));
      m.sync();
    }
    if (at.x >= a.columns.outputs) return;
    walk(s, at, y, a.out + place.plane_in(a.to) + at.x * a.to.column);
  }

  AREAL_DEVICE void walk(Shared& s, const Place& at, int y, char* out) const {
    const Counts counts{s.fine + m.warp() * fine_lines * warp_size + m.lane(),
                        s.coarse + m.warp() * coarse_lines * warp_size + m.lane()};
    AREAL_NO_UNROLL
    for (int i = 0; i < fine_lines; ++i) m.put(counts.fine[i * warp_size], 0);
    AREAL_NO_UNROLL
    for (int i = 0; i < coarse_lines; ++i) m.put(counts.coarse[i * warp_size], 0);
    const int end = y + a.segment_rows < a.rows.outputs ? y + a.segment_rows : a.rows.outputs;
    const bool shrinks = a.columns.edge == Edge::shrink;
    const int across = shrinks ? a.columns.inside(at.x) : a.columns.size;
    std::int64_t pixels = 0;
    unsigned rank = 0;
    // Before the first output, rows only enter.
    AREAL_NO_UNROLL
    for (int n = 1 - a.rows.size; y + n < end; ++n) {
      const int enters = y + n - a.rows.before + a.rows.size - 1;
      const Row leaves = n <= 0 ? Row{} : row_at(enters - a.rows.size);
      exchange(s, at, counts, leaves, row_at(enters));
      if (n < 0) continue;
      const std::int64_t now = std::int64_t{across} * (shrinks ? a.rows.inside(y + n) : a.rows.size);
      if (now != pixels) {
        pixels = now;
        const double place = std::floor(a.percent * static_cast<double>(now) / 100);
        rank = static_cast<unsigned>(place >= static_cast<double>(now) ? static_cast<double>(now - 1) : place);
      }
      const int found = now < a.min_count ? a.fill : level_of(counts, rank) ^ a.flip;
      m.store(reinterpret_cast<std::uint8_t*>(out + (y + n) * a.to.row), static_cast<std::uint8_t>(found));
    }
  }

  AREAL_DEVICE void exchange(const Shared& s, const Place& at, const Counts& counts, const Row& leaves,
                             const Row& enters) const {
    const bool plain = !at.sided && leaves.is_pixels && enters.is_pixels;
    const std::int64_t first = (at.x - a.columns.before) * a.from.column;
    const char *const from = at.plane + (leaves.offset + first), *const to = at.plane + (enters.offset + first);
    if (plain && a.from.column == 1) {
      exchange(
          counts, [&](int i) { return level_at(from + i); }, [&](int i) { return level_at(to + i); });
    } else if (plain) {
      exchange(
          counts, [&](int i) { return level_at(from + i * a.from.column); },
          [&](int i) { return level_at(to + i * a.from.column); });
    } else {
      exchange(
          counts, [&](int i) { return level(s, at, leaves, i); }, [&](int i) { return level(s, at, enters, i); });
    }
  }
  template <class From, class To>
  AREAL_DEVICE void exchange(const Counts& counts, const From& from, const To& to) const {
    struct Levels {
      unsigned from[together], to[together];
    };
    const auto read = [&](int i) {
      Levels levels;
      AREAL_UNROLL
      for (int j = 0; j < together; ++j) {
        const bool is_pixel = i + j < a.columns.size;
        levels.from[j] = is_pixel ? from(i + j) : none, levels.to[j] = is_pixel ? to(i + j) : none;
      }
      return levels;
    };
    Levels next = read(0);
    AREAL_NO_UNROLL
    for (int i = together; i < a.columns.size + together; i += together) {
      const Levels now = next;
      next = read(i);
      AREAL_UNROLL
      for (int j = 0; j < together; ++j) {
        move(counts.fine, now.from[j], now.to[j]);
        move(counts.coarse, now.from[j] >> 4, now.to[j] >> 4);
      }
    }
  }
  /// One less in a bin, and one more in another.
  AREAL_DEVICE void move(std::uint32_t* counts, unsigned from, unsigned to) const {
    std::uint16_t &fewer = cell(counts, from), &more = cell(counts, to);
    const int before = m.get(fewer), after = m.get(more) + (from != to ? 1 : 0);
    m.put(fewer, static_cast<std::uint16_t>(before - 1));
    m.put(more, static_cast<std::uint16_t>(after));
  }

  /// The level of the pixel of that rank: the last one before whose pixels there are at most as many.
  AREAL_DEVICE int level_of(const Counts& counts, unsigned rank) const {
    unsigned before = 0;
    const int group = last_of_16(counts.coarse, rank, before);
    return 16 * group + last_of_16(counts.fine + 8 * group * warp_size, rank, before);
  }
  AREAL_DEVICE int last_of_16(const std::uint32_t* counts, unsigned rank, unsigned& before) const {
    std::uint32_t word[8];
    AREAL_UNROLL
    for (int i = 0; i < 8; ++i) word[i] = m.get(counts[i * warp_size]);
    unsigned sum = before;
    int found = 0;
    AREAL_UNROLL
    for (int i = 0; i < 16; ++i) {
      if (sum <= rank) found = i, before = sum;
      sum += i % 2 == 0 ? word[i / 2] & 0xffff : word[i / 2] >> 16;
    }
    return found;
  }
};

}  // namespace areal::kernels
