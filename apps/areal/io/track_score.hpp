#pragma once
// How well boxes meet the truth.

#include <areal/track.hpp>
#include <cstdint>
#include <vector>

namespace areal::command {

/// Intersection over union of two boxes, 0 where neither has an area.
double overlap(const TrackedBox& a, const TrackedBox& b);

struct BoxPair {
  TrackedBox found, truth;
};

/// The measures of OTB (Wu, Lim, Yang 2013).
struct TrackScore {
  double mean_overlap = 0;  ///< mean IoU
  /// The area under the success curve: the mean of the shares of boxes whose overlap is above 0, 0.05, .. 1.
  double success = 0;
  double precision = 0;  ///< the share of boxes whose centre is at most 20 pixels from the truth's
};
/// Of pairs and of so many true boxes for which nothing was found; together at least one.
TrackScore score(const std::vector<BoxPair>& pairs, std::int64_t missing = 0);

}  // namespace areal::command
