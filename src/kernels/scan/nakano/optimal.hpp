#pragma once
// The optimal prefix-sums (Nakano 2013, 7), of one line: levels.hpp. 2d + 1 launches, d the least for which
// n / 2^(d+1) is not above 256, and 2(m - d) - 1 barriers of a block, for n = 2^m. Reads 4, writes 3 per element, runs
// of neighbours or every second of twice as many. Workspace: the levels, n - 1 elements. The order of operations
// depends on n alone. The paper's p is request.p; blocks of 256 threads.

#include "kernels/primitives/line/levels.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/scan/request.hpp"

namespace areal::kernels {

struct OptimalScan {
  template <class T>
  static T* workspace(const ScanRequest& r, Workspace& from) {
    T* cells = nullptr;
    from.take(cells, level_cells(1, r.n));
    return cells;
  }
  template <class In, class T, class Launcher>
  static void run(Launcher& launcher, const ScanRequest& r, const Matrix& line, const Matrix& sums, Workspace& from) {
    optimal_prefix_sums<LineConfig<In, T>>(launcher, {line, sums, 1, r.n, false}, workspace<T>(r, from), r.p);
  }
};

}  // namespace areal::kernels
