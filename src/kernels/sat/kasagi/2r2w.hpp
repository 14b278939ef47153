#pragma once
// 2R2W (Kasagi 2014, IV). 2 launches, 1 barrier step. Reads 2, writes 2 per element (2n and 2n - h). A thread goes down
// each column, coalesced; then a thread along each row, every access of a warp in a row of its own. Blocks of 64
// threads. Floats are the same every run.

#include "kernels/sat/kasagi/scan_lines.hpp"
#include "kernels/sat/plain.hpp"

namespace areal::kernels {

struct TwoReadTwoWrite {
  template <class T>
  static std::size_t workspace_bytes(const TableRequest&) {
    return 0;
  }

  template <class In, class T, class Launcher>
  static void sums(Launcher& launcher, const TableRequest&, const Plain& p, void*) {
    scan_lines<PlainConfig<In, T>>(launcher, {p.in, p.out, p.width, p.height, false, false});
    scan_lines<PlainConfig<T, T>>(launcher, {p.out, p.out, p.height, p.width, true, true});
  }
};

}  // namespace areal::kernels
