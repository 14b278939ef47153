#pragma once
// window-counts: percentiles of windows of 8-bit pixels, Equalize, Otsu, Entropy, Modal and Bilateral, from the
// windows' histograms (Huang 1979), in one launch. Entropies and weights of Bilateral read a table in the workspace.
//
// A thread walks down one column of outputs with the histogram of its window: 256 counts of 16 bits, and 16 of 16
// levels each, in shared memory, where every lane has a bank of its own. A step takes the pixels of the row that leaves
// out, and adds those of the row that enters. Reads of both come from the L1; where a window reaches beyond the first
// or the last column, its block has the columns that it shows in a table. O(width) a pixel, and O(256) for Otsu, Modal
// and Bilateral. Entropies follow each count that changes; they need no groups of levels.
//
// Reads: for each segment of S rows of outputs, width (2 S + height - 2) pixels a column, one more for each output of
// Equalize and Bilateral, and of the table a number for each count that changes, or for each level within reach.
// Writes: each output once.

#include <cmath>
#include <cstdint>
#include "formulas/level_statistics.hpp"
#include "kernels/filter/axis.hpp"
#include "kernels/filter/counts/statistics.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

enum class CountsStatistic : std::uint8_t { percentile, equalize, otsu, entropy, modal, bilateral };

struct CountsArgs {
  const char* image;
  const char* mask;  ///< null, or an image of bytes
  char* out;
  const char* table;
  Strides from, mask_from, to;
  FilterAxis columns, rows;  ///< with edge `shrink` cut to what the image has
  int strips, segments, segment_rows, channels;
  std::uint8_t flip;    ///< bits in which level and pixel differ
  std::uint8_t beyond;  ///< the level beyond the edge
  CountsStatistic statistic;
  double percent;    ///< of a percentile
  bool zeros_alone;  ///< of Otsu
  int reach;         ///< of Bilateral
  int most;          ///< pixels of a window, of Entropy
  int centre_x, centre_y;
  Type out_type;
  bool out_aligned;
  double fill;  ///< the output of windows of fewer than min_count pixels
  std::uint8_t fill_pixel;
  std::int64_t min_count;  ///< at least 1
};

/// Percentiles, Entropy and the others have kernels of their own.
template <CountsStatistic statistic_>
struct CountsOf {
  static constexpr CountsStatistic statistic = statistic_;
  static constexpr bool terms = statistic == CountsStatistic::entropy;
  static constexpr bool percentile = statistic == CountsStatistic::percentile;
};
using OtherCounts = CountsOf<CountsStatistic::otsu>;

template <class M, class C>
struct WindowCounts {
  using Args = CountsArgs;
  static constexpr int warps = 2, threads = warps * warp_size, resident = 6;
  static constexpr int most_width = 256, most_pixels = 65535;
  static constexpr int together = 4;  ///< pixels of either row that are read while as many are counted
  using Counts = LevelCounts<M>;
  static constexpr unsigned none = Counts::none;

  struct Shared {
    std::uint32_t fine[warps * Counts::fine_lines * warp_size];
    std::uint32_t coarse[C::terms ? 1 : warps * Counts::coarse_lines * warp_size];
    int column[threads + most_width - 1];  ///< of the block's first window on: its place in the image, -1 for none
  };

  M m;
  Args a;

  /// A row of the image, or beyond it.
  struct Row {
    std::int64_t offset = 0, mask_offset = 0;
    bool is_pixels = false;
    bool counts = false;  ///< it is of the window
  };
  AREAL_DEVICE Row row_at(int place) const {
    const int y = a.rows.pixel(place);
    return {y * a.from.row, y * a.mask_from.row, y >= 0, y >= 0 || a.rows.edge != Edge::shrink};
  }

  struct Place {
    const char *plane, *mask;
    int x;       ///< output column
    bool sided;  ///< a window of the block reaches beyond the first or the last column
  };
  /// The level of a window's i-th pixel in a row.
  template <bool masked>
  AREAL_DEVICE unsigned level(const Shared& s, const Place& at, const Row& row, int i) const {
    if (!row.counts) return none;
    if (!row.is_pixels) return a.beyond;
    int x = at.x - a.columns.before + i;
    if (at.sided) x = m.get(s.column[m.thread() + i]);
    if (x < 0) return a.columns.edge == Edge::shrink ? none : a.beyond;
    if (masked && m.load(at.mask + row.mask_offset + x * a.mask_from.column) == 0) return none;
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
    at.mask = a.mask == nullptr ? nullptr : a.mask + place.image * a.mask_from.batch;
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
    const Counts counts{m, s.fine + m.warp() * Counts::fine_lines * warp_size + m.lane(),
                        C::terms ? nullptr : s.coarse + m.warp() * Counts::coarse_lines * warp_size + m.lane()};
    counts.clear(!C::terms);
    const int end = y + a.segment_rows < a.rows.outputs ? y + a.segment_rows : a.rows.outputs;
    Of window;
    // Before the first output, rows only enter.
    AREAL_NO_UNROLL
    for (int n = 1 - a.rows.size; y + n < end; ++n) {
      const int enters = y + n - a.rows.before + a.rows.size - 1;
      const Row leaves = n <= 0 ? Row{} : row_at(enters - a.rows.size);
      exchange(s, at, counts, window.terms, leaves, row_at(enters));
      if (n < 0) continue;
      if (const int pixels = counts.pixels(); pixels != window.pixels) resize(window, pixels);
      write(counts, window, at, y + n, out + (y + n) * a.to.row);
    }
  }

