#pragma once
// The search that three trackers share: every place within a radius, or in the image, in some scales.

#include <areal/track.hpp>
#include <cstdint>
#include <vector>
#include "track_emd_row.hpp"

namespace areal::video {

/// How the three trackers differ.
struct SearchRule {
  const char* name;
  bool has_fragments;  ///< otherwise the box is its only part
  bool is_everywhere;  ///< every place of the image, and one scale
  std::int64_t least_side;
};

/// The rank of the quantile among `count` ordered values, from 1.
int rank_of(double quantile, int count) noexcept;

class BoxSearch {
 public:
  BoxSearch(const TrackerOptions& options, const SearchRule& rule);
  void start(const TrackerFrame& frame, const Region& box);
  TrackedBox step(const TrackerFrame& frame);
  const TrackedBox& box() const noexcept { return box_; }

 private:
  struct Best;
  void lay_out(double width, double height);
  void search(const TensorView& tensor, const TrackedBox& from, double cost, Best& best);
  double vote(std::int64_t place);

  TrackerOptions options_;
  SearchRule rule_;
  TrackedBox box_;
  std::int64_t image_width_ = 0, image_height_ = 0;
  std::int64_t bins_ = 0;               // 0: not started
  std::int64_t most_ = 0;               // places in a row
  std::vector<Region> parts_;           // of the box, relative to its corner
  std::vector<double> shares_;          // of the first frame's parts, parts x bins
  std::vector<double> votes_, sorted_;  // parts x most_; those of one place
  EmdRow row_;
};

}  // namespace areal::video
