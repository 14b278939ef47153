// The search that three trackers share: every place within a radius, or in the image, in some scales.
#include "track_search.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include "api/core/require.hpp"
#include "track_box.hpp"

namespace areal::video {
namespace {

constexpr std::int64_t fine = 10, coarse = 2;  // the paper's: a fragment is a tenth by half of the box

// Piece `index` of `pieces` equal ones of a side. Neighbours meet, whatever is rounded.
struct Piece {
  std::int64_t from, size;
};
Piece piece(double side, std::int64_t index, std::int64_t pieces) {
  const auto edge = [&](std::int64_t i) {
    return rounded(side * static_cast<double>(i) / static_cast<double>(pieces));
  };
  return {edge(index), edge(index + 1) - edge(index)};
}

}  // namespace

struct BoxSearch::Best {
  TrackedBox box;
  double cost = std::numeric_limits<double>::infinity();
};

BoxSearch::BoxSearch(const TrackerOptions& options, const SearchRule& rule) : options_(options), rule_(rule) {
  check_options(options);
  if (rule.is_everywhere) options_.scales = {1};
  // Without a change first: equally good places keep the scale.
  std::stable_partition(options_.scales.begin(), options_.scales.end(), [](double scale) { return scale == 1; });
  parts_.resize(rule.has_fragments ? 2 * fine * coarse : 1);
}

void BoxSearch::lay_out(double width, double height) {
  if (!rule_.has_fragments) {
    parts_[0] = {0, 0, rounded(width), rounded(height)};
    return;
  }
  Region* part = parts_.data();
  for (std::int64_t i = 0; i < fine; ++i)
    for (std::int64_t j = 0; j < coarse; ++j) {
      const Piece column = piece(width, i, fine), upper = piece(height, j, coarse);
      *part++ = {column.from, upper.from, column.size, upper.size};
      const Piece line = piece(height, i, fine), left = piece(width, j, coarse);
      *part++ = {left.from, line.from, left.size, line.size};
    }
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

// What a place's distance is: the quantile of its parts' votes.
double BoxSearch::vote(std::int64_t place) {
  const auto count = static_cast<std::int64_t>(parts_.size());
  for (std::int64_t i = 0; i < count; ++i)
    sorted_[static_cast<std::size_t>(i)] = votes_[static_cast<std::size_t>(i * most_ + place)];
  const auto rank = static_cast<std::int64_t>(std::ceil(options_.quantile * static_cast<double>(count)));
  const auto wanted = sorted_.begin() + std::clamp<std::int64_t>(rank, 1, count) - 1;
  std::nth_element(sorted_.begin(), wanted, sorted_.end());
  return *wanted;
}

void BoxSearch::search(const TensorView& tensor, const TrackedBox& from, double cost, Best& best) {
  const auto least = static_cast<double>(rule_.least_side);
  const std::int64_t x = rounded(from.x), y = rounded(from.y);
  const std::int64_t last_x = image_width_ - rounded(from.width), last_y = image_height_ - rounded(from.height);
  if (from.width < least || from.height < least || last_x < 0 || last_y < 0) return;
  const std::int64_t reach = rule_.is_everywhere ? std::max(image_width_, image_height_) : options_.radius;
  const std::int64_t x0 = std::max<std::int64_t>(0, x - reach), x1 = std::min(last_x, x + reach);
  const std::int64_t y0 = std::max<std::int64_t>(0, y - reach), y1 = std::min(last_y, y + reach);
  if (x0 > x1 || y0 > y1) return;
  lay_out(from.width, from.height);
  bool found = false;  // of equally good places an earlier scale's stays
  std::int64_t nearest = 0;
  for (std::int64_t top = y0; top <= y1; ++top) {
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
