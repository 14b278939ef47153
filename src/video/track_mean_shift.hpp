#pragma once
// The mean-shift tracker (Comaniciu, Ramesh, Meer 2003).

#include <areal/track.hpp>
#include <optional>
#include <vector>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal::video {

class MeanShiftTracker final : public Tracker {
 public:
  MeanShiftTracker(const Binning& binning, const TrackerOptions& options, std::int64_t least_side);
  void start(const TrackerFrame& frame, const Region& box) override;
  TrackedBox step(const TrackerFrame& frame) override;
  TrackedBox box() const override { return box_; }
  bool reads_tensor() const noexcept override { return false; }
  bool reads_image() const noexcept override { return true; }

 private:
  /// A place of the kernel: centre and radii, in pixels.
  struct Ellipse {
    double x, y, radius_x, radius_y;
  };
  struct Climb {
    Ellipse at;
    double likeness;  // the Bhattacharyya coefficient
  };
  static Ellipse ellipse_of(const TrackedBox& box) noexcept;
  template <class Visit>
  void each_pixel(const ConstView& image, const Ellipse& at, Visit&& visit);
  void weigh(const ConstView& image, const Ellipse& at, std::vector<double>& histogram);
  double likeness_at(const ConstView& image, const Ellipse& at);
  Climb climb(const ConstView& image, Ellipse at);

  Binning binning_;
  bool one_scale_;
  std::int64_t least_side_;
  Shape shape_;
  std::optional<cpu::PixelBins> rule_;  // none: not started
  std::vector<double> target_, candidate_, ratios_;
  TrackedBox box_;
};

}  // namespace areal::video
