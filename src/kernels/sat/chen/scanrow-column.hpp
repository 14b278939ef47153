#pragma once
// ScanRowColumn (Chen 2018, IV-C). 2 launches, 1 barrier step. Reads 2, writes 2 per element (2n and 2n), all
// coalesced; the second launch in place. Floats are the same every run.
//
//   ScanRow     a warp goes along each row: scan_row.hpp
//   ScanColumn  a block goes down 32 columns, 1024 rows at a time: each lane sums up 32 rows alone, 31 additions, and
//               the warps' sums go through shared memory: 64 writes, 64 reads for 32 x 32 elements, 2 barriers for 1024
//               rows. Blocks of 32 x 32 threads for every type, as in the paper: sums of 8 bytes do not fit into the 64
//               registers that such a thread may have, and spill

#include "kernels/primitives/warp/register_matrix.hpp"
#include "kernels/primitives/warp/scan_row.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

/// C: only T is used.
template <class M, class C>
struct ScanColumn {
  using T = typename C::T;
  using Args = PassArgs;
  static constexpr int warps = 32;
  struct Shared {
    T partial[warps][warp_size];
  };
  static constexpr int threads = warps * warp_size, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t x = m.block() * warp_size;
    T carry = 0;
    for (std::int64_t y = 0; y < a.height; y += threads) {
      const int here = at_most((a.height - y + cached - 1) / cached, warps);
      const std::int64_t at = y + m.warp() * cached;
      T data[cached];
      load_registers<T>(m, column_strip<T>(m, a.from, at, x, a.height, a.width), data);
      serial_scan(data);
      add_warps_before(m, s.partial, data, here, carry);
      store_registers(m, column_strip<T>(m, a.to, at, x, a.height, a.width), data);
    }
  }
};

struct ScanRowColumn {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest&) {
    return 0;
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest& request, const Plain& p, void*) {
    with_scan(request.scan, [&]<WarpScan scan>() {
      launcher.template launch<ScanRow, ScanConfig<In, T, scan>>(blocks_of(p.height, row_threads<T> / warp_size),
                                                                 {p.in, p.out, p.height, p.width}, false);
    });
    launcher.template launch<ScanColumn, PlainConfig<T, T>>(blocks_of(p.width, warp_size),
                                                            {p.out, p.out, p.height, p.width}, false);
  }
};

}  // namespace areal::kernels
