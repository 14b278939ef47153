// The search that three trackers share: every place within a radius, or in the image, in some scales.
#include "track_search.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include "api/core/require.hpp"
#include "track_box.hpp"

namespace areal::video {

struct BoxSearch::Best {
  TrackedBox box;
  double cost = std::numeric_limits<double>::infinity();
};

BoxSearch::BoxSearch(const TrackerOptions& options, const SearchRule& rule) : options_(options), rule_(rule) {
  check_options(options);
  if (rule.is_everywhere) options_.scales = {1};
  // Scale 1 first: equally good places keep the scale.
  std::stable_partition(options_.scales.begin(), options_.scales.end(), [](double scale) { return scale == 1; });
  parts_.resize(rule.has_fragments ? FragmentTracker::fragments : 1);
}

int rank_of(double quantile, int count) noexcept {
  return std::clamp(static_cast<int>(std::ceil(quantile * static_cast<double>(count))), 1, count);
}

void BoxSearch::lay_out(double width, double height) {
  if (!rule_.has_fragments) {
    parts_[0] = {0, 0, rounded(width), rounded(height)};
    return;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i] = formulas::fragment(width, height, formulas::fragment_place(static_cast<int>(i)));
}

void BoxSearch::start(const TrackerFrame& frame, const Region& box) {
  const TensorView& tensor = checked_tensor(frame, rule_.name);
  check_first_box(box, tensor.image_width(), tensor.image_height(), rule_.least_side);
  image_width_ = tensor.image_width();
  image_height_ = tensor.image_height();
  bins_ = tensor.bins();
  most_ = rule_.is_everywhere ? image_width_ : std::min(image_width_, 2 * options_.radius + 1);
  row_.resize(bins_, most_);
  shares_.resize(parts_.size() * static_cast<std::size_t>(bins_));
  votes_.resize(parts_.size() * static_cast<std::size_t>(most_));
  sorted_.resize(parts_.size());
  box_ = {static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
          static_cast<double>(box.height), 0};
  lay_out(box_.width, box_.height);
  double* shares = shares_.data();
  for (const Region& part : parts_) {
    row_.shares(tensor, {box.x + part.x, box.y + part.y, part.width, part.height}, shares);
    shares += bins_;
  }
}

TrackedBox BoxSearch::step(const TrackerFrame& frame) {
  require(bins_ > 0, "step: the tracker has not started");
  const TensorView& tensor = checked_tensor(frame, rule_.name);
  require(tensor.image_width() == image_width_ && tensor.image_height() == image_height_, "tensor: of an image of ",
          tensor.image_width(), "x", tensor.image_height(), ", the first frame had ", image_width_, "x", image_height_);
  require(tensor.bins() == bins_, "tensor: ", tensor.bins(), " bins, the first frame had ", bins_);
  Best best{box_};
  for (const double scale : options_.scales)
    search(tensor, scaled(box_, scale), scale == 1 ? 1 : 1 + options_.scale_cost, best);
  return box_ = best.box;
}

// The distance of a place: the quantile of its parts' votes.
double BoxSearch::vote(std::int64_t place) {
  const auto count = static_cast<std::int64_t>(parts_.size());
  for (std::int64_t i = 0; i < count; ++i)
    sorted_[static_cast<std::size_t>(i)] = votes_[static_cast<std::size_t>(i * most_ + place)];
  const auto wanted = sorted_.begin() + rank_of(options_.quantile, static_cast<int>(count)) - 1;
  std::nth_element(sorted_.begin(), wanted, sorted_.end());
  return *wanted;
}

void BoxSearch::search(const TensorView& tensor, const TrackedBox& from, double cost, Best& best) {
  const std::int64_t reach = rule_.is_everywhere ? std::max(image_width_, image_height_) : options_.radius;
  const formulas::SearchArea area = formulas::search_area(from, image_width_, image_height_, reach, rule_.least_side);
  if (area.is_empty) return;
  const std::int64_t x = area.x, y = area.y, x0 = area.x0, x1 = area.x1;
  lay_out(from.width, from.height);
  bool found = false;  // among equally good places the first scale wins
  std::int64_t nearest = 0;
  for (std::int64_t top = area.y0; top <= area.y1; ++top) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Region& part = parts_[i];
      row_.distances(tensor, {x0 + part.x, top + part.y, part.width, part.height}, x1 - x0 + 1,
                     shares_.data() + i * static_cast<std::size_t>(bins_),
                     votes_.data() + i * static_cast<std::size_t>(most_));
    }
    for (std::int64_t left = x0; left <= x1; ++left) {
      const double distance = vote(left - x0), place_cost = distance * cost;
      const std::int64_t away = (left - x) * (left - x) + (top - y) * (top - y);
      if (!(place_cost < best.cost || (place_cost == best.cost && found && away < nearest))) continue;
      found = true;
      nearest = away;
      best.cost = place_cost;
      best.box = {from.x + static_cast<double>(left - x), from.y + static_cast<double>(top - y), from.width,
                  from.height, distance};
    }
  }
}

}  // namespace areal::video
