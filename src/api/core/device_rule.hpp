#pragma once
// A rule from pixels to bins in the kernels' form, and its tables.

#include <cstdint>
#include <vector>
#include "cpu/histogram/pixel_bins.hpp"
#include "kernels/primitives/pixel_rule.hpp"

namespace areal {

struct DeviceRule {
  kernels::PixelRule rule;   ///< without its `data`, which lies
  std::vector<char> tables;  ///< in these bytes, once they are in the machine's memory,
  std::int64_t table_at[kernels::PixelRule::most_channels] = {};  ///< at these offsets, multiples of 16

  /// The rule with tables that lie there. Labels have none.
  kernels::PixelRule at(const char* there) const;
};
DeviceRule device_rule(const cpu::PixelBins& rule);

/// A factor s such that the bin of every pixel is pixel * s / 65536, as in equal bins over the whole range of unsigned
/// pixels of 8 or 16 bits; 0 if there is none.
std::uint32_t bin_scale(const cpu::PixelBins& rule);

}  // namespace areal
