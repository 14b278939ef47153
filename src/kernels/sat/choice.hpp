#pragma once
// What `auto` is on a device, from measurements: docs/notes/cuda-sat.md.

#include <algorithm>
#include <string_view>
#include "kernels/sat/request.hpp"

namespace areal::kernels {

/// A diagonal of tiles must be long to keep the machine busy; how long was measured at 4096, 8192 and 16384 squared.
inline std::string_view best_sat(const SatRequest& request) {
  const std::int64_t side = std::min(request.image.width, request.image.height);
  return side >= (size_of(request.lane.input) >= 4 ? 6144 : 12288) ? "held-diagonal" : "held";
}

}  // namespace areal::kernels
