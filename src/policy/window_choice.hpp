#pragma once
// The choice between the kernels of windows of a table on a device.

#include <areal/view.hpp>
#include <cstdint>

namespace areal::policy {

/// Whether sums and means of windows are answered by a walk, where it takes them.
constexpr bool walks_windows(const Shape& out) { return out.width * out.height >= 0; }

}  // namespace areal::policy
