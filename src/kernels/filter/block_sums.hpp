#pragma once
// Sums of windows of doubles in the CPU's order of additions, for kernels that walk down strips of columns.
//
// A block of threads walks down a strip; a thread has four columns, half a block of 8. Going down, it keeps the sum of
// the block of 8 rows that the window ends in, up to there, and of the whole blocks between. When windows begin to
// leave a block of rows, its rows are read a second time, from the last upwards, and the sums of its last rows, of its
// last two, .. wait in shared memory. Totals of whole blocks wait in a ring, which windows of up to 16 rows do not
// need. Windows of up to 8 rows read all their rows instead.
//
// Along the row, the two threads of a block of columns exchange one sum, so that each knows those from the block's
// beginning to its columns, and from them to the block's end. The former go into shared memory, where the threads whose
// windows end there find them. The last threads have only incomplete windows.

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include "kernels/filter/axis.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// What the sums need to know.
struct BlockSumsArgs {
  FilterAxis columns, rows;
  char* ring;  ///< totals of each block of the grid, `ring_bytes`; null if those in shared memory are enough
  std::int64_t ring_bytes;
  int ring_length;    ///< totals of whole blocks that windows' first blocks have in common with the next ones
  int ends[4];        ///< where the first thread's windows find the sums of their last blocks
  int strip_columns;  ///< outputs
};

/// `C` has Term, Raw (a thread's four elements of a row), count, the doubles of a Term, merged(a, b), near_ring, totals
/// in shared memory, ahead, rows on their way, and together, rows that are loaded before the first is added. `Kernel`
/// derives from this and has
///   Raw row(s, at, position)      the thread's columns of the row at a position
///   Raw enter(s, at, position)    the same of each row once, in order; with C::keeps only rows that it kept are read
///   Raw vector(s, at, position)   row() where are_vectors(at, from, to)
///   Term term_of(raw, j)
///   keep_row(s, at, position, raw)     with C::keeps
///   output(s, at, y, window)
template <class M, class C, class Args_, class Kernel>
struct BlockSums {
  using Args = Args_;
  using Term = typename C::Term;
  using Raw = typename C::Raw;
  using Pair = Vec<double, 2>;
  static constexpr int terms = C::count, block = 8, V = 4, threads = C::threads;

  /// Terms of a thread's columns, in vectors side by side of the threads.
  struct Held {
    Pair at[terms * V / 2][threads];
  };
  struct SumsShared {
    double ends[2][terms][V * threads];  // of rows in turns: sums from the beginning of a block of columns
    std::conditional_t<C::near_ring == 0, NoShared, std::array<Held, C::near_ring>> ring;
    Held held[block];  // sums that end a block
  };
  struct SumsPlace {
    int x;           ///< the output of the window that begins at the thread's first column
    int y, rows;     ///< the segment's first output row, and its rows of outputs
    int begin, end;  ///< output columns of the strip
    bool full;       ///< the thread's windows have as many columns as any
    bool upper;      ///< its columns are the upper half of their block
    int complete;    ///< the thread, or the last one whose windows are complete
    int last;        ///< the row after the last one that windows need
    char* ring;
  };

  /// Of kernels whose rows lie in memory.
  struct RowsShared : SumsShared {
    int shown[V][threads];  // the pixels of a thread whose columns are no vector of the image; -1: beyond
  };

  M m;
  Args a;

  AREAL_DEVICE Kernel& self() { return static_cast<Kernel&>(*this); }
  AREAL_DEVICE const Kernel& self() const { return static_cast<const Kernel&>(*this); }

  /// The thread's first column in a strip.
  AREAL_DEVICE int column_in(int strip) const {
    const int first = -a.columns.before - (-a.columns.before & (block - 1));  // a block's first column
    return first + strip * a.strip_columns + V * m.thread();
  }
  AREAL_DEVICE void set_place(SumsPlace& at, int column, int y, int rows) const {
    at.y = y, at.rows = rows;
    at.ring = a.ring + m.block() * a.ring_bytes;
    at.last = at.y - a.rows.before + at.rows + a.rows.size - 1;
    at.x = column + a.columns.before;
    at.begin = at.x - V * m.thread();
    at.end = a.columns.outputs - at.begin < a.strip_columns ? a.columns.outputs : at.begin + a.strip_columns;
    if (at.begin < 0) at.begin = 0;
    at.full = a.columns.edge != Edge::shrink || (column >= 0 && column + V - 1 + a.columns.size <= a.columns.extent);
    at.upper = m.thread() % 2 != 0;
    const int complete = a.strip_columns / V - 1;
    at.complete = m.thread() < complete ? m.thread() : complete;
  }

