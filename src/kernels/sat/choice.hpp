#pragma once
// What `auto` is on a device, from measurements: docs/notes/cuda-sat.md.

#include <algorithm>
#include <string_view>
#include "kernels/sat/request.hpp"

namespace areal::kernels {

/// What gives a sum and its squares, whatever algorithm is asked for.
inline constexpr std::string_view only_sat_with_squares = "held";

inline std::string_view best_sat(const SatRequest& request) {
  const std::int64_t width = request.image.width, height = request.image.height;
  const std::int64_t shorter = std::min(width, height), longer = std::max(width, height);
  // Tiles of few rows or columns are all but empty. Down narrow columns held has a longer way than along flat rows.
  if (shorter <= 16 || (width <= 48 && longer > 4096)) return "ribbon";
  // Few tiles are on the machine all at once: one hop, though each adds up all the others.
  const std::int64_t images = request.image.batch * request.image.channels;
  if (longer <= 3072 && images <= 1600 * 1600 / (width * height)) return "held-direct";
  // A diagonal of tiles must be long to keep the machine busy.
  return shorter >= (size_of(request.lane.input) >= 4 ? 6144 : 12288) ? "held-diagonal" : "held";
}

}  // namespace areal::kernels
