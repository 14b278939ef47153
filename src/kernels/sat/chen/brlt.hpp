#pragma once
// What ScanRow-BRLT and BRLT-ScanRow (Chen 2018, IV-A and IV-B) share: one kernel, launched twice. It sums the rows of
// a matrix and writes them transposed, without a transpose in global memory; the second launch reads what the first
// wrote.

#include "kernels/primitives/warp/register_matrix.hpp"

namespace areal::kernels {

/// A block has 32 rows. Its warps hold 32 x 32 elements each, side by side.
template <class T>
struct BrltShared {
  static constexpr int warps = row_threads<T> / warp_size;
  TransposeBuffers<T> buffers;
  T partial[warps][warp_size];
};

/// `scan_and_transpose(data, mine)` turns a warp's matrix into its rows' sums, a row in each lane.
template <class From, class T, class M, class ScanAndTranspose>
AREAL_DEVICE void scan_rows_transposed(const M& m, BrltShared<T>& s, const PassArgs& a,
                                       const ScanAndTranspose& scan_and_transpose) {
  const std::int64_t y = m.block() * warp_size;
  T carry = 0;
  for (std::int64_t x = 0; x < a.width; x += row_threads<T>) {
    const int here = at_most((a.width - x + warp_size - 1) / warp_size, BrltShared<T>::warps);
    const std::int64_t at = x + m.warp() * warp_size;
    T data[cached];
    load_registers<From>(m, column_strip<From>(m, a.from, y, at, a.height, a.width), data);
    scan_and_transpose(data, m.warp() < here);
    add_warps_before(m, s.partial, data, here, carry);
    store_registers(m, column_strip<T>(m, a.to, at, y, a.width, a.height), data);
  }
}

/// First and Second: the kernel's configurations for the image and for the sums of its rows, which go to `flat`,
/// transposed.
template <template <class, class> class Kernel, class First, class Second, class Launcher>
void scan_rows_twice(Launcher& launcher, const Plain& p, const Matrix& flat) {
  launcher.template launch<Kernel, First>(blocks_of(p.height, warp_size), {p.in, flat, p.height, p.width}, false);
  launcher.template launch<Kernel, Second>(blocks_of(p.width, warp_size), {flat, p.out, p.width, p.height}, false);
}

}  // namespace areal::kernels