  /// Before walk: which pixels a thread's columns show.
  AREAL_DEVICE void set_shown(RowsShared& s, int column) const {
    const int needed = a.columns.outputs - a.columns.before + a.columns.size - 1;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = column + j;
      m.put(s.shown[j][m.thread()], x < -a.columns.before || x >= needed ? -1 : a.columns.pixel(x));
    }
  }
  /// Of the sums that end a block, from a row on; a row that was kept may lie there.
  AREAL_DEVICE static Held& suffix(SumsShared& s, int position) { return s.held[position & (block - 1)]; }
  /// Where rows that enter do so like any other.
  AREAL_DEVICE Raw enter(const RowsShared& s, const auto& at, int position) const {
    return self().row(s, at, position);
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
    for (int j = 0; j < V; ++j) sum[j] = C::merged(sum[j], self().term_of(raw, j));
  }
  AREAL_DEVICE void add_before(Term (&sum)[V], const Raw& raw) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = C::merged(self().term_of(raw, j), sum[j]);
  }
  AREAL_DEVICE void set(Term (&sum)[V], const Raw& raw) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = self().term_of(raw, j);
  }

  // ---------------------------------------------------------------- down the columns

  static constexpr int together = C::together, near_ring = C::near_ring, ahead = C::ahead;

  /// Sums of the block of rows at `first` from each of its rows `cell` to 7 on to its end.
  AREAL_DEVICE void leave(auto& s, const auto& at, int first, int cell) const {
    if (self().are_vectors(at, first + cell, first + block))
      leave_by<together>(s, first, cell, [&](int position) { return self().vector(s, at, position); });
    else
      leave_by<1>(s, first, cell, [&](int position) { return self().row(s, at, position); });
  }
  template <int together_, class Row>
  AREAL_DEVICE void leave_by(auto& s, int first, int cell, const Row& row_at) const {
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
        hold(suffix(s, first + i + k), sum);
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

  AREAL_DEVICE bool ring_is_near() const { return near_ring > 0 && a.ring == nullptr; }
  /// Puts a block's total into the ring, where it waits for the next windows.
  AREAL_DEVICE void keep(auto& s, const auto& at, int& slot, const Term (&total)[V]) const {
    if (!ring_is_near()) {
      auto* const held = reinterpret_cast<Held*>(at.ring) + slot;
      AREAL_UNROLL
      for (int i = 0; i < terms * V / 2; ++i) m.store(&held->at[i][m.thread()], pair(total, i));
    } else if constexpr (near_ring > 0) {
      hold(s.ring[slot], total);
    }
    if (++slot == a.ring_length) slot = 0;
  }
  /// The sum of the totals, from the oldest on.
  AREAL_DEVICE void between(const auto& s, const auto& at, int slot, Term (&sum)[V]) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = Term{};
    AREAL_NO_UNROLL
    for (int n = 0; n < a.ring_length; ++n) {
      Term total[V];
      if (!ring_is_near()) {
        const auto* const held = reinterpret_cast<const Held*>(at.ring) + slot;
        AREAL_UNROLL
        for (int i = 0; i < terms * V / 2; ++i) set_pair(total, i, m.load(&held->at[i][m.thread()]));
      } else if constexpr (near_ring > 0) {
        take(s.ring[slot], total);
      }
      add(sum, total);
      if (++slot == a.ring_length) slot = 0;
    }
  }

  AREAL_DEVICE void walk(auto& s, auto& at, int& turn) const {
    const bool low = a.rows.size <= block;
    const int begin = at.y - a.rows.before, first = begin - (begin & (block - 1)), entry = first + block;
    int slot = 0;  // of the ring
    Term whole[V], prefix[V];
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) whole[j] = prefix[j] = Term{};
    Raw next[ahead > 0 ? ahead : 1] = {};
    if (!C::keeps && !low) leave(s, at, first, begin - first);
    // From `entry` on rows enter the sums, at first without outputs, and some rows earlier they are on their way.
    int position = C::keeps ? begin - ahead : low ? begin + a.rows.size - 1 : entry - ahead;  // of a window's last row
    AREAL_NO_UNROLL
    for (; position < at.last; ++position) {
      const int start = position - (a.rows.size - 1), cell = start & (block - 1);
      Term sum[V] = {};
      Raw entering = next[0];
      if (C::keeps || !low) {
        AREAL_UNROLL
        for (int i = 0; i + 1 < ahead; ++i) next[i] = next[i + 1];
        Raw& last = ahead > 0 ? next[ahead > 0 ? ahead - 1 : 0] : entering;
        if (position + ahead < at.last) last = self().enter(s, at, position + ahead);
      }
      if constexpr (C::keeps) {
        if (position < begin) continue;
        if (low || position < entry) self().keep_row(s, at, position, entering);
      }
      if (low) {
        if (start < begin) continue;
        low_window(s, at, start, sum);
      } else {
        if (position < entry) continue;
        const bool leaves = cell == 0 && start > begin;
        if (leaves || (C::keeps && position == entry)) leave(s, at, leaves ? start : first, leaves ? 0 : begin - first);
        if (leaves) between(s, at, slot, whole);
        const int end = position & (block - 1);
        if (end == 0) {
          if (position > entry && !leaves) add(whole, prefix);  // the ring has it already
          set(prefix, entering);
        } else {
          add(prefix, entering);
        }
        if (end == block - 1 && a.ring_length > 0) keep(s, at, slot, prefix);
        if (start >= begin) take(suffix(s, start), sum);
        if constexpr (C::keeps) self().keep_row(s, at, position, entering);
        if (start < begin) continue;
        add(sum, whole), add(sum, prefix);
      }
      across(s, at, turn, start + a.rows.before, sum);
    }
  }

  /// Of a window of at most 8 rows from a position on: one block's from the first row on, or those of two blocks.
  AREAL_DEVICE void low_window(const auto& s, const auto& at, int position, Term (&sum)[V]) const {
    if (self().are_vectors(at, position, position + a.rows.size))
      low_window_by<together>(position, sum, [&](int v) { return self().vector(s, at, v); });
    else
      low_window_by<1>(position, sum, [&](int v) { return self().row(s, at, v); });
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
  AREAL_DEVICE Term end_of(const auto& s, int turn, int place) const {
    Term term;
    AREAL_UNROLL
    for (int i = 0; i < terms; ++i) term.at[i] = m.get(s.ends[turn][i][place]);
    return term;
  }

  /// Windows of a row of column sums, and their outputs.
  AREAL_DEVICE void across(auto& s, const auto& at, int& turn, int y, const Term (&column)[V]) const {
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
    self().output(s, at, y, window);
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
};

// ---------------------------------------------------------------- schedules

/// Totals that wait for the next windows: those of the whole blocks between a window's first and last block, less one.
inline int block_ring(std::int64_t rows) { return std::max(0, static_cast<int>((rows - 1) / 8) - 1); }
/// The outputs of a strip that reads so many columns. No complete window begins in its last blocks of 8 columns.
inline int block_strip_columns(std::int64_t size, int columns) {
  return columns - 8 * static_cast<int>((size - 1) / 8 + 1);
}
inline int block_strips(const formulas::WindowAxis& columns, int strip_columns) {
  const auto before = static_cast<int>(columns.before % 8), skipped = before == 0 ? 0 : 8 - before;
  return (static_cast<int>(columns.outputs) + skipped - 1) / strip_columns + 1;
}
/// Rows with outputs that take as long as what a segment does before its first output: rows that enter without outputs
/// take a third of the time.
inline double block_begin_rows(std::int64_t rows) { return 3 + 0.3 * static_cast<double>(rows); }

/// Bytes of the ring of a block of the grid, in the workspace; 0: that in shared memory is enough.
template <class Kernel, class C>
std::int64_t block_ring_bytes(std::int64_t rows) {
  const int length = block_ring(rows);
  return length <= C::near_ring ? 0 : length * static_cast<std::int64_t>(sizeof(typename Kernel::Held));
}
/// The most blocks of a grid whose rings are in the workspace: as many as an H200 runs at once.
template <class Kernel>
inline constexpr std::int64_t most_with_rings = std::int64_t{132} * Kernel::resident;

/// All but the rings. A block of threads reads `span` columns.
inline void set_block_sums(BlockSumsArgs& a, const formulas::WindowAxis& columns, const formulas::WindowAxis& rows,
                           int span) {
  a.columns = FilterAxis(columns), a.rows = FilterAxis(rows);
  a.ring_length = block_ring(rows.size);
  for (int j = 0; j < 4; ++j) {
    const int end = j + a.columns.size - 1;
    a.ends[j] = end % 4 * (span / 4) + end / 4;
  }
  a.strip_columns = block_strip_columns(columns.size, span);
}

}  // namespace areal::kernels
