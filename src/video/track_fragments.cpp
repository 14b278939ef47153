// FragmentTracker (Adam, Rivlin, Shimshoni 2006).
#include <areal/track.hpp>
#include "track_search.hpp"

namespace areal {

struct FragmentTracker::State {
  video::BoxSearch search;
};

FragmentTracker::FragmentTracker(const TrackerOptions& options)
    : state_(new State{video::BoxSearch(options, {"fragments", true, false, least_side})}) {}
FragmentTracker::~FragmentTracker() = default;

void FragmentTracker::start(const TrackerFrame& frame, const Region& box) { state_->search.start(frame, box); }
TrackedBox FragmentTracker::step(const TrackerFrame& frame) { return state_->search.step(frame); }
TrackedBox FragmentTracker::box() const { return state_->search.box(); }

}  // namespace areal
