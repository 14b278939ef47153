#pragma once
// blocks: windows' sums of floats straight from the pixels, in the CPU's order of additions, one launch.
//
// A block of threads walks down a strip of columns; a thread has four of them, half a block of 8 columns. Going down,
// it keeps the sum of the block of 8 rows that the window ends in, up to there, and of the whole blocks between. When
// windows begin to leave a block of rows, its rows are read a second time, from the last upwards, and the sums of its
// last rows, of its last two, .. wait in shared memory. Totals of whole blocks wait in a ring, which windows of up to
// 16 rows do not need. Windows of up to 8 rows read all their rows instead.
//
// Along the row, the two threads of a block of columns exchange one sum, so that each knows those from the block's
// beginning to its columns, and from them to the block's end. The former go into shared memory, where the threads whose
// windows end there find them. The last threads have only incomplete windows.
//
// Reads: for each segment of S rows and strip S + height - 1 rows, less those of the first window's first block, and
// once more the rows of the blocks that windows leave. Writes: each output once.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include "kernels/filter/axis.hpp"
#include "kernels/filter/blocks/columns.hpp"
#include "kernels/filter/finish.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// 1 / n = high + low, low > 0. So fma(sum, high, sum low) is the rounded quotient sum / n of any sum of floats and
/// n < 2^40, infinities included: no quotient is as near to the middle of two doubles as the sum's error, but it is
/// one.
struct Reciprocal {
  double high, low;

  AREAL_BOTH static Reciprocal of(double n) {
    double high = 1 / n;
    if (std::fma(high, n, -1.) > 0) high = __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, high) - 1);
    const double low = -std::fma(high, n, -1.) / n;
    return {high, low > 0 ? low : 0x1p-600};  // too small for any sum, but not 0
  }
};

struct BlocksArgs {
  const char *image, *mask;  ///< no mask: nullptr
  char *out, *ring;          ///< ring: of each block of the grid, `ring_bytes`; null if that in shared memory is enough
  Strides from, marks, to;
  FilterAxis columns, rows;
  std::int64_t units;  ///< planes x segments x strips
  std::int64_t ring_bytes;
  int strips, segments, segment_rows, channels;
  int strip_columns;     ///< outputs
  int ends[4];           ///< where the first thread's windows find the sums of their last blocks
  int ring_length;       ///< totals of whole blocks that windows' first blocks have in common with the next ones
  std::uint64_t beyond;  ///< bits of a pixel beyond the edge
  bool beyond_counts;    ///< it does
  bool omit_nan;
  bool vectors, mask_words;  ///< a thread's pixels, and marks, are aligned vectors
  bool quick;                ///< means of floats side by side, all of whose pixels count
  double reciprocal;         ///< of the pixels of a whole window
  // For BlockMeans:
  int first_column, lead;  ///< of the first strip; the first lane's outputs that are no strip's or the one's before
  Reciprocal whole;        ///< of the pixels of a whole window
  double zero;             ///< -0 keeps the sign of a sum of zeros
  FilterFinish finish;
};

/// sum / n by n's reciprocal, where `has_quotient`: as the error of the product is at most two units in the last place,
/// the remainder is exact, and the quotients of n < 2^40 are farther from the middle of two doubles than the error of
/// the second product.
AREAL_DEVICE double quotient(double sum, double n, double reciprocal) {
  const double near = sum * reciprocal;
  return std::fma(std::fma(-near, n, sum), reciprocal, near);
}
/// The sum is far from the ends of the exponents' range; 0 is not.
AREAL_DEVICE bool has_quotient(double sum) {
  const auto high = static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, sum) >> 32) & 0x7ff00000u;
  return high - 0x10000000u < 0x60000000u;
}

template <class M, class C>
struct Blocks {
  using Args = BlocksArgs;
  using In = typename C::In;
  using Term = typename C::Term;
  static constexpr int terms = C::count, block = 8, V = 4;
  static constexpr bool counts = C::counts;
  static constexpr int threads = 128, resident = terms > 2 ? 1 : terms > 1 ? 2 : sizeof(In) > 4 ? 3 : 4;
  static constexpr int near_ring = terms > 2 ? 0 : 3;           // in shared memory
  static constexpr int ahead = sizeof(In) * terms > 4 ? 2 : 3;  // rows on their way
  static constexpr std::int64_t most_rows = 512;
  static constexpr std::int64_t most_width = 384;  // a quarter of the threads have complete windows
  using Pair = Vec<double, 2>;

