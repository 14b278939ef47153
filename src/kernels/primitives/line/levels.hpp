#pragma once
// The optimal prefix-sums (Nakano 2013, 7), of many lines at once (8): no sum crosses from a line into the next. Level
// 0 are the lines; a level has half the elements of the one before it, rounded down, until one is left.
//
//   up    coarse[i] = fine[2i] + fine[2i + 1]                                    level by level
//   down  fine[2i + 1] = coarse[i],  fine[2i + 2] = coarse[i] + fine[2i + 2]     back to level 0
//
// For a line of L = 2^m elements 4(L - 1) - m reads and 3(L - 1) - m writes, runs of neighbours or every second of
// twice as many; one of each more where the sums are not made in place, for the first element. The paper's way down
// is two loops that each read the coarse element; its count reads it once, and so does this. Workspace: the levels, L -
// 1 elements a line. The order of operations depends on L alone.
//
// The paper's 2m steps have a barrier between any two. Levels with more elements a line than a block has threads are a
// launch each, up and down, by p threads. A line's levels from there on are few enough for one block: it does all of
// them for as many lines as give its threads work, with its own barriers between. So d levels are summed by launches,
// the least d for which L / 2^(d+1) is not above a block's threads: 2d + 1 launches, and 2(m - d) - 1 barriers of a
// block.

#include <bit>
#include "kernels/primitives/line/threads.hpp"

namespace areal::kernels {

/// Rows to be summed.
struct Lines {
  Matrix from, to;
  std::int64_t count = 0, length = 0;
  bool in_place = false;  ///< `to` is `from`: the first sum of a line is already there
};

/// A level of lines, in place.
template <class T>
AREAL_BOTH Lines level(T* cells, std::int64_t count, std::int64_t length) {
  const Matrix rows{reinterpret_cast<char*>(cells), length * static_cast<std::int64_t>(sizeof(T)), true};
  return {rows, rows, count, length, true};
}
/// Elements of all levels but the lines themselves.
constexpr std::int64_t level_cells(std::int64_t count, std::int64_t length) {
  return count * (length - std::popcount(static_cast<std::uint64_t>(length)));
}

/// Element `e` of a level from its two in `fine`.
template <class From, class T, class M, class Op>
AREAL_DEVICE void sum_pair(const M& m, const Lines& fine, T* coarse, std::int64_t e, const Op& op) {
  const std::int64_t y = e / (fine.length / 2), x = 2 * (e % (fine.length / 2));
  const T left = load<T, From>(m, fine.from, y, x);
  m.store(coarse + e, op(left, load<T, From>(m, fine.from, y, x + 1)));
}

/// Columns of a level from which the finer one is made: one more, before the first, if that must be copied.
AREAL_BOTH std::int64_t spread_columns(const Lines& fine) { return fine.length / 2 + (fine.in_place ? 0 : 1); }

/// The sums at the two places after an element of a level: the one that ends there, and the one with one more element.
template <class From, class T, class M, class Op>
AREAL_DEVICE void spread_sum(const M& m, const Lines& fine, const T* coarse, std::int64_t e, const Op& op) {
  const std::int64_t columns = spread_columns(fine), half = fine.length / 2;
  const std::int64_t y = e / columns, i = e % columns - (columns - half), x = 2 * i + 2;
  const bool sums = i >= 0, more = x < fine.length;
  T before{}, last{};
  if (sums) before = m.load(coarse + y * half + i);
  if (more) last = load<T, From>(m, fine.from, y, x);
  if (sums) store(m, fine.to, y, x - 1, before);
  if (more) store(m, fine.to, y, x, sums ? op(before, last) : last);
}

template <class C>
struct LevelArgs {
  Lines fine;
  typename C::T* coarse = nullptr;
  typename C::Op op;
};

template <class M, class C>
struct SumPairs {
  using Args = LevelArgs<C>;
  using Shared = NoShared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    each_index<threads>(m, 0, a.fine.count * (a.fine.length / 2),
                        [&](std::int64_t e) { sum_pair<typename C::In>(m, a.fine, a.coarse, e, a.op); });
  }
};

