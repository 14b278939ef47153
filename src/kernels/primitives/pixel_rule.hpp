#pragma once
// The rule from pixels to bins in the kernels' form.

#include <cstdint>

namespace areal::kernels {

/// One channel's rule. Pixels of 8 and 16 bits read a table of 16-bit bins by their bits, 0xffff for none; others
/// follow `kind`. `data` is the table, or the bins + 1 edges as doubles.
struct ChannelRule {
  enum class Kind : std::uint8_t { table, equal, edges, labels };
  const char* data = nullptr;
  std::int64_t ignored = -1;  ///< label, -1 for none
  double lo = 0, hi = 0;      ///< the outer edges
  int bins = 0;
  Kind kind = Kind::table;
  bool clamped = false;
};

/// The rule of a whole pixel: of one channel, or joint.
struct PixelRule {
  static constexpr int most_channels = 3;
  ChannelRule channel[most_channels];
  int channels = 1;
};

}  // namespace areal::kernels
