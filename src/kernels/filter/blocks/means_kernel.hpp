#pragma once
// Means of floats by blocks where every pixel counts: the additions of `Blocks` in the same order, one launch.
//
// A block of threads walks down a strip of 256 columns, 8 rows, a block of the order, a step. Rows come by asynchronous
// copies into a ring in shared memory, where those of the block that windows leave are read again. Down: a thread has a
// column. It adds up the block that windows end in from its first row on, and the one that they leave from its last row
// on; totals of the blocks between wait in shared memory. Windows that begin in a block's last rows end in the next
// step: what they have so far waits in registers.
//
// Along: the sums of 8 rows turn through shared memory, a row to a warp. A lane has a block of 8 columns and the
// windows that begin there; the sums that they end with come by shuffles. Means return to the row's place in shared
// memory, and go out from there as vectors of aligned addresses. The last lanes have only incomplete windows.
//
// Reads: of each segment and strip the 256 columns of its blocks of rows, from the one before the first window's first
// block on, each once. Writes: each output once.

#include <cmath>
#include <cstdint>
#include "kernels/filter/blocks/blocks_kernel.hpp"

namespace areal::kernels {

/// Means of 32f to 32f of windows that end up to `away` blocks of rows, or one more, after the block they begin in.
template <int away_>
struct MeansByBlocks {
  static constexpr int away = away_;
};

template <class M, class C>
struct BlockMeans {
  using Args = BlocksArgs;
  static constexpr int block = 8, V = 4;
  static constexpr int threads = 256, lines = threads / warp_size, vectors = threads / V;  // a thread has a column
  static constexpr int away = C::away, resident = away > 3 ? 2 : 3;
  static constexpr int slots = away + 2;          // of blocks of rows
  static constexpr int turns = away > 1 ? 1 : 2;  // of steps' sums
  static constexpr std::int64_t most_width = 64;  // three quarters of the lanes have complete windows
  static constexpr int totals = away > 1 ? away - 1 : 1;
  static_assert(lines == block);  // a warp has a row
  using Two = Vec<double, 2>;
  using Four = Vec<float, V>;

  struct alignas(16) Shared {
    float rows[slots][block][threads];
    double sums[turns][block][threads];  // down the columns; means, by the warp that has read them
    double kept[totals][threads];        // totals of whole blocks of rows
    Two reciprocals[most_width];         // of the pixels of whole rows of 1, 2, .. columns, where windows lose some
    int shown[threads];                  // the columns' pixels; -1: beyond the edge, or not needed
  };

  M m;
  Args a;

  struct Place {
    const char* image;  ///< the plane
    char* out;          ///< the plane, at the first lane's first output, which may lie before the strip
    int column;         ///< the first
    int step, steps;    ///< the first block of rows that outputs' windows end in, and the one after the last
    bool whole;         ///< the thread copies vectors of the image
    bool full;          ///< the lane's windows have as many columns as any
  };

  AREAL_DEVICE Place place_of() const {
    Place at;
    const FilterUnit unit = FilterUnit::at(m.block(), a);
    at.image = a.image + unit.plane_in(a.from);
    at.column = a.first_column + unit.strip * a.strip_columns;
    at.step = unit.y / block + ((a.rows.size - 1 - a.rows.before) >> 3);
    const int last = (a.rows.outputs - 1 + a.rows.size - 1 - a.rows.before) >> 3;
    at.steps = at.step + a.segment_rows / block < last + 1 ? at.step + a.segment_rows / block : last + 1;
    const int out = at.column + a.columns.before;
    at.out = a.out + unit.plane_in(a.to) + out * static_cast<std::int64_t>(sizeof(float));
    const int copied = at.column + V * (m.thread() % vectors), lane = at.column + block * m.lane();
    at.whole = a.vectors && copied >= 0 && copied + V <= a.columns.extent;
    at.full = a.columns.edge != Edge::shrink || (lane >= 0 && lane + block - 1 + a.columns.size <= a.columns.extent);
    return at;
  }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place at = place_of();
    const int x = at.column + m.thread(), needed = a.columns.outputs - a.columns.before + a.columns.size - 1;
    m.put(s.shown[m.thread()], x < -a.columns.before || x >= needed ? -1 : a.columns.pixel(x));
    if (a.columns.edge == Edge::shrink && m.thread() < most_width) {
      const auto one = Reciprocal::of(static_cast<double>(a.rows.size) * (m.thread() + 1));
      m.put(s.reciprocals[m.thread()], Two{{one.high, one.low}});
    }
    m.sync();
    const int distance = away <= 1 ? away : (a.rows.size - 1) / block, used = distance + 2;
    double waiting[block - 1] = {};  // of windows that end in the next step: all but the last block
    int number = at.step - distance - 1, slot = 0, old = distance == 0 ? 0 : used - distance;
    AREAL_NO_UNROLL
    for (int i = 0; i < used; ++i) fetch(s, at, number + i, i);
    m.template wait_copies<0>();
    m.sync();
    const auto next = [&] {
      if (++slot == used) slot = 0;
      if (++old == used) old = 0;
    };
    AREAL_NO_UNROLL
    for (; number < at.step - 1; ++number) {
      double total = row(s, slot, 0);
      AREAL_UNROLL
      for (int i = 1; i < block; ++i) total = total + row(s, slot, i);
      keep(s, number, total);
      next();
    }
    // The first of these steps has no outputs.
    AREAL_NO_UNROLL
    for (; number < at.steps; ++number) {
      double(*const sums)[threads] = s.sums[turns == 1 ? 0 : number & 1];
      down_any(s, sums, waiting, number, slot, old);
      m.template wait_copies<0>();
      m.sync();
      fetch(s, at, number + 2, old);
      next();
      const int y = block * number + m.warp() - (a.rows.size - 1) + a.rows.before;
      if (number >= at.step && y >= 0 && y < a.rows.outputs) along(s, sums[m.warp()], at, y);
      if (turns == 1) m.sync();
    }
  }

