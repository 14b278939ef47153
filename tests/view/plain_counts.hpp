#pragma once
// Plain counts over pixels, with which the answers of the page are compared.

#include <areal/areal.hpp>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>
#include "view/answer.hpp"
#include "view/cells.hpp"

namespace areal::view::plain_counts {

/// Planar, so that a row of a picture is contiguous.
template <class T, class Value>
Array image_of(std::int64_t width, std::int64_t height, Value value) {
  Array image(Shape{width, height}, type_of<T>);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) image.as<T>()[y * width + x] = static_cast<T>(value(x, y));
  return image;
}

template <class T>
long double real(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return static_cast<long double>(to_float(value));
  else
    return static_cast<long double>(value);
}

struct Plain {
  std::int64_t pixels = 0, nans = 0, under = 0, over = 0;
  long double sum = 0, mean = 0, deviation = 0, least = 0, most = 0;
  std::vector<std::uint64_t> histogram;
};

/// The bins as numpy.histogram has them.
template <class T>
Plain plain(const Array& image, const Region& region, std::int64_t bins, std::pair<double, double> range) {
  Plain found;
  found.histogram.resize(static_cast<std::size_t>(bins));
  const Binning binning = Binning::uniform(bins, range.first, range.second);
  std::vector<long double> values;
  for (std::int64_t y = region.y; y < region.y + region.height; ++y)
    for (std::int64_t x = region.x; x < region.x + region.width; ++x)
      values.push_back(real(image.as<T>()[y * image.shape().width + x]));
  found.pixels = static_cast<std::int64_t>(values.size());
  if (!values.empty()) found.least = found.most = values[0];
  for (const long double value : values) {
    if (std::isnan(value)) ++found.nans;
    if (value < range.first) ++found.under;
    if (value > range.second) ++found.over;
    found.sum += value;
    found.least = std::min(found.least, value), found.most = std::max(found.most, value);
    if (const std::int64_t bin = binning.bin_of(static_cast<double>(value)); bin >= 0)
      ++found.histogram[static_cast<std::size_t>(bin)];
  }
  found.mean = found.sum / static_cast<long double>(values.size());
  for (const long double value : values) found.deviation += (value - found.mean) * (value - found.mean);
  found.deviation = std::sqrt(found.deviation / static_cast<long double>(values.size()));
  return found;
}

inline long double real(const Number& number) {
  return std::visit([](auto value) { return static_cast<long double>(value); }, number);
}

/// The names of what differs.
inline std::string difference(const Answer& answer, const Plain& wanted, bool is_float) {
  const view::Moments& m = answer.moments;
  std::string wrong;
  const auto near = [](long double got, long double want, long double scale) {
    return std::abs(got - want) <= 1e-12L * scale;
  };
  const auto scale = std::max(std::abs(wanted.least), std::abs(wanted.most)) + 1e-300L;
  if (m.pixels != wanted.pixels) wrong += " pixels";
  if (m.nans != wanted.nans) wrong += " nans";
  if (m.under != wanted.under || m.over != wanted.over) wrong += " under, over";
  if (answer.histogram != wanted.histogram) wrong += " histogram";
  if (wanted.pixels == 0 || wanted.nans > 0) {
    if (!std::isnan(m.mean) || !std::isnan(m.deviation) || !std::isnan(real(m.least))) wrong += " nan";
    return wrong;
  }
  const long double sum = std::strtold(m.sum.c_str(), nullptr);
  if (is_float ? !near(sum, wanted.sum, scale * static_cast<long double>(wanted.pixels)) : sum != wanted.sum)
    wrong += " sum";
  if (!near(m.mean, wanted.mean, scale)) wrong += " mean";
  if (!near(m.deviation, wanted.deviation, scale)) wrong += " deviation";
  if (real(m.least) != wanted.least || real(m.most) != wanted.most) wrong += " extremes";
  return wrong;
}

inline std::vector<Region> regions_of(std::int64_t width, std::int64_t height, std::mt19937& random, int count) {
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::vector<Region> regions{
      {0, 0, width, height}, {width - 1, height - 1, 1, 1}, {0, 0, 0, 0}, {width, height, 0, 0}};
  for (int i = 0; i < count; ++i) {
    const std::int64_t x = between(0, width - 1), y = between(0, height - 1);
    regions.push_back({x, y, between(1, width - x), between(1, height - y)});
  }
  // Edges at and beside those of cells.
  constexpr std::int64_t side = view::Cells::side;
  for (const std::int64_t left : {std::int64_t{0}, std::int64_t{1}, side - 1, side, side + 1})
    for (const std::int64_t right : {side, 2 * side - 1, 2 * side, 2 * side + 1, 4 * side})
      if (left < right && right <= width && right <= height)
        regions.push_back({left, left, right - left, right - left});
  return regions;
}

}  // namespace areal::view::plain_counts