  /// Terms of a thread's columns, in vectors side by side of the threads.
  struct Held {
    Pair at[terms * V / 2][threads];
  };
  struct Shared {
    double ends[2][terms][V * threads];  // of rows in turns: sums from the beginning of a block of columns
    Held suffix[block];
    Held ring[near_ring == 0 ? 1 : near_ring];
    int shown[V][threads];  // the pixels of a thread whose columns are no vector of the image; -1: beyond
  };

  M m;
  Args a;

  struct Place {
    const char *image, *mask;  ///< the plane
    char *out, *ring;
    int x;           ///< the output of the window that begins at the thread's first column
    int y, rows;     ///< the segment's first output row, and its rows of outputs
    int begin, end;  ///< output columns of the strip
    bool whole;      ///< the columns are a vector of the image
    bool full;       ///< their windows have as many columns as any
    bool upper;      ///< they are the upper half of their block
    int complete;    ///< the thread, or the last one whose windows are complete
    int last;        ///< the row after the last one that windows need
  };
  /// Four pixels as they lie in memory; of 16f their bits, as arrays of Half call a constructor in unoptimized builds.
  using Bits = std::conditional_t<std::is_same_v<In, Half>, std::uint16_t, In>;
  struct Raw {
    Bits pixel[V];
    std::uint32_t marks;  // a byte each: 0 does not count
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    int turn = 0;
    AREAL_NO_UNROLL
    for (std::int64_t unit = m.block(); unit < a.units; unit += m.blocks()) walk(s, place_of(s, unit), turn);
  }