  // ---------------------------------------------------------------- outputs

  /// What is known of a window beside its counts.
  struct Of {
    int pixels = 0;
    unsigned rank = 0;       ///< of the percentile
    std::int64_t whole = 0;  ///< the term of all pixels
    std::int64_t terms = 0;  ///< the sum of those of the levels
  };
  AREAL_DEVICE const std::int64_t* table() const { return reinterpret_cast<const std::int64_t*>(a.table); }
  AREAL_DEVICE void resize(Of& window, int pixels) const {
    window.pixels = pixels;
    if (pixels == 0) return;
    if constexpr (C::terms) {
      window.whole = m.load(table() + pixels);
    } else if constexpr (C::percentile) {
      const double place = std::floor(a.percent * pixels / 100);
      window.rank = static_cast<unsigned>(place >= pixels ? pixels - 1 : place);
    }
  }
  AREAL_DEVICE void write(const Counts& counts, const Of& window, const Place& at, int y, char* to) const {
    const bool is_valid = window.pixels >= a.min_count;
    if constexpr (C::percentile) {
      const int pixel = is_valid ? counts.level_of(window.rank) ^ a.flip : a.fill_pixel;
      m.store(reinterpret_cast<std::uint8_t*>(to), static_cast<std::uint8_t>(pixel));
    } else {
      const double value = is_valid ? value_of(counts, window, at, y) : a.fill;
      store_rounded(m, to, a.out_type, value == value ? value : a.fill, a.out_aligned);
    }
  }
  /// NaN for none.
  AREAL_DEVICE double value_of(const Counts& counts, const Of& window, const Place& at, int y) const {
    const auto pixels = static_cast<unsigned>(window.pixels);
    if constexpr (C::terms) {
      return formulas::entropy_of(window.whole - window.terms, pixels);
    } else {
      switch (a.statistic) {
        case CountsStatistic::equalize:
          return static_cast<int>(255 * counts.up_to(centre(at, y)) / pixels);
        case CountsStatistic::otsu:
          return counts.split(pixels, a.zeros_alone);
        case CountsStatistic::modal:
          return counts.mode();
        default:
          return counts.bilateral(centre(at, y), reinterpret_cast<const RangePair*>(a.table), a.reach);
      }
    }
  }
  /// The pixel that an output belongs to.
  AREAL_DEVICE int centre(const Place& at, int y) const {
    const std::int64_t row = (y + a.centre_y) * a.from.row, column = (at.x + a.centre_x) * a.from.column;
    return static_cast<int>(level_at(at.plane + row + column));
  }

  // ---------------------------------------------------------------- counts

  AREAL_DEVICE void exchange(const Shared& s, const Place& at, const Counts& counts, std::int64_t& terms,
                             const Row& leaves, const Row& enters) const {
    const bool plain = !at.sided && at.mask == nullptr && leaves.is_pixels && enters.is_pixels;
    const std::int64_t first = (at.x - a.columns.before) * a.from.column;
    const char *const from = at.plane + (leaves.offset + first), *const to = at.plane + (enters.offset + first);
    if (plain && a.from.column == 1) {
      exchange(
          counts, terms, [&](int i) { return level_at(from + i); }, [&](int i) { return level_at(to + i); });
    } else if (plain) {
      exchange(
          counts, terms, [&](int i) { return level_at(from + i * a.from.column); },
          [&](int i) { return level_at(to + i * a.from.column); });
    } else if (at.mask == nullptr) {
      exchange(
          counts, terms, [&](int i) { return level<false>(s, at, leaves, i); },
          [&](int i) { return level<false>(s, at, enters, i); });
    } else {
      exchange(
          counts, terms, [&](int i) { return level<true>(s, at, leaves, i); },
          [&](int i) { return level<true>(s, at, enters, i); });
    }
  }
  template <class From, class To>
  AREAL_DEVICE void exchange(const Counts& counts, std::int64_t& terms, const From& from, const To& to) const {
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
        const Changed changed = move(counts.fine, now.from[j], now.to[j]);
        if constexpr (C::terms) {
          const std::int64_t* const more = table() + a.most;  // [c]: the term of c less that of c - 1
          const bool moves = now.from[j] != now.to[j];
          if (moves && now.from[j] != none) terms -= m.load(more + changed.before);
          if (moves && now.to[j] != none) terms += m.load(more + changed.after);
        } else {
          move(counts.coarse, now.from[j] >> 4, now.to[j] >> 4);
        }
      }
    }
  }
  struct Changed {
    int before, after;  ///< the first count before, the second one after the move
  };
  /// One less in a bin, and one more in another.
  AREAL_DEVICE Changed move(std::uint32_t* counts, unsigned from, unsigned to) const {
    std::uint16_t &fewer = Counts::cell(counts, from), &more = Counts::cell(counts, to);
    const int before = m.get(fewer), after = m.get(more) + (from != to ? 1 : 0);
    m.put(fewer, static_cast<std::uint16_t>(before - 1));
    m.put(more, static_cast<std::uint16_t>(after));
    return {before, after};
  }
};

}  // namespace areal::kernels
