#pragma once
// What `auto` is on a device, from measurements: docs/notes/cuda-sat.md.

#include <algorithm>
#include <areal/border.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace areal::policy {

/// What gives a sum and its squares, whatever algorithm is asked for.
inline constexpr std::string_view only_sat_with_squares = "lookback";

/// What is tried in this order where a device has less shared memory than the best one takes. Each type pair has one of
/// them in 64 KiB, the least that a device has.
inline constexpr std::string_view smaller_sats[] = {"lookback", "all-partials", "thin"};

inline std::string_view best_sat(const Shape& image, TypePair types, Border border) {
  const std::int64_t width = image.width, height = image.height;
  const std::int64_t shorter = std::min(width, height), longer = std::max(width, height);
  // Tiles of few rows or columns are all but empty. Look-back is slower down narrow columns than along flat rows.
  if (shorter <= 16 || (width <= 48 && longer > 4096)) return "thin";
  const std::size_t in = size_of(types.input), out = size_of(types.table);
  // Few tiles are on the machine all at once: one hop, though each adds up all the others.
  const std::int64_t images = image.batch * image.channels;
  const std::int64_t few = out == 4 || in == 8 ? 1600 : in == 4 ? 2048 : 2560;
  if (longer <= 3072 && images <= few * few / (width * height)) return "all-partials";
  // Bands for rows of aligned vectors; what else the plan is given is lookback's or lookback-diagonal's.
  if (in == 4 && out == 4 && images == 1 && border == Border::none && width % 4 == 0 && shorter >= 3072) return "bands";
  // A diagonal of tiles must be long to keep the machine busy.
  const std::int64_t long_enough = out == 8 ? (in == 8 ? 4096 : in == 4 ? 3072 : 6144) : in == 1 ? 10240 : 6144;
  return shorter >= long_enough ? "lookback-diagonal" : "lookback";
}

}  // namespace areal::policy
