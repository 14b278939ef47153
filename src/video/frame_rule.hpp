#pragma once
// The rule from bytes to bins for bytes that stand for other values: a stream's levels folded into the binning.

#include <areal/binning.hpp>
#include <areal/type.hpp>
#include <cstdint>
#include <vector>
#include "api/core/pixel_rule.hpp"

namespace areal::video {

/// `binning` of levels[byte] as a binning of bytes, with the same number of bins; `binning` itself if levels is null.
/// levels has 256 entries.
inline Binning folded(const Binning& binning, const std::uint8_t* levels) {
  if (levels == nullptr) return binning;
  // One entry more than there are bytes makes the number of bins independent of the levels.
  std::vector<std::int32_t> bin_of(257, static_cast<std::int32_t>(binning.bins() - 1));
  for (std::size_t v = 0; v < 256; ++v) bin_of[v] = static_cast<std::int32_t>(binning.bin_of(levels[v]));
  return Binning::lookup(std::move(bin_of));
}

}  // namespace areal::video
