#pragma once
// The choice between the kernels of windows of a table on a device.

#include <areal/view.hpp>
#include <areal/window.hpp>
#include <cstdint>

namespace areal::policy {

/// Whether sums and means of windows with this edge and output are answered by a walk down strips, where it takes them.
/// Edges that show copies of pixels need a second launch for the windows at the rim. One H200, windows of 15x15, us,
/// walk and other kernel: sums to 32f, edge shrink 640x480 9.7 and 11.5, 1920x1080 13.3 and 21.2, 8192x8192 151 and
/// 222; edge reflect 1920x1080 25.6 and 22.3, 4096x4096 84 and 86, 8192x8192 217 and 226.
constexpr bool walks_windows(Edge edge, const Shape& out) {
  const bool copies = edge != Edge::valid && edge != Edge::shrink && edge != Edge::zero && edge != Edge::constant;
  return out.width * out.height >= std::int64_t{1} << (copies ? 24 : 20);
}

}  // namespace areal::policy
