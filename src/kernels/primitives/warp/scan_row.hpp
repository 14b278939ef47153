#pragma once
// ScanRow (Chen 2018, IV-C): a warp goes along each row, 1024 elements at a time: 32 warp scans, the last sum of each
// added to the first element of the next. 160 + 32 shuffles for 1024 elements, no barrier, no shared memory. Reads 1,
// writes 1 per element, coalesced. Blocks of 1024 threads, 512 for sums of 8 bytes.

#include "kernels/primitives/warp/register_matrix.hpp"
#include "kernels/primitives/warp/scan_config.hpp"

namespace areal::kernels {

template <class M, class C>
struct ScanRow {
  using In = typename C::In;
  using T = typename C::T;
  using Args = PassArgs;
  using Shared = NoShared;
  static constexpr int threads = row_threads<T>, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t y = m.block() * (threads / warp_size) + m.warp();
    if (y >= a.height) return;
    T before = 0;
    for (std::int64_t x = 0; x < a.width; x += cached * warp_size) {
      T data[cached];
      load_registers<In>(m, row_strip<In>(m, a.from, y, x, a.width), data);
      AREAL_UNROLL
      for (int j = 0; j < cached; ++j) {
        if (m.lane() == 0) data[j] += before;
        data[j] = inclusive_scan<C::scan>(m, data[j]);
        before = m.shuffle(data[j], warp_size - 1);
      }
      store_registers(m, row_strip<T>(m, a.to, y, x, a.width), data);
    }
  }
};

}  // namespace areal::kernels