  AREAL_DEVICE Place place_of(Shared& s, std::int64_t unit) const {
    Place at;
    const FilterUnit place = FilterUnit::at(unit, a);
    at.y = place.y;
    at.image = a.image + place.plane_in(a.from);
    at.mask = a.mask + place.image * a.marks.batch;
    at.out = a.out + place.plane_in(a.to);
    at.ring = a.ring + m.block() * a.ring_bytes;
    at.rows = a.rows.outputs - at.y < a.segment_rows ? a.rows.outputs - at.y : a.segment_rows;
    at.last = at.y - a.rows.before + at.rows + a.rows.size - 1;
    const int first = -a.columns.before - (-a.columns.before & (block - 1));  // a block's first column
    const int column = first + place.strip * a.strip_columns + V * m.thread();
    at.x = column + a.columns.before;
    at.begin = at.x - V * m.thread();
    at.end = a.columns.outputs - at.begin < a.strip_columns ? a.columns.outputs : at.begin + a.strip_columns;
    if (at.begin < 0) at.begin = 0;
    at.whole = a.vectors && column >= 0 && column + V <= a.columns.extent;
    at.full = a.columns.edge != Edge::shrink || (column >= 0 && column + V - 1 + a.columns.size <= a.columns.extent);
    at.upper = m.thread() % 2 != 0;
    const int complete = a.strip_columns / V - 1;
    at.complete = m.thread() < complete ? m.thread() : complete;
    const int needed = a.columns.outputs - a.columns.before + a.columns.size - 1;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = column + j;
      m.put(s.shown[j][m.thread()], x < -a.columns.before || x >= needed ? -1 : a.columns.pixel(x));
    }
    return at;
  }

  // ---------------------------------------------------------------- rows

  AREAL_DEVICE In beyond() const {
    if constexpr (sizeof(In) == 8)
      return __builtin_bit_cast(In, a.beyond);
    else if constexpr (sizeof(In) == 4)
      return __builtin_bit_cast(In, static_cast<std::uint32_t>(a.beyond));
    else
      return __builtin_bit_cast(In, static_cast<std::uint16_t>(a.beyond));
  }

  /// A thread's columns of the row at a position.
  AREAL_DEVICE Raw row(const Shared& s, const Place& at, int position) const {
    Raw raw;
    const int y = a.rows.pixel(position);
    if (y < 0) {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j) raw.pixel[j] = __builtin_bit_cast(Bits, beyond());
      raw.marks = a.beyond_counts ? 0x01010101 : 0;
      return raw;
    }
    if (at.whole) return vector(at, y);
    const char* const from = at.image + y * a.from.row;
    const char* const marks = at.mask + y * a.marks.row;
    raw.marks = 0x01010101;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = m.get(s.shown[j][m.thread()]);
      raw.pixel[j] = __builtin_bit_cast(
          Bits, x < 0 ? beyond() : load_element<M, In>(m, from + x * a.from.column, a.finish.pixel_aligned));
      if constexpr (C::counts) {
        std::uint32_t mark = x < 0 ? a.beyond_counts : 1;
        if (a.mask != nullptr && x >= 0)
          mark = m.load(reinterpret_cast<const std::uint8_t*>(marks + x * a.marks.column));
        raw.marks = (raw.marks & ~(0xffu << (8 * j))) | mark << (8 * j);
      }
    }
    return raw;
  }
  /// Of a row of the image, if they are a vector.
  AREAL_DEVICE Raw vector(const Place& at, int y) const {
    static constexpr int each = sizeof(In) == 8 ? 2 : V;
    Raw raw;
    const int x = at.x - a.columns.before;
    const char* const from = at.image + y * a.from.row + x * static_cast<std::int64_t>(sizeof(In));
    AREAL_UNROLL
    for (int i = 0; i < V; i += each) {
      const auto part = m.load(reinterpret_cast<const Vec<Bits, each>*>(from) + i / each);
      AREAL_UNROLL
      for (int j = 0; j < each; ++j) raw.pixel[i + j] = part.at[j];
    }
    raw.marks = 0x01010101;
    if constexpr (C::counts)
      if (a.mask != nullptr) raw.marks = word(at.mask + y * a.marks.row + x * a.marks.column);
    return raw;
  }
  /// All of these rows are, and lie in the image.
  AREAL_DEVICE bool are_vectors(const Place& at, int from, int to) const {
    return at.whole && from >= 0 && to <= a.rows.extent;
  }
  /// Four bytes of the mask.
  AREAL_DEVICE std::uint32_t word(const char* from) const {
    if (a.mask_words) return m.load(reinterpret_cast<const std::uint32_t*>(from));
    std::uint32_t word = 0;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      word |= std::uint32_t{m.load(reinterpret_cast<const std::uint8_t*>(from + j * a.marks.column))} << (8 * j);
    return word;
  }
  AREAL_DEVICE Term term_of(const Raw& raw, int j) const {
    const auto p = term<double>(__builtin_bit_cast(In, raw.pixel[j]));
    if constexpr (C::counts)
      if ((raw.marks >> (8 * j) & 0xff) == 0 || (a.omit_nan && std::isnan(p))) return Term{};
    return C::of(p);
  }

  AREAL_DEVICE void hold(Held& to, const Term (&sum)[V]) const {
    AREAL_UNROLL
    for (int i = 0; i < terms * V / 2; ++i) m.put(to.at[i][m.thread()], pair(sum, i));
  }
  AREAL_DEVICE void take(const Held& from, Term (&sum)[V]) const {
    AREAL_UNROLL
    for (int i = 0; i < terms * V / 2; ++i) set_pair(sum, i, m.get(from.at[i][m.thread()]));
  }
  AREAL_DEVICE static Pair pair(const Term (&sum)[V], int i) {
    return {{sum[2 * i % V].at[2 * i / V], sum[2 * i % V + 1].at[2 * i / V]}};
  }
  AREAL_DEVICE static void set_pair(Term (&sum)[V], int i, const Pair& pair) {
    sum[2 * i % V].at[2 * i / V] = pair.at[0], sum[2 * i % V + 1].at[2 * i / V] = pair.at[1];
  }

  AREAL_DEVICE static void add(Term (&sum)[V], const Term (&next)[V]) {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = C::merged(sum[j], next[j]);
  }
  AREAL_DEVICE void add(Term (&sum)[V], const Raw& raw) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = C::merged(sum[j], term_of(raw, j));
  }
  AREAL_DEVICE void add_before(Term (&sum)[V], const Raw& raw) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = C::merged(term_of(raw, j), sum[j]);
  }
  AREAL_DEVICE void set(Term (&sum)[V], const Raw& raw) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = term_of(raw, j);
  }

  // ---------------------------------------------------------------- down the columns

  /// Rows that are loaded before the first is added.
  static constexpr int together = sizeof(In) * terms > 8 ? 2 : 4;

  /// Sums of the block of rows at `first` from each of its rows `cell` to 7 on to its end.
  AREAL_DEVICE void leave(Shared& s, const Place& at, int first, int cell) const {
    if (are_vectors(at, first + cell, first + block))
      leave_by<together>(s, first, cell, [&](int position) { return vector(at, position); });
    else
      leave_by<1>(s, first, cell, [&](int position) { return row(s, at, position); });
  }
  template <int together_, class Row>
  AREAL_DEVICE void leave_by(Shared& s, int first, int cell, const Row& row_at) const {
    Term sum[V] = {};
    const auto add_rows = [&](int i) {
      Raw raw[together_] = {};
      AREAL_UNROLL
      for (int k = 0; k < together_; ++k)
        if (i + k >= cell) raw[k] = row_at(first + i + k);
      AREAL_UNROLL
      for (int k = together_ - 1; k >= 0; --k) {
        if (i + k < cell) continue;
        i + k == block - 1 ? set(sum, raw[k]) : add_before(sum, raw[k]);
        hold(s.suffix[i + k], sum);
      }
    };
    if constexpr (together_ == 1) {
      AREAL_NO_UNROLL
      for (int i = block - 1; i >= cell; --i) add_rows(i);
    } else {
      AREAL_UNROLL
      for (int i = block - together_; i >= 0; i -= together_) add_rows(i);
    }
  }

  /// Totals of blocks that wait for the next windows.
  struct Ring {
    int slot = 0;
  };
  AREAL_DEVICE void keep(Shared& s, const Place& at, Ring& ring, const Term (&total)[V]) const {
    if (near_ring > 0 && a.ring == nullptr) {
      hold(s.ring[near_ring > 0 ? ring.slot : 0], total);
    } else {
      auto* const held = reinterpret_cast<Held*>(at.ring) + ring.slot;
      AREAL_UNROLL
      for (int i = 0; i < terms * V / 2; ++i) m.store(&held->at[i][m.thread()], pair(total, i));
    }
    if (++ring.slot == a.ring_length) ring.slot = 0;
  }
  /// The sum of the totals, from the oldest on.
  AREAL_DEVICE void between(const Shared& s, const Place& at, const Ring& ring, Term (&sum)[V]) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = Term{};
    int slot = ring.slot;
    AREAL_NO_UNROLL
    for (int n = 0; n < a.ring_length; ++n) {
      Term total[V];
      if (near_ring > 0 && a.ring == nullptr) {
        take(s.ring[near_ring > 0 ? slot : 0], total);
      } else {
        const auto* const held = reinterpret_cast<const Held*>(at.ring) + slot;
        AREAL_UNROLL
        for (int i = 0; i < terms * V / 2; ++i) set_pair(total, i, m.load(&held->at[i][m.thread()]));
      }
      add(sum, total);
      if (++slot == a.ring_length) slot = 0;
    }
  }

  AREAL_DEVICE void walk(Shared& s, const Place& at, int& turn) const {
    const bool low = a.rows.size <= block;
    const int begin = at.y - a.rows.before, first = begin - (begin & (block - 1)), entry = first + block;
    Ring ring;
    Term whole[V], prefix[V];
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) whole[j] = prefix[j] = Term{};
    Raw next[ahead] = {};
    if (!low) leave(s, at, first, begin - first);
    // From `entry` on rows enter, at first without outputs, and some rows earlier they are on their way.
    int position = low ? begin + a.rows.size - 1 : entry - ahead;  // of the last row of a window
    AREAL_NO_UNROLL
    for (; position < at.last; ++position) {
      const int start = position - (a.rows.size - 1), cell = start & (block - 1);
      Term sum[V] = {};
      if (low) {
        low_window(s, at, start, sum);
      } else {
        const Raw entering = next[0];
        AREAL_UNROLL
        for (int i = 0; i + 1 < ahead; ++i) next[i] = next[i + 1];
        if (position + ahead < at.last) next[ahead - 1] = row(s, at, position + ahead);
        if (position < entry) continue;
        const bool leaves = cell == 0 && start > begin;
        if (leaves) {
          leave(s, at, start, 0);
          between(s, at, ring, whole);
        }
        const int end = position & (block - 1);
        if (end == 0) {
          if (position > entry && !leaves) add(whole, prefix);  // the ring has it already
          set(prefix, entering);
        } else {
          add(prefix, entering);
        }
        if (end == block - 1 && a.ring_length > 0) keep(s, at, ring, prefix);
        if (start < begin) continue;
        take(s.suffix[cell], sum);
        add(sum, whole), add(sum, prefix);
      }
      across(s, at, turn, start + a.rows.before, sum);
    }
  }

  /// Of a window of at most 8 rows from a position on: one block's from the first row on, or those of two blocks.
  AREAL_DEVICE void low_window(const Shared& s, const Place& at, int position, Term (&sum)[V]) const {
    if (are_vectors(at, position, position + a.rows.size))
      low_window_by<together>(position, sum, [&](int v) { return vector(at, v); });
    else
      low_window_by<1>(position, sum, [&](int v) { return row(s, at, v); });
  }
  template <int together_, class Row>
  AREAL_DEVICE void low_window_by(int position, Term (&sum)[V], const Row& row_at) const {
    const int rest = block - (position & (block - 1)), split = rest < a.rows.size ? rest : 0;
    // The rows of the first block from its end upwards, if there are two; then the others.
    Term prefix[V] = {};
    AREAL_NO_UNROLL
    for (int i = 0; i < a.rows.size; i += together_) {
      Raw raw[together_] = {};
      AREAL_UNROLL
      for (int k = 0; k < together_; ++k)
        if (i + k < a.rows.size) raw[k] = row_at(position + (i + k < split ? split - 1 - i - k : i + k));
      AREAL_UNROLL
      for (int k = 0; k < together_; ++k) {
        if (i + k >= a.rows.size) continue;
        if (i + k < split)
          i + k == 0 ? set(sum, raw[k]) : add_before(sum, raw[k]);
        else
          i + k == split ? set(prefix, raw[k]) : add(prefix, raw[k]);
      }
    }
    if (split > 0) {
      const Term none[V] = {};
      add(sum, none), add(sum, prefix);
    } else {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j) sum[j] = prefix[j];
    }
  }

  // ---------------------------------------------------------------- along the row

  AREAL_DEVICE Term exchanged(const Term& term) const {
    Term other;
    AREAL_UNROLL
    for (int i = 0; i < terms; ++i) other.at[i] = m.shuffle_xor(term.at[i], 1);
    return other;
  }
  AREAL_DEVICE static Term chosen(bool first, const Term& one, const Term& other) {
    Term term;
    AREAL_UNROLL
    for (int i = 0; i < terms; ++i) term.at[i] = first ? one.at[i] : other.at[i];
    return term;
  }
  AREAL_DEVICE Term end_of(const Shared& s, int turn, int place) const {
    Term term;
    AREAL_UNROLL
    for (int i = 0; i < terms; ++i) term.at[i] = m.get(s.ends[turn][i][place]);
    return term;
  }

  /// Windows of a row of column sums, and their outputs.
  AREAL_DEVICE void across(Shared& s, const Place& at, int& turn, int y, const Term (&column)[V]) const {
    Term prefix[V], suffix[V];
    prefix[0] = column[0], suffix[V - 1] = column[V - 1];
    AREAL_UNROLL
    for (int j = 1; j < V; ++j) {
      prefix[j] = C::merged(prefix[j - 1], column[j]);
      suffix[V - 1 - j] = C::merged(column[V - 1 - j], suffix[V - j]);
    }
    const Term other = exchanged(chosen(at.upper, suffix[0], prefix[V - 1]));
    prefix[0] = chosen(at.upper, C::merged(other, column[0]), column[0]);
    suffix[V - 1] = chosen(at.upper, column[V - 1], C::merged(column[V - 1], other));
    AREAL_UNROLL
    for (int j = 1; j < V; ++j) {
      prefix[j] = C::merged(prefix[j - 1], column[j]);
      suffix[V - 1 - j] = C::merged(column[V - 1 - j], suffix[V - j]);
    }
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) AREAL_UNROLL
    for (int i = 0; i < terms; ++i) m.put(s.ends[turn][i][j * threads + m.thread()], prefix[j].at[i]);
    m.sync();
    // Of windows that begin in the block's first columns, and of the others, which end a block later.
    const int away = (a.columns.size - 1) / block, rest = (a.columns.size - 1) % block;
    Term some{}, more{};
    AREAL_NO_UNROLL
    for (int n = 1; n <= away; ++n) {
      some = more;
      more = C::merged(more, end_of(s, turn, (V - 1) * threads + (at.complete | 1) + 2 * n));
    }
    Term window[V];
    const int later = block - rest - (at.upper ? V : 0);  // the first of the others
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      window[j] =
          C::merged(C::merged(suffix[j], chosen(j < later, some, more)), end_of(s, turn, at.complete + a.ends[j]));
    if (a.columns.size <= block) near_windows(column, later, window);
    turn ^= 1;
    output(at, y, window);
  }

  /// Windows inside one block, from the first column on.
  AREAL_DEVICE void near_windows(const Term (&column)[V], int later, Term (&window)[V]) const {
    Term both[2 * V];
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) both[j] = column[j], both[V + j] = exchanged(column[j]);
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      Term sum = both[j];
      AREAL_UNROLL
      for (int n = 1; n + j < 2 * V; ++n)
        if (n < a.columns.size) sum = C::merged(sum, both[j + n]);
      window[j] = chosen(j < later, sum, window[j]);
    }
  }

  // ---------------------------------------------------------------- outputs

  AREAL_DEVICE void output(const Place& at, int y, Term (&window)[V]) const {
    const bool inside = a.columns.edge == Edge::shrink;
    const int down = inside ? a.rows.inside(y) : a.rows.size;
    char* const line = at.out + y * a.to.row;
    if (a.quick) {
      const double n = static_cast<double>(a.rows.size) * static_cast<double>(a.columns.size);
      const bool full = at.full && down == a.rows.size;
      float mean[V];
      AREAL_UNROLL
      for (int j = 0; j < V; ++j) {
        const double sum = window[j].at[C::sum];
        mean[j] = static_cast<float>(
            full ? (has_quotient(sum) ? quotient(sum, n, a.reciprocal) : sum / n)
                 : sum / (static_cast<double>(down) * static_cast<double>(a.columns.inside(at.x + j))));
      }
      return store_floats(at, line, mean);
    }
    char* to = line + at.x * a.to.column;
    AREAL_NO_UNROLL
    for (int j = 0; j < V; ++j, to += a.to.column) {
      const int x = at.x + j;
      if (x >= at.begin && x < at.end) {
        const Term& of = window[0];
        double count = 0, squares = 0;
        if constexpr (C::counts)
          count = of.at[C::moments ? 0 : 2];
        else
          count = static_cast<double>(down) * static_cast<double>(inside ? a.columns.inside(x) : a.columns.size);
        if constexpr (!C::moments && terms > 1) squares = of.at[1];
        const auto top = [&] {
          if constexpr (C::moments) return of.at[2] * count;
          const double value = count * squares - of.at[C::sum] * of.at[C::sum];
          return value < 0 ? 0 : value;
        };
        const auto centre = [&] {
          const char* const from = at.image + (std::int64_t{y} + a.finish.centre_y) * a.from.row +
                                   (std::int64_t{x} + a.finish.centre_x) * a.from.column;
          return term<double>(load_element<M, In>(m, from, a.finish.pixel_aligned));
        };
        store_rounded(m, to, a.finish.out, a.finish.of_reals(of.at[C::sum], squares, count, top, centre),
                      a.finish.out_aligned);
      }
      AREAL_UNROLL
      for (int b = 0; b < V - 1; ++b) window[b] = window[b + 1];
    }
  }

  /// Stores a warp's floats as vectors of aligned addresses, each from the end of one thread's four and the beginning
  /// of the next one's. The first and the last thread store the rest one by one.
  AREAL_DEVICE void store_floats(const Place& at, char* line, const float (&value)[V]) const {
    float* const to = reinterpret_cast<float*>(line) + at.x;
    const int over = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % V);  // in all threads
    Vec<float, V> vector;
    switch (over) {
      case 0:
        vector = shifted<0>(value);
        break;
      case 1:
        vector = shifted<3>(value);
        break;
      case 2:
        vector = shifted<2>(value);
        break;
      default:
        vector = shifted<1>(value);
    }
    const int shift = over == 0 ? 0 : V - over, x = at.x + shift;
    const int have = over > 0 && m.lane() == warp_size - 1 ? over : V;
    if (have == V && x >= at.begin && x + V <= at.end) {
      m.store_streaming(reinterpret_cast<Vec<float, V>*>(to + shift), vector);
    } else {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j)
        if (j < have && x + j >= at.begin && x + j < at.end) m.store_streaming(to + shift + j, vector.at[j]);
    }
    if (m.lane() > 0) return;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      if (j < shift && at.x + j >= at.begin && at.x + j < at.end) m.store_streaming(to + j, value[j]);
  }
  /// Four floats from value[by] on, the last ones from the next thread.
  template <int by>
  AREAL_DEVICE Vec<float, V> shifted(const float (&value)[V]) const {
    Vec<float, V> vector;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      vector.at[j] = j + by < V ? value[(j + by) % V] : m.shuffle_down(value[(j + by) % V], 1);
    return vector;
  }
};

}  // namespace areal::kernels
