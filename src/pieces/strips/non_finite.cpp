#include "pieces/strips/non_finite.hpp"

#include <algorithm>
#include <limits>
#include "pieces/core/non_finite_pixels.hpp"

namespace areal::pieces {
namespace {

constexpr std::int64_t kinds = non_finite_kinds;

}  // namespace

NonFinite::NonFinite(const Shape& image, std::vector<Region> regions) : image_(image), regions_(std::move(regions)) {}

void NonFinite::restart() {
  planes_.clear();
  counts_.clear();
}

void NonFinite::begin(std::int64_t rows_before) {
  const Shape marks{image_.width, image_.height, kinds};
  const std::int64_t at_once = std::clamp<std::int64_t>(rows_before, 1, 64);
  const std::vector<std::uint8_t> none(static_cast<std::size_t>(image_.width * kinds * at_once));
  for (std::int64_t c = 0; c < image_.channels; ++c) {
    planes_.emplace_back(marks, Type::u8, regions_, StripSumsOptions{}, PieceOptions{.workers = {Worker()}});
    planes_.back().begin();
    for (std::int64_t y = 0; y < rows_before; y += at_once) {
      const Shape rows{image_.width, std::min(at_once, rows_before - y), kinds};
      planes_.back().push(0, y, ConstView(none.data(), Type::u8, rows));
    }
  }
}

void NonFinite::take(std::int64_t y, const View& rows) {
  const std::int64_t width = rows.shape.width, height = rows.shape.height, channels = image_.channels;
  if (rows.shape.empty()) return;
  const bool any = has_non_finite(rows);
  if (any && planes_.empty()) begin(y);
  if (planes_.empty()) return;
  marks_.resize(static_cast<std::size_t>(width * height * kinds));
  for (std::int64_t c = 0; c < channels; ++c) {
    std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
    for (std::int64_t i = 0; any && i < height; ++i) take_out_non_finite(rows, i, c, marks_.data() + i * width * kinds);
    planes_[static_cast<std::size_t>(c)].push(0, y, ConstView(marks_.data(), Type::u8, Shape{width, height, kinds}));
  }
}

void NonFinite::finish() {
  for (StripSums& plane : planes_) {
    plane.finish();
    counts_.push_back(plane.sums<std::uint64_t>());
  }
  planes_.clear();
}

const std::uint64_t* NonFinite::counts(std::size_t answer) const noexcept {
  static constexpr std::uint64_t none[kinds] = {};
  if (counts_.empty()) return none;
  const auto channels = static_cast<std::size_t>(image_.channels);
  return counts_[answer % channels].data() + answer / channels * kinds;
}

double NonFinite::sum(std::size_t answer, double finite) const noexcept {
  using Limits = std::numeric_limits<double>;
  switch (non_finite_sum(counts(answer))) {
    case NonFiniteSum::nan:
      return Limits::quiet_NaN();
    case NonFiniteSum::above:
      return Limits::infinity();
    case NonFiniteSum::below:
      return -Limits::infinity();
    default:
      return finite;
  }
}

double NonFinite::squares(std::size_t answer, double finite) const noexcept {
  if (counts(answer)[0] > 0) return std::numeric_limits<double>::quiet_NaN();
  return in(answer) ? std::numeric_limits<double>::infinity() : finite;
}

bool NonFinite::in(std::size_t answer) const noexcept { return non_finite_sum(counts(answer)) != NonFiniteSum::none; }

}  // namespace areal::pieces
