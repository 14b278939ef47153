// The mean-shift tracker (Comaniciu, Ramesh, Meer 2003, sections 3 to 5).
#include "track_mean_shift.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include "api/core/pixel_rule.hpp"
#include "api/core/require.hpp"
#include "track_box.hpp"

namespace areal::video {
namespace {

constexpr int most_moves = 20;      // the paper's limit
constexpr double same_place = 0.1;  // pixels; the paper stops within one
constexpr double scale_step = 0.1;  // the paper's; so is the weight of the best scale
constexpr double scale_share = 0.1;

}  // namespace

MeanShiftTracker::MeanShiftTracker(const Binning& binning, const TrackerOptions& options, std::int64_t least_side)
    : binning_(binning), one_scale_(options.scales.size() == 1), least_side_(least_side) {
  check_options(options);
}

MeanShiftTracker::Ellipse MeanShiftTracker::ellipse_of(const TrackedBox& box) noexcept {
  return {box.x + box.width / 2, box.y + box.height / 2, box.width / 2, box.height / 2};
}

// visit(bin, profile, x, y) for each pixel of the image inside the ellipse with a bin; x, y are relative to its centre.
template <class Visit>
void MeanShiftTracker::each_pixel(const ConstView& image, const Ellipse& at, Visit&& visit) {
  const auto first = [](double edge) { return std::max<std::int64_t>(0, rounded(edge)); };
  const std::int64_t x1 = std::min(image.shape.width, rounded(at.x + at.radius_x));
  const std::int64_t y1 = std::min(image.shape.height, rounded(at.y + at.radius_y));
  std::array<std::int32_t, cpu::longest_run> bins;
  for (std::int64_t y = first(at.y - at.radius_y); y < y1; ++y)
    for (std::int64_t x = first(at.x - at.radius_x); x < x1; x += cpu::longest_run) {
      const int count = static_cast<int>(std::min<std::int64_t>(cpu::longest_run, x1 - x));
      cpu::bins_of_run(*rule_, image, 0, y, x, count, bins.data());
      const double dy = static_cast<double>(y) + 0.5 - at.y, v = dy / at.radius_y;
      for (int i = 0; i < count; ++i) {
        const double dx = static_cast<double>(x + i) + 0.5 - at.x, u = dx / at.radius_x;
        const double profile = 1 - u * u - v * v;
        if (profile > 0 && bins[static_cast<std::size_t>(i)] >= 0)
          visit(static_cast<std::size_t>(bins[static_cast<std::size_t>(i)]), profile, dx, dy);
      }
    }
}

// The shares of pixels weighted by Epanechnikov's profile; they sum to 1.
void MeanShiftTracker::weigh(const ConstView& image, const Ellipse& at, std::vector<double>& histogram) {
  std::fill(histogram.begin(), histogram.end(), 0.0);
  double total = 0;
  each_pixel(image, at, [&](std::size_t bin, double profile, double, double) {
    histogram[bin] += profile;
    total += profile;
  });
  if (total > 0)
    for (double& share : histogram) share /= total;
}

double MeanShiftTracker::likeness_at(const ConstView& image, const Ellipse& at) {
  weigh(image, at, candidate_);
  double likeness = 0;
  for (std::size_t bin = 0; bin < target_.size(); ++bin) likeness += std::sqrt(target_[bin] * candidate_[bin]);
  return likeness;
}

MeanShiftTracker::Climb MeanShiftTracker::climb(const ConstView& image, Ellipse at) {
  double likeness = likeness_at(image, at);
  for (int move = 0; move < most_moves; ++move) {
    for (std::size_t bin = 0; bin < target_.size(); ++bin)
      ratios_[bin] = candidate_[bin] > 0 ? std::sqrt(target_[bin] / candidate_[bin]) : 0;
    double sum = 0, dx = 0, dy = 0;
    each_pixel(image, at, [&](std::size_t bin, double, double x, double y) {
      sum += ratios_[bin];
      dx += ratios_[bin] * x;
      dy += ratios_[bin] * y;
    });
    if (!(sum > 0)) break;
    dx /= sum, dy /= sum;
    Ellipse next = at;
    double next_likeness = 0;
    for (;; dx /= 2, dy /= 2) {  // halves a step that goes too far
      next.x = at.x + dx, next.y = at.y + dy;
      next_likeness = likeness_at(image, next);
      if (next_likeness >= likeness || std::hypot(dx, dy) < same_place) break;
    }
    if (next_likeness < likeness) break;
    at = next;
    likeness = next_likeness;
    if (std::hypot(dx, dy) < same_place) break;
  }
  return {at, likeness};
}

void MeanShiftTracker::start(const TrackerFrame& frame, const Region& box) {
  const ConstView& image = checked_image(frame, "mean-shift");
  check_first_box(box, image.shape.width, image.shape.height, least_side_);
  rule_ = pixel_bins(binning_, image.type, image.shape.channels);
  shape_ = image.shape;
  for (std::vector<double>* shares : {&target_, &candidate_, &ratios_})
    shares->assign(static_cast<std::size_t>(binning_.bins()), 0.0);
  box_ = {static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
          static_cast<double>(box.height), 0};
  weigh(image, ellipse_of(box_), target_);
}

TrackedBox MeanShiftTracker::step(const TrackerFrame& frame) {
  require(rule_.has_value(), "step: the tracker has not started");
  const ConstView& image = checked_image(frame, "mean-shift");
  require(image.shape == shape_, "image: ", image.shape.width, "x", image.shape.height, ", ", image.shape.channels,
          " channels, the first frame had ", shape_.width, "x", shape_.height, ", ", shape_.channels);
  require(image.type == rule_->type, "image: element type ", name_of(image.type), ", the first frame had ",
          name_of(rule_->type));
  const Ellipse from = ellipse_of(box_);
  Climb best = climb(image, from);
  if (!one_scale_)
    for (const double scale : {1 - scale_step, 1 + scale_step}) {
      const Climb other = climb(image, {from.x, from.y, from.radius_x * scale, from.radius_y * scale});
      if (other.likeness > best.likeness) best = other;
    }
  const auto side = [&](double before, double radius, std::int64_t most) {
    const double wanted = scale_share * 2 * radius + (1 - scale_share) * before;
    return std::clamp(wanted, static_cast<double>(least_side_), static_cast<double>(most));
  };
  const double width = one_scale_ ? box_.width : side(box_.width, best.at.radius_x, shape_.width);
  const double height = one_scale_ ? box_.height : side(box_.height, best.at.radius_y, shape_.height);
  const auto corner = [](double centre, double size, std::int64_t most) {
    return std::clamp(centre - size / 2, 0.0, static_cast<double>(most - rounded(size)));
  };
  box_ = {corner(best.at.x, width, shape_.width), corner(best.at.y, height, shape_.height), width, height,
          std::sqrt(std::max(0.0, 1 - best.likeness))};
  return box_;
}

}  // namespace areal::video
