#pragma once
// The rule from bytes to bins where a byte stands for another value: the levels of a stream folded into the binning.

#include <areal/binning.hpp>
#include <areal/type.hpp>
#include <cstdint>
#include <vector>
#include "api/core/pixel_rule.hpp"

namespace areal::video {

/// `binning` of levels[byte] as a binning of bytes, of as many bins; `binning` itself where levels is null. levels has
/// 256 entries.
inline Binning folded(const Binning& binning, const std::uint8_t* levels) {
  if (levels == nullptr) return binning;
  // One entry more than there are bytes: it says how many bins there are, whether or not a byte falls into the last.
  std::vector<std::int32_t> bin_of(257, static_cast<std::int32_t>(binning.bins() - 1));
  for (std::size_t v = 0; v < 256; ++v) bin_of[v] = static_cast<std::int32_t>(binning.bin_of(levels[v]));
  return Binning::lookup(std::move(bin_of));
}

}  // namespace areal::video
