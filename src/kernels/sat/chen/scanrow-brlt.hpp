#pragma once
// ScanRow-BRLT (Chen 2018, IV-A). 2 launches, 1 barrier step. Reads 2, writes 2 per element (2n and 2n), all coalesced.
// A warp sums each row of its 32 x 32 elements by a warp scan, 160 shuffles in all, and transposes the sums through
// shared memory. Per 32 x 32 elements and launch 1088 writes and 1088 reads of shared memory, without conflicts; 6
// barriers of the block for every 1024 columns (512 for sums of 8 bytes). Blocks of 1024 threads (512). Workspace: the
// transposed table. Floats have the same bits every run. The paper leaves open how a row's warps pass on their sums:
// here as in BRLT-ScanRow, by its Figure 3c.

#include "kernels/primitives/warp/scan_config.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/chen/brlt.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

template <class M, class C>
struct ScanRowBrlt {
  using T = typename C::T;
  using Args = PassArgs;
  using Shared = BrltShared<T>;
  static constexpr int threads = row_threads<T>, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    scan_rows_transposed<typename C::In>(m, s, a, [&](T(&data)[cached], bool mine) {
      if (mine) {
        AREAL_UNROLL
        for (int j = 0; j < cached; ++j) data[j] = inclusive_scan<C::scan>(m, data[j]);
      }
      transpose_registers<Shared::warps>(m, s.buffers, data, mine);
    });
  }
};

struct ScanRowBrltTwice {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    return transposed_bytes<T>(request);
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void* workspace) {
    Workspace from(workspace);
    const Matrix flat = transposed<T>(request, from);
    with_scan(request.scan, [&]<WarpScan scan>() {
      scan_rows_twice<ScanRowBrlt, ScanConfig<In, T, scan>, ScanConfig<T, T, scan>>(launcher, p, flat);
    });
  }
};

}  // namespace areal::kernels
