#pragma once
// 2R2W (Kasagi 2014, IV). 2 launches, 1 barrier step. Reads 2, writes 2 per element (2n and 2n - h). A thread goes down
// each column, coalesced; then a thread along each row, every access of a warp in a row of its own. Blocks of 64
// threads. Floats are the same every run.

#include "kernels/sat/plain.hpp"

namespace areal::kernels {

/// Lines of a matrix, each summed up by one thread: columns, or rows.
struct ScanLinesArgs {
  Matrix from, to;
  std::int64_t lines = 0, length = 0;
  bool rows = false;      ///< else columns
  bool in_place = false;  ///< `to` is `from`: the first sum of a line is there already
};

/// C: From, the elements' type, and T.
template <class M, class C>
struct ScanLines {
  using From = typename C::In;
  using T = typename C::T;
  using Args = ScanLinesArgs;
  using Shared = NoShared;
  static constexpr int threads = 64, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t line = m.block() * threads + m.thread();
    if (line >= a.lines) return;
    T sum = 0;
    for (std::int64_t i = 0; i < a.length; ++i) {
      const std::int64_t y = a.rows ? line : i, x = a.rows ? i : line;
      sum += load<T, From>(m, a.from, y, x);
      if (i > 0 || !a.in_place) store(m, a.to, y, x, sum);
    }
  }
};

template <class C, class Launcher>
void scan_lines(Launcher& launcher, const ScanLinesArgs& a) {
  launcher.template launch<ScanLines, C>(blocks_of(a.lines, 64), a, false);
}

struct TwoReadTwoWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest&) {
    return 0;
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest&, const Plain& p, void*) {
    scan_lines<PlainConfig<In, T>>(launcher, {p.in, p.out, p.width, p.height, false, false});
    scan_lines<PlainConfig<T, T>>(launcher, {p.out, p.out, p.height, p.width, true, true});
  }
};

}  // namespace areal::kernels
