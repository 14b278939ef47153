#pragma once
// The naive prefix-sums (Nakano 2013, 6, after Hillis and Steele): a[i] = a[i - 2^t] + a[i] for t = 0, 1, .. s - 1, the
// steps it takes until 2^s >= n. 2(n - 2^t) reads and n - 2^t writes in step t, all runs of consecutive elements. The
// order of operations depends on n alone.
//
// Consecutive steps are separated by a barrier: the end of a launch, s launches. In place, every read of a step would
// have to precede every write, for which p < n threads need a barrier of the whole grid within the step; so there are
// two buffers, and the workspace has n elements. Elements that a step does not change must be in both: a step also
// copies what the one before it finished (step 0 the first element, step 1 the first two, step t 2^(t-1)). If n
// elements are no more than one block's threads, one launch does all in place, with the block's barriers between reads
// and writes, and copies only the first element, from the input.

#include "kernels/primitives/line/threads.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/scan/request.hpp"

namespace areal::kernels {

/// The element at i of a line of sums, extended to twice as many summands.
template <class From, class T, class M, class Op>
AREAL_DEVICE T naive_sum(const M& m, const Matrix& from, std::int64_t i, std::int64_t far, const Op& op) {
  const T before = load<T, From>(m, from, 0, i - far);
  return op(before, load<T, From>(m, from, 0, i));
}

template <class Op>
struct NaiveArgs {
  Matrix from, to;
  std::int64_t n = 0;
  std::int64_t far = 1;    ///< 2^t
  std::int64_t first = 0;  ///< elements from here to `far` are copied
  Op op;
};

template <class M, class C>
struct NaiveStep {
  using T = typename C::T;
  using Args = NaiveArgs<typename C::Op>;
  using Shared = NoShared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    each_index<threads>(m, a.first, a.n, [&](std::int64_t i) {
      const T sum = i < a.far ? load<T, typename C::In>(m, a.from, 0, i)
                              : naive_sum<typename C::In, T>(m, a.from, i, a.far, a.op);
      store(m, a.to, 0, i, sum);
    });
  }
};

template <class M, class C>
struct NaiveInBlock {
  using T = typename C::T;
  using Args = NaiveArgs<typename C::Op>;
  using Shared = NoShared;
  static constexpr int threads = C::threads, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const int i = m.thread();
    if (i == 0) store(m, a.to, 0, 0, load<T, typename C::In>(m, a.from, 0, 0));
    if (i >= 1 && i < a.n) store(m, a.to, 0, i, naive_sum<typename C::In, T>(m, a.from, i, 1, a.op));
    for (int far = 2; far < a.n; far *= 2) {
      const bool mine = i >= far && i < a.n;
      T sum{};
      m.sync();
      if (mine) sum = naive_sum<T, T>(m, a.to, i, far, a.op);
      m.sync();
      if (mine) store(m, a.to, 0, i, sum);
    }
  }
};

constexpr std::int64_t naive_cells(std::int64_t n) { return n; }

/// The inclusive sums of the first row of `from`, n elements, in that of `to`, in other memory. p: number of threads
/// (each_index), 0 for n.
template <class C, class Launcher>
void naive_prefix_sums(Launcher& launcher, const Matrix& from, const Matrix& to, std::int64_t n,
                       typename C::T* workspace, std::int64_t p = 0, const typename C::Op& op = {}) {
  using T = typename C::T;
  using Sums = LineConfig<T, T, typename C::Op, C::threads>;
  if (n <= 0) return;
  if (n <= C::threads) {
    launcher.template launch<NaiveInBlock, C>(1, {from, to, n, 1, 0, op}, false);
    return;
  }
  int steps = 0;
  while (std::int64_t{1} << steps < n) ++steps;
  const Matrix other{reinterpret_cast<char*>(workspace), 0, true};
  for (int t = 0; t < steps; ++t) {
    const std::int64_t far = std::int64_t{1} << t, first = t <= 1 ? 0 : far / 2;
    const bool even = (steps - 1 - t) % 2 == 0;  // the last one ends in `to`
    const Matrix& source = even ? other : to;
    const Matrix& target = even ? to : other;
    const std::int64_t blocks = blocks_for(n - first, p, C::threads);
    if (t == 0)
      launcher.template launch<NaiveStep, C>(blocks, {from, target, n, far, first, op}, false);
    else
      launcher.template launch<NaiveStep, Sums>(blocks, {source, target, n, far, first, op}, false);
  }
}

struct NaiveScan {
  template <class T>
  static T* workspace(const ScanRequest& r, Workspace& from) {
    T* cells = nullptr;
    from.take(cells, naive_cells(r.n));
    return cells;
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    naive_prefix_sums<LineConfig<In, T>>(launcher, line, sums, r.n, workspace<T>(r, from), r.p);
  }
};

}  // namespace areal::kernels
