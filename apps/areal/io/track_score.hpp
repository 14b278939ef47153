#pragma once
// Scores tracked boxes against the ground truth.

#include <areal/track.hpp>
#include <cstdint>
#include <vector>

namespace areal::command {

/// Intersection over union of two boxes; 0 if both are empty.
double overlap(const TrackedBox& a, const TrackedBox& b);

struct BoxPair {
  TrackedBox found, truth;
};

/// The measures of OTB (Wu, Lim, Yang 2013).
struct TrackScore {
  double mean_overlap = 0;  ///< mean IoU
  /// The area under the success curve: the share of boxes whose overlap exceeds t, averaged over t = 0, 0.05, .. 1.
  double success = 0;
  double precision = 0;  ///< the share of boxes whose centre is within 20 pixels of the truth's
};
/// `missing`: true boxes without a found box; they score 0. Needs at least one box in all.
TrackScore score(const std::vector<BoxPair>& pairs, std::int64_t missing = 0);

}  // namespace areal::command
