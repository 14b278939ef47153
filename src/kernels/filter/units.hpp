#pragma once
// The units of work of filters that walk down strips of columns: planes x segments x strips.

#include <cstdint>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Where a unit lies.
struct FilterUnit {
  int strip;  ///< of its plane
  int y;      ///< the first output row of its segment
  std::int64_t channel, image;

  /// `a` has the numbers of strips, segments and channels, and the rows of a segment.
  template <class Args>
  AREAL_DEVICE static FilterUnit at(std::int64_t unit, const Args& a) {
    FilterUnit place;
    place.strip = static_cast<int>(unit % a.strips);
    unit /= a.strips;
    place.y = static_cast<int>(unit % a.segments) * a.segment_rows;
    const std::int64_t plane = unit / a.segments;
    place.channel = plane % a.channels, place.image = plane / a.channels;
    return place;
  }
  /// Bytes to its plane.
  AREAL_DEVICE std::int64_t plane_in(const Strides& s) const { return image * s.batch + channel * s.channel; }
};

}  // namespace areal::kernels
