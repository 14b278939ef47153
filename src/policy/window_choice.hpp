#pragma once
// The choice between the kernels of windows of a table on a device.

#include <areal/view.hpp>
#include <areal/window.hpp>
#include <cstdint>
#include "formulas/window_axis.hpp"

namespace areal::policy {

/// Whether sums or `means` of windows with this edge and output are answered by a walk down strips, where it takes
/// them. It takes the windows that are finished alike; the others need a second launch, which pays from 4096x4096 on.
/// One H200, windows of 15x15, us, walk and other kernel: sums to 32f with the edge shrink 640x480 9.7 and 11.5,
/// 1920x1080 13.3 and 21.2, 8192x8192 151 and 222; with reflect 25.6 and 22.3 at 1920x1080, 84 and 86 at 4096x4096, 217
/// and 226 at 8192x8192.
constexpr bool walks_windows(Edge edge, bool means, const Shape& out) {
  return out.width * out.height >= std::int64_t{1} << (formulas::finishes_alike(edge, means) ? 20 : 24);
}

}  // namespace areal::policy
