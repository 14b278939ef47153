#pragma once
// The choice of the warp scan, which is a template argument of the kernels that have one.

#include "kernels/primitives/warp/warp_scans.hpp"

namespace areal::kernels {

template <class In_, class T_, WarpScan scan_>
struct ScanConfig {
  using In = In_;
  using T = T_;
  static constexpr WarpScan scan = scan_;
};

/// f.operator()<scan>(), for a scan that is known at run time.
template <class F>
void with_scan(WarpScan scan, const F& f) {
  if (scan == WarpScan::ladner_fischer)
    f.template operator()<WarpScan::ladner_fischer>();
  else
    f.template operator()<WarpScan::kogge_stone>();
}

}  // namespace areal::kernels
