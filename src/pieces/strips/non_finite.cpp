#include "pieces/strips/non_finite.hpp"

#include <algorithm>
#include <limits>
#include "pieces/core/non_finite_pixels.hpp"

namespace areal::pieces {
namespace {

constexpr std::int64_t kinds = non_finite_kinds;

}  // namespace

NonFinite::NonFinite(const Shape& image, Type type, std::vector<Region> regions)
    : image_(image), type_(type), regions_(std::move(regions)) {}

void NonFinite::restart() {
  planes_.clear();
  counts_.clear();
}

void NonFinite::begin(std::int64_t rows_before) {
  const Shape marks{image_.width, image_.height, kinds};
  const std::int64_t at_once = std::clamp<std::int64_t>(rows_before, 1, 64);
  const std::vector<std::uint8_t> none(static_cast<std::size_t>(image_.width * kinds * at_once));
  for (std::int64_t c = 0; c < image_.channels; ++c) {
    planes_.emplace_back(marks, Type::u8, regions_, StripSumsOptions{},
                         StripOptions{.execution = {.backend = Backend::cpu}});
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

NonFinite::Counts NonFinite::counts(std::size_t answer) const noexcept {
  if (counts_.empty()) return {};
  const auto channels = static_cast<std::size_t>(image_.channels);
  const std::uint64_t* const of = counts_[answer % channels].data() + answer / channels * kinds;
  return {of[0], of[1], of[2]};
}

double NonFinite::sum(std::size_t answer, double finite) const noexcept {
  const Counts has = counts(answer);
  if (has.nan > 0 || (has.above > 0 && has.below > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (has.above > 0) return std::numeric_limits<double>::infinity();
  return has.below > 0 ? -std::numeric_limits<double>::infinity() : finite;
}

double NonFinite::squares(std::size_t answer, double finite) const noexcept {
  const Counts has = counts(answer);
  if (has.nan > 0) return std::numeric_limits<double>::quiet_NaN();
  return has.above + has.below > 0 ? std::numeric_limits<double>::infinity() : finite;
}

bool NonFinite::in(std::size_t answer) const noexcept {
  const Counts has = counts(answer);
  return has.nan + has.above + has.below > 0;
}

}  // namespace areal::pieces
