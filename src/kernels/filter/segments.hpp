#pragma once
// How the rows of an image are cut into segments, so that a device has work for all its spans.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace areal::kernels {

/// Blocks of a kernel that the device holds at once; 256 if it does not tell.
template <template <class, class> class K, class C, class Launcher>
std::int64_t held_blocks(Launcher& launcher) {
  const std::int64_t known = launcher.template most_together<K, C>();
  return known > 0 ? known : 256;
}

/// The height of the segments that `outputs` rows are cut into. There are `columns` spans side by side, and the device
/// runs `held` of them at once, one after the other as they end. Before its first output a span reads rows that take as
/// long as `begin` rows with outputs. The work of a span's share of the device is (1 + begin / rows) times its rows,
/// and half a segment passes on average while the last ones end; their sum is least where rows^2 is the product below.
inline int segment_rows(std::int64_t outputs, double begin, double columns, double held) {
  const double share = columns * static_cast<double>(outputs) / held;
  const double best = std::max(8., std::sqrt(2 * share * begin));  // shorter ones begin too often for small images
  return static_cast<int>(std::min(best, static_cast<double>(outputs)));
}

/// Cuts the `outputs` rows of a.strips strips of each plane into such segments, for a grid of a unit each.
template <class Args>
void cut_segments(Args& a, std::int64_t outputs, double begin, std::int64_t planes, std::int64_t held) {
  const std::int64_t columns = planes * a.strips;
  a.segment_rows = segment_rows(outputs, begin, static_cast<double>(columns), static_cast<double>(held));
  a.segments = static_cast<int>((outputs - 1) / a.segment_rows + 1);
  a.units = columns * a.segments;
}

}  // namespace areal::kernels
