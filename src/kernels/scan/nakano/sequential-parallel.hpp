#pragma once
// The sequential-parallel prefix-sums (Nakano 2013, 7): groups of k elements, one after another, each by the optimal
// prefix-sums (levels.hpp) in the workspace of one; before each group but the first, one thread adds the
// sum before it to its first element. In place. 2 reads and 1 write more a group. Workspace: k - 1 elements. The order
// of operations depends on n and k alone.
//
// The carry and the group are steps of all p threads, so the end of a launch stands between: with d levels summed by
// launches, n/k (2d + 2) - 1 launches where k divides n; else the last, shorter group has the launches of its own
// levels, and none where it is one element.

#include <algorithm>
#include <type_traits>
#include "kernels/primitives/line/levels.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/scan/copy_line.hpp"
#include "kernels/scan/request.hpp"

namespace areal::kernels {

template <class C>
struct CarryArgs {
  Matrix line;
  std::int64_t at = 0;
  typename C::Op op;
};

/// Thread 0 adds the sum before `at` to the element there.
template <class M, class C>
struct CarryOver {
  using T = typename C::T;
  using Args = CarryArgs<C>;
  using Shared = NoShared;
  static constexpr int threads = warp_size, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    if (m.thread() != 0) return;
    const T before = load<T, T>(m, a.line, 0, a.at - 1);
    store(m, a.line, 0, a.at, a.op(before, load<T, T>(m, a.line, 0, a.at)));
  }
};

/// The inclusive sums of the first row of `line`, n elements; k >= 1, `levels` has level_cells(1, min(k, n)).
template <class C, class Launcher>
void sequential_prefix_sums(Launcher& launcher, const Matrix& line, std::int64_t n, std::int64_t k,
                            typename C::T* levels, std::int64_t p = 0, const typename C::Op& op = {}) {
  using T = typename C::T;
  static_assert(std::is_same_v<typename C::In, T>, "these sums are made in place");
  for (std::int64_t at = 0; at < n; at += k) {
    if (at > 0) launcher.template launch<CarryOver, C>(1, {line, at, op}, false);
    Matrix group = line;
    group.first += at * static_cast<std::int64_t>(sizeof(T));
    optimal_prefix_sums<C>(launcher, {group, group, 1, std::min(k, n - at), true}, levels, p, op);
  }
}

struct SequentialParallelScan {
  template <class T>
  static T* workspace(const ScanRequest& r, Workspace& from) {
    T* cells = nullptr;
    from.take(cells, level_cells(1, std::min(r.k, r.n)));
    return cells;
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    copy_line<In, T>(launcher, line, sums, r.n);
    sequential_prefix_sums<LineConfig<T, T>>(launcher, sums, r.n, r.k, workspace<T>(r, from), r.p);
  }
};

}  // namespace areal::kernels