  // ---------------------------------------------------------------- rows

  /// Begins to copy a block of rows.
  AREAL_DEVICE void fetch(Shared& s, const Place& at, int number, int slot) const {
    if (number < at.steps) {
      const int first = block * number, vector = m.thread() % vectors;
      const bool inside = first >= 0 && first + block <= a.rows.extent;
      AREAL_UNROLL
      for (int i = 0; i < block; i += threads / vectors) {
        const int r = i + m.thread() / vectors, y = inside ? first + r : a.rows.pixel(first + r);
        const char* const from = at.image + y * a.from.row;
        if (y >= 0 && at.whole) {
          const std::int64_t x = at.column + V * vector;
          m.copy_async(reinterpret_cast<Four&>(s.rows[slot][r][V * vector]),
                       reinterpret_cast<const Four*>(from + x * static_cast<std::int64_t>(sizeof(float))));
        } else if (y >= 0) {
          fetch_words(s, s.rows[slot][r], from);
        } else {
          AREAL_UNROLL
          for (int j = 0; j < V; ++j) m.put(s.rows[slot][r][vector + vectors * j], beyond());
        }
      }
    }
    m.commit_copies();
  }
  AREAL_DEVICE float beyond() const { return __builtin_bit_cast(float, static_cast<std::uint32_t>(a.beyond)); }
  /// Four columns of a row, next to each other where other threads copy vectors.
  AREAL_DEVICE void fetch_words(Shared& s, float (&to)[threads], const char* from) const {
    const int vector = m.thread() % vectors;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int i = a.vectors ? V * vector + j : vector + vectors * j, x = m.get(s.shown[i]);
      const char* const pixel = from + x * a.from.column;
      if (x < 0)
        m.put(to[i], beyond());
      else if (a.finish.pixel_aligned)
        m.copy_async(to[i], reinterpret_cast<const float*>(pixel));
      else
        m.put(to[i], load_element<M, float>(m, pixel, false));
    }
  }
  AREAL_DEVICE double row(const Shared& s, int slot, int i) const {
    return static_cast<double>(m.get(s.rows[slot][i][m.thread()]));
  }

  // ---------------------------------------------------------------- down the columns

  AREAL_DEVICE static int place(int number) { return (number + 1024 * totals) % totals; }
  AREAL_DEVICE void keep(Shared& s, int number, double total) const {
    if constexpr (away > 1) m.put(s.kept[place(number)][m.thread()], total);
  }
  /// The sum of the totals between a window's first and last block of rows.
  AREAL_DEVICE double between(const Shared& s, int number) const {
    double sum = 0;
    if constexpr (away > 1)
      with_rest((a.rows.size - 1) / block - 1, [&]<int n>() {
        AREAL_UNROLL
        for (int i = n; i > 0; --i) {
          const double total = m.get(s.kept[place(number - i)][m.thread()]);
          sum = i == n ? total : sum + total;
        }
      });
    return sum;
  }

  /// A step of windows whose rows are `rest` more than whole blocks and one. No sum
  /// begins with 0: the sign of a sum of zeros is a.zero's.
  template <int rest>
  AREAL_DEVICE void down_by(Shared& s, double (*sums)[threads], double (&waiting)[block - 1], int number, int slot,
                            int old) const {
    double leaving[block], whole = 0, end = 0, entering[away == 0 ? block : 1];
    if constexpr (away > 0) {
      AREAL_UNROLL
      for (int i = block - 1; i >= 0; --i) {
        const double pixel = row(s, old, i);
        leaving[i] = i == block - 1 ? pixel : pixel + leaving[(i + 1) % block];
      }
      whole = between(s, number);
    }
    const int x = m.thread(), q = x / block, cell = block * q + (((x >> 1 & 3) ^ (q >> 1 & 3)) << 1) + x % 2;
    AREAL_UNROLL
    for (int j = 0; j < block; ++j) {
      const double pixel = row(s, slot, j);
      if constexpr (away == 0) entering[j] = pixel;
      end = j == 0 ? pixel : end + pixel;
      double sum;
      if (j < rest) {
        sum = waiting[j % (block - 1)] + end;
      } else if constexpr (away == 0) {
        sum = entering[(j - rest) % block];
        AREAL_UNROLL
        for (int i = j - rest + 1; i <= j; ++i) sum = sum + entering[i % block];
      } else {
        const double begin = leaving[(j - rest) % block];
        sum = (away > 1 ? begin + whole : begin) + end;
      }
      m.put(sums[j][cell], sum);
    }
    if constexpr (away == 0) {
      leaving[block - 1] = entering[block - 1] + 0.0;
      AREAL_UNROLL
      for (int i = block - 2; i >= 0; --i) leaving[i] = entering[i] + leaving[i + 1];
    } else {
      whole = away > 1 ? whole + end : end;
    }
    AREAL_UNROLL
    for (int j = 0; j < rest; ++j)
      waiting[j] = away == 0 ? leaving[block - rest + j] : leaving[block - rest + j] + whole;
    keep(s, number, end);
  }
  /// f<n>() for n = 0 to 7.
  template <class F>
  AREAL_DEVICE static void with_rest(int n, const F& f) {
    switch (n) {
      case 0:
        return f.template operator()<0>();
      case 1:
        return f.template operator()<1>();
      case 2:
        return f.template operator()<2>();
      case 3:
        return f.template operator()<3>();
      case 4:
        return f.template operator()<4>();
      case 5:
        return f.template operator()<5>();
      case 6:
        return f.template operator()<6>();
      default:
        return f.template operator()<7>();
    }
  }
  AREAL_DEVICE void down_any(Shared& s, double (*sums)[threads], double (&waiting)[block - 1], int number, int slot,
                             int old) const {
    with_rest((a.rows.size - 1) % block, [&]<int rest>() { down_by<rest>(s, sums, waiting, number, slot, old); });
  }

  // ---------------------------------------------------------------- along the row

  /// The windows of a warp's row of column sums, and their outputs.
  AREAL_DEVICE void along(const Shared& s, double (&line)[threads], const Place& at, int y) const {
    double window[block];
    a.columns.size <= block ? windows<true>(line, window) : windows<false>(line, window);
    float mean[block];
    if (a.columns.edge == Edge::shrink && a.rows.inside(y) < a.rows.size) {
      divide(at, y, window, mean);
    } else if (at.full) {
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) mean[j] = mean_of(window[j], a.whole);
    } else {
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) {
        const int x = at.column + block * m.lane() + a.columns.before + j;
        const Two one = m.get(s.reciprocals[a.columns.inside(x) - 1]);
        mean[j] = mean_of(window[j], {one.at[0], one.at[1]});
      }
    }
    store(line, at, y, mean);
  }
  AREAL_DEVICE float mean_of(double sum, const Reciprocal& one) const {
    return static_cast<float>(std::fma(sum, one.high, std::fma(sum, one.low, a.zero)));
  }
  /// Of the lane's columns; `low`: of up to 8 columns.
  template <bool low>
  AREAL_DEVICE void windows(const double (&line)[threads], double (&window)[block]) const {
    double column[block], end[block];
    AREAL_UNROLL
    for (int i = 0; i < block / 2; ++i) {
      const int cell = block * m.lane() + ((i ^ (m.lane() >> 1 & 3)) << 1);
      const Two two = m.get(reinterpret_cast<const Two&>(line[cell]));
      column[2 * i] = two.at[0], column[2 * i + 1] = two.at[1];
    }
    end[0] = column[0], window[block - 1] = low ? column[block - 1] + 0.0 : column[block - 1];
    AREAL_UNROLL
    for (int j = 1; j < block; ++j) {
      end[j] = end[j - 1] + column[j];
      window[block - 1 - j] = column[block - 1 - j] + window[block - j];
    }
    // Totals of the blocks between; windows that begin in the block's last columns have one more.
    const int distance = (a.columns.size - 1) / block;
    double some = 0, more = 0;
    if constexpr (!low)
      with_rest(distance, [&]<int n>() {
        AREAL_UNROLL
        for (int i = 1; i <= n; ++i) {
          const double total = m.shuffle_down(end[block - 1], i);
          some = more, more = i == 1 ? total : more + total;
        }
      });
    with_rest((a.columns.size - 1) % block, [&]<int rest>() {
      AREAL_UNROLL
      for (int j = 0; j < block; ++j) {
        if (j + rest >= block) {
          const double last = m.shuffle_down(end[(j + rest) % block], low ? 1 : distance + 1);
          window[j] = (low ? window[j] : window[j] + more) + last;
        } else if constexpr (low) {
          window[j] = column[j];
          AREAL_UNROLL
          for (int i = j + 1; i <= j + rest; ++i) window[j] = window[j] + column[i % block];
        } else {
          window[j] = (window[j] + some) + m.shuffle_down(end[(j + rest) % block], distance);
        }
      }
    });
  }

  // ---------------------------------------------------------------- outputs

  /// A lane's means of windows that lose rows at the edge.
  AREAL_DEVICE void divide(const Place& at, int y, double (&window)[block], float (&mean)[block]) const {
    const double down = a.rows.inside(y);
    AREAL_NO_UNROLL
    for (int x = at.column + block * m.lane() + a.columns.before, end = x + block; x < end; ++x) {
      const double count = down * a.columns.inside(x);
      const auto one = static_cast<float>((window[0] + a.zero) / count);
      AREAL_UNROLL
      for (int j = 0; j + 1 < block; ++j) window[j] = window[j + 1], mean[j] = mean[j + 1];
      mean[block - 1] = one;
    }
  }
  /// Stores a row's outputs as vectors of aligned addresses, each from the end of one lane's and the beginning of the
  /// next one's. The first lane stores those before.
  AREAL_DEVICE void store(double (&line)[threads], const Place& at, int y, const float (&mean)[block]) const {
    float* const to = reinterpret_cast<float*>(at.out + y * a.to.row);
    const int over = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % V);  // in all lanes
    const int shift = over == 0 ? 0 : V - over;
    const int out = at.column + a.columns.before, end_of_strip = a.lead + a.strip_columns;
    const int begin = out + a.lead < 0 ? -out : a.lead;  // outputs of the strip, from the first lane's first on
    const int end = a.columns.outputs - out < end_of_strip ? a.columns.outputs - out : end_of_strip;
    Four* const staged = reinterpret_cast<Four*>(line);
    m.sync_warp(full_mask);  // all lanes have read the line
    switch (shift) {
      case 0:
        stage<0>(staged, mean);
        break;
      case 1:
        stage<1>(staged, mean);
        break;
      case 2:
        stage<2>(staged, mean);
        break;
      default:
        stage<3>(staged, mean);
    }
    m.sync_warp(full_mask);
    AREAL_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int vector = m.lane() + warp_size * i, x = shift + V * vector;
      const Four four = m.get(staged[vector ^ (vector >> 3 & 1)]);
      if (x >= begin && x + V <= end) {
        m.store_streaming(reinterpret_cast<Four*>(to + x), four);
      } else if (x + V > begin && x < end) {
        AREAL_UNROLL
        for (int j = 0; j < V; ++j)
          if (x + j >= begin && x + j < end) m.store_streaming(to + x + j, four.at[j]);
      }
    }
    if (m.lane() > 0 || begin >= shift) return;
    AREAL_UNROLL
    for (int j = 0; j < V - 1; ++j)
      if (j < shift && j >= begin && j < end) m.store_streaming(to + j, mean[j]);
  }
  /// Eight means from mean[by] on, the last ones from the next lane.
  template <int by>
  AREAL_DEVICE void stage(Four* staged, const float (&mean)[block]) const {
    float one[block];
    AREAL_UNROLL
    for (int j = 0; j < block; ++j)
      one[j] = j + by < block ? mean[(j + by) % block] : m.shuffle_down(mean[(j + by) % block], 1);
    const int swap = m.lane() >> 2 & 1;
    m.put(staged[2 * m.lane() + swap], Four{{one[0], one[1], one[2], one[3]}});
    m.put(staged[2 * m.lane() + 1 - swap], Four{{one[4], one[5], one[6], one[7]}});
  }
};

}  // namespace areal::kernels
