// Trackers by their names.
#include <areal/track.hpp>
#include "api/core/require.hpp"
#include "track_mean_shift.hpp"
#include "track_search.hpp"

namespace areal {
namespace {

constexpr std::string_view names[] = {"fragments", "window", "exhaustive", "mean-shift"};
constexpr std::int64_t least_side = 2;

class HistogramTracker final : public Tracker {
 public:
  HistogramTracker(const TrackerOptions& options, const char* name, bool is_everywhere)
      : search_(options, {name, false, is_everywhere, least_side}) {}
  void start(const TrackerFrame& frame, const Region& box) override { search_.start(frame, box); }
  TrackedBox step(const TrackerFrame& frame) override { return search_.step(frame); }
  TrackedBox box() const override { return search_.box(); }
  bool reads_tensor() const noexcept override { return true; }
  bool reads_image() const noexcept override { return false; }

 private:
  video::BoxSearch search_;
};

}  // namespace

Tracker::~Tracker() = default;

std::span<const std::string_view> tracker_names() noexcept { return names; }

std::unique_ptr<Tracker> make_tracker(std::string_view name, const Binning& binning, const TrackerOptions& options) {
  if (name == "fragments") return std::make_unique<FragmentTracker>(options);
  if (name == "window") return std::make_unique<HistogramTracker>(options, "window", false);
  if (name == "exhaustive") return std::make_unique<HistogramTracker>(options, "exhaustive", true);
  if (name == "mean-shift") return std::make_unique<video::MeanShiftTracker>(binning, options, least_side);
  throw InvalidArgument(sentence("tracker ", name, ": may be fragments, window, exhaustive or mean-shift"));
}

}  // namespace areal
