#pragma once
// BRLT-ScanRow (Chen 2018, IV-B). 2 launches, 1 barrier step. Reads 2, writes 2 per element (2n and 2n), all coalesced.
// Shared memory transposes a warp's 32 x 32 elements first, so that each lane sums a row alone: 31 additions, no
// shuffle. Per 32 x 32 elements and launch 1088 writes and 1088 reads of shared memory, without conflicts; 6 barriers
// of the block for every 1024 columns (512 for sums of 8 bytes). Blocks of 1024 threads (512). Workspace: the
// transposed table. Floats have the same bits every run.

#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/chen/brlt.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

template <class M, class C>
struct BrltScanRow {
  using T = typename C::T;
  using Args = PassArgs;
  using Shared = BrltShared<T>;
  static constexpr int threads = row_threads<T>, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    scan_rows_transposed<typename C::In>(m, s, a, [&](T(&data)[cached], bool mine) {
      transpose_registers<Shared::warps>(m, s.buffers, data, mine);
      serial_scan(data);
    });
  }
};

struct BrltScanRowTwice {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest& request) {
    return transposed_bytes<T>(request);
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void* workspace) {
    Workspace from(workspace);
    scan_rows_twice<BrltScanRow, PlainConfig<In, T>, PlainConfig<T, T>>(launcher, p, transposed<T>(request, from));
  }
};

}  // namespace areal::kernels
