#pragma once
// 4R1W (Kasagi 2014, VI). h + w - 1 launches, one for each anti-diagonal; h + w - 2 barrier steps. Reads 4 (n pixels
// and 3n - 2h - 2w + 1 sums), writes 1 per element, a row a thread: nothing is coalesced. A sum is its pixel, plus the
// sum to the left and the one above, less the one above the left. Blocks of 64 threads. Floats have the same bits every
// run; because of the subtraction, sums next to an infinity are NaN.

#include <algorithm>
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

struct DiagonalArgs {
  Plain p;
  std::int64_t diagonal = 0;  ///< y + x
  std::int64_t first = 0;     ///< the least y
  std::int64_t count = 0;
};

template <class M, class C>
struct SumDiagonal {
  using In = typename C::In;
  using T = typename C::T;
  using Args = DiagonalArgs;
  using Shared = NoShared;
  static constexpr int threads = 64, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * threads + m.thread();
    if (i >= a.count) return;
    const std::int64_t y = a.first + i, x = a.diagonal - y;
    const Matrix& out = a.p.out;
    T sum = load<T, In>(m, a.p.in, y, x);
    if (x > 0) sum += load<T, T>(m, out, y, x - 1);
    if (y > 0) sum += load<T, T>(m, out, y - 1, x);
    if (x > 0 && y > 0) sum -= load<T, T>(m, out, y - 1, x - 1);
    store(m, out, y, x, sum);
  }
};

struct FourReadOneWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest&) {
    return 0;
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest&, const Plain& p, void*) {
    for (std::int64_t k = 0; k < p.height + p.width - 1; ++k) {
      const std::int64_t first = std::max<std::int64_t>(0, k - p.width + 1), last = std::min(k, p.height - 1);
      const std::int64_t count = last - first + 1;
      launcher.template launch<SumDiagonal, PlainConfig<In, T>>(blocks_of(count, 64), {p, k, first, count}, false);
    }
  }
};

}  // namespace areal::kernels
