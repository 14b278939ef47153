#include "window_finite.hpp"

#include <algorithm>
#include <areal/sat.hpp>
#include <cmath>
#include <limits>
#include "io/pixels.hpp"

namespace areal::command {
namespace {

constexpr std::int64_t kinds = 3;  // NaN, +infinity, -infinity

}  // namespace

bool is_finite(const SatTable& table) {
  const ConstView sums = table.sum();
  if (sums.shape.empty() || !is_float(sums.type)) return true;
  // Whatever is not finite has spread into the last entry of its channel.
  std::vector<double> row(static_cast<std::size_t>(sums.shape.width));
  for (std::int64_t n = 0; n < sums.shape.batch; ++n)
    for (std::int64_t c = 0; c < sums.shape.channels; ++c) {
      load_row(sums, sums.shape.height - 1, c, n, row);
      if (!std::isfinite(row.back())) return false;
    }
  return true;
}

FiniteWindows::FiniteWindows(const ConstView& image, bool ignore_nan)
    : pixels_(Shape{image.shape.width, image.shape.height, image.shape.channels}, image.type),
      marks_(Shape{image.shape.width, image.shape.height, kinds, image.shape.channels}, Type::u8) {
  const auto width = static_cast<std::size_t>(image.shape.width);
  std::vector<double> row(width);
  std::vector<bool> left_out(width);
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    std::fill(left_out.begin(), left_out.end(), false);
    for (std::int64_t c = 0; ignore_nan && c < image.shape.channels; ++c) {
      load_row(image, y, c, 0, row);
      for (std::size_t x = 0; x < width; ++x) left_out[x] = left_out[x] || std::isnan(row[x]);
    }
    for (std::int64_t c = 0; c < image.shape.channels; ++c) {
      load_row(image, y, c, 0, row);
      auto* marks = static_cast<std::uint8_t*>(marks_.view().row(y, 0, c));
      for (std::size_t x = 0; x < width; ++x, marks += kinds) {
        std::fill_n(marks, kinds, std::uint8_t{0});
        if (std::isfinite(row[x]) || (ignore_nan && std::isnan(row[x]))) continue;
        if (!left_out[x]) marks[std::isnan(row[x]) ? 0 : row[x] > 0 ? 1 : 2] = 1;
        row[x] = 0;
      }
      store_row(pixels_.view(), y, c, 0, row);
    }
  }
}

void FiniteWindows::look(const Window& window, const Execution& execution) {
  Window same = window;
  if (same.edge == Edge::constant) same.edge = Edge::zero;
  Shape shape = window_shape(marks_.shape().width, marks_.shape().height, same);
  shape.channels = kinds, shape.batch = marks_.shape().batch;
  counts_ = Array(shape, Type::f64);
  const SatTable table = sat(marks_.view(), {}, execution);
  window_sums(SatView(table.sum(), table.border()), same, counts_.view(), execution);
}

void FiniteWindows::put(std::int64_t y, std::int64_t channel, bool spread, std::vector<double>& row) const {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto* at = static_cast<const double*>(counts_.view().row(y, 0, channel));
  for (double& value : row) {
    const bool is_nan = at[0] > 0, above = at[1] > 0, below = at[2] > 0;
    if (is_nan || (above && below) || (spread && (above || below)))
      value = nan;
    else if (above || below)
      value = above ? infinity : -infinity;
    at += kinds;
  }
}

}  // namespace areal::command