template <class M, class C>
struct SpreadSums {
  using Args = LevelArgs<C>;
  using Shared = NoShared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    each_index<threads>(m, 0, a.fine.count * spread_columns(a.fine),
                        [&](std::int64_t e) { spread_sum<typename C::In>(m, a.fine, a.coarse, e, a.op); });
  }
};

template <class C>
struct BlockLinesArgs {
  Lines lines;
  typename C::T* levels = nullptr;
  std::int64_t together = 1;      ///< lines of a block at a time
  std::int64_t cells_a_line = 0;  ///< of the levels
  typename C::Op op;
};

/// Whole lines by one block.
template <class M, class C>
struct ScanInBlock {
  using T = typename C::T;
  using Args = BlockLinesArgs<C>;
  using Shared = NoShared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    for (std::int64_t y = m.block() * a.together; y < a.lines.count; y += m.blocks() * a.together) {
      Lines here = a.lines;
      here.from.first = here.from.at(y, 0, 0);
      here.to.first = here.to.at(y, 0, 0);
      if (here.count -= y; here.count > a.together) here.count = a.together;
      scan(here, a.levels + y * a.cells_a_line);
    }
  }

 private:
  template <class From>
  AREAL_DEVICE void up(const Lines& fine, T* coarse) {
    for (std::int64_t e = m.thread(); e < fine.count * (fine.length / 2); e += threads)
      sum_pair<From>(m, fine, coarse, e, a.op);
  }
  template <class From>
  AREAL_DEVICE void down(const Lines& fine, const T* coarse) {
    for (std::int64_t e = m.thread(); e < fine.count * spread_columns(fine); e += threads)
      spread_sum<From>(m, fine, coarse, e, a.op);
  }

  /// `coarse` is level t: the levels lie one after another.
  AREAL_DEVICE void scan(const Lines& lines, T* coarse) {
    const std::int64_t count = lines.count, length = lines.length;
    up<typename C::In>(lines, coarse);
    int t = 1;
    for (; length >> (t + 1) > 0; ++t) {
      T* const fine = coarse;
      coarse += count * (length >> t);
      m.sync();
      up<T>(level(fine, count, length >> t), coarse);
    }
    for (; t > 1; --t) {
      T* const fine = coarse - count * (length >> (t - 1));
      m.sync();
      down<T>(level(fine, count, length >> (t - 1)), coarse);
      coarse = fine;
    }
    m.sync();
    down<typename C::In>(lines, coarse);
  }
};

/// The inclusive sums of each line; `levels` has level_cells. p: number of threads (each_index), 0 for one an index.
template <class C, class Launcher>
void optimal_prefix_sums(Launcher& launcher, const Lines& lines, typename C::T* levels, std::int64_t p = 0,
                         const typename C::Op& op = {}) {
  using T = typename C::T;
  const std::int64_t half = lines.length / 2;
  if (lines.count <= 0 || lines.length <= (lines.in_place ? 1 : 0)) return;
  if (half <= C::threads) {
    const std::int64_t together = C::threads / std::max<std::int64_t>(half, 1);
    const std::int64_t blocks =
        blocks_for(blocks_of(lines.count, static_cast<int>(together)) * C::threads, p, C::threads);
    launcher.template launch<ScanInBlock, C>(blocks, {lines, levels, together, level_cells(1, lines.length), op},
                                             false);
    return;
  }
  const LevelArgs<C> args{lines, levels, op};
  launcher.template launch<SumPairs, C>(blocks_for(lines.count * half, p, C::threads), args, false);
  optimal_prefix_sums<LineConfig<T, T, typename C::Op, C::threads>>(launcher, level(levels, lines.count, half),
                                                                    levels + lines.count * half, p, op);
  launcher.template launch<SpreadSums, C>(blocks_for(lines.count * spread_columns(lines), p, C::threads), args, false);
}

}  // namespace areal::kernels
