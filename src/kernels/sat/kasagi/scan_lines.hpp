#pragma once
// Lines of a matrix, a thread each (Kasagi 2014, IV). 1 launch. Reads 1, writes 1 per element: columns coalesced; rows
// not, as every access of a warp is in a different row. Blocks of 64 threads.

#include "kernels/primitives/matrix.hpp"

namespace areal::kernels {

/// Lines of a matrix, columns or rows, each summed by one thread.
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

}  // namespace areal::kernels
