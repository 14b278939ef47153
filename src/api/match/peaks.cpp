// Peaks of scores, and the hits of a template at several scales.
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <areal/match.hpp>
#include <cmath>
#include <cstring>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "cpu/filter/element.hpp"
#include "formulas/match_score.hpp"

namespace areal {
namespace {

double score_at(const ConstView& scores, std::int64_t x, std::int64_t y) {
  const char* const from = static_cast<const char*>(scores.row(y)) + x * scores.column_pitch();
  if (scores.type == Type::f64) {
    double value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, from, sizeof(value));
  return static_cast<double>(value);
}

bool is_least_best(MatchMethod method) { return method == MatchMethod::sqdiff || method == MatchMethod::sqdiff_normed; }

/// Is an equal score within the distance before (x, y), row by row?
bool has_equal_before(const ConstView& scores, std::int64_t x, std::int64_t y, std::int64_t distance) {
  const double score = score_at(scores, x, y);
  for (std::int64_t i = x - 1; i >= std::max<std::int64_t>(0, x - distance); --i)
    if (score_at(scores, i, y) == score) return true;
  for (std::int64_t j = y - 1; j >= std::max<std::int64_t>(0, y - distance); --j)
    for (std::int64_t i = std::max<std::int64_t>(0, x - distance); i <= std::min(scores.shape.width - 1, x + distance);
         ++i)
      if (score_at(scores, i, j) == score) return true;
  return false;
}

/// The weights of the pixels from `first` on, of sum 1.
struct Weights {
  std::int64_t first = 0;
  std::vector<double> of;
};

std::vector<Weights> weights_of(std::int64_t from, std::int64_t to) {
  const double pitch = static_cast<double>(from) / static_cast<double>(to), reach = std::max(pitch, 1.0);
  std::vector<Weights> all(static_cast<std::size_t>(to));
  for (std::int64_t x = 0; x < to; ++x) {
    Weights& one = all[static_cast<std::size_t>(x)];
    const double centre = (static_cast<double>(x) + 0.5) * pitch;
    one.first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - reach)));
    const std::int64_t end = std::min(from, static_cast<std::int64_t>(std::ceil(centre + reach)) + 1);
    double sum = 0;
    for (std::int64_t i = one.first; i < end; ++i) {
      const double weight = 1 - std::abs(static_cast<double>(i) + 0.5 - centre) / reach;
      if (weight <= 0 && one.of.empty()) {
        ++one.first;
        continue;
      }
      if (weight <= 0) break;
      one.of.push_back(weight), sum += weight;
    }
    for (double& weight : one.of) weight /= sum;
  }
  return all;
}

/// One channel of one image.
template <class T>
void resize_plane(const ConstView& image, const View& out, std::int64_t channel, std::int64_t n,
                  const std::vector<Weights>& across, const std::vector<Weights>& down, std::vector<double>& rows) {
  const auto row_of = [&](const auto& view, std::int64_t y) {
    const bool planar = view.shape.layout == Layout::planar;
    return static_cast<
               std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>, const char, char>*>(
               view.row(y, planar ? channel : 0, n)) +
           (planar ? 0 : channel * static_cast<std::int64_t>(sizeof(T)));
  };
  const auto width = static_cast<std::size_t>(out.shape.width);
  std::vector<double> line(static_cast<std::size_t>(image.shape.width));
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    const char* const from = row_of(image, y);
    for (std::int64_t x = 0; x < image.shape.width; ++x) {
      T value;
      std::memcpy(&value, from + x * image.column_pitch(), sizeof(T));
      line[static_cast<std::size_t>(x)] = static_cast<double>(value);
    }
    for (std::size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::size_t i = 0; i < across[x].of.size(); ++i)
        sum += across[x].of[i] * line[static_cast<std::size_t>(across[x].first) + i];
      rows[static_cast<std::size_t>(y) * width + x] = sum;
    }
  }
  for (std::int64_t y = 0; y < out.shape.height; ++y) {
    const Weights& weights = down[static_cast<std::size_t>(y)];
    char* const to = row_of(out, y);
    for (std::size_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::size_t i = 0; i < weights.of.size(); ++i)
        sum += weights.of[i] * rows[(static_cast<std::size_t>(weights.first) + i) * width + x];
      const T value = cpu::converted<T>(sum);
      std::memcpy(to + static_cast<std::int64_t>(x) * out.column_pitch(), &value, sizeof(T));
    }
  }
}

/// Hits that are kept, by the cell of their centre: no two in one cell are further apart than the distance.
class Kept {
 public:
  explicit Kept(std::int64_t distance) : distance_(2 * distance), cell_(2 * distance + 1) {}

  /// Keeps the hit unless one that is kept is near.
  bool keep(const Hit& hit) {
    const std::pair<std::int64_t, std::int64_t> centre{2 * hit.x + hit.width, 2 * hit.y + hit.height};
    const std::int64_t column = centre.first / cell_, row = centre.second / cell_;
    for (std::int64_t j = row - 1; j <= row + 1; ++j)
      for (std::int64_t i = column - 1; i <= column + 1; ++i) {
        const auto found = centres_.find(key(i, j));
        if (found == centres_.end()) continue;
        const auto& [x, y] = found->second;
        if (std::abs(x - centre.first) <= distance_ && std::abs(y - centre.second) <= distance_) return false;
      }
    centres_.emplace(key(column, row), centre);
    return true;
  }

 private:
  static std::int64_t key(std::int64_t column, std::int64_t row) { return row * (std::int64_t{1} << 32) + column; }
  std::int64_t distance_, cell_;  // in half pixels
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> centres_;
};

}  // namespace

std::vector<Peak> peaks(const ConstView& scores, const PeakOptions& options, const Execution& execution) {
  require(scores.type == Type::f32 || scores.type == Type::f64, "scores type ", name_of(scores.type),
          ": it may be 32f or 64f");
  require(scores.shape.channels == 1 && scores.shape.batch == 1, "scores: ", scores.shape.channels, " channels and ",
          scores.shape.batch, " images, they may have one of each");
  check_view("scores", scores, scores.shape, scores.type);
  require(scores.memory.is_host(), "scores are in device memory: their peaks are found in host memory");
  require(options.top >= 0, "top ", options.top, ": it may be 0 (all) or more");
  require(options.distance >= 0, "distance ", options.distance, ": it may be 0 or more");
  require(!options.threshold || !std::isnan(*options.threshold), "threshold nan: it may be any number");
  std::vector<Peak> found;
  if (scores.shape.empty()) return found;
  const std::int64_t distance = std::min(options.distance, std::max(scores.shape.width, scores.shape.height));
  Array best(scores.shape, scores.type);
  const FilterOptions window{.window = {2 * distance + 1, 2 * distance + 1}, .nan = Missing::omit};
  Execution on = execution;
  on.backend = Backend::cpu;
  if (options.minima)
    apply(filter::Minimum{}, scores, best.view(), window, on);
  else
    apply(filter::Maximum{}, scores, best.view(), window, on);
  const ConstView of_windows = std::as_const(best).view();
  for (std::int64_t y = 0; y < scores.shape.height; ++y)
    for (std::int64_t x = 0; x < scores.shape.width; ++x) {
      const double score = score_at(scores, x, y);
      if (!(score == score_at(of_windows, x, y))) continue;  // nor NaN
      if (options.threshold && (options.minima ? score > *options.threshold : score < *options.threshold)) continue;
      if (!has_equal_before(scores, x, y, distance)) found.push_back({x, y, score});
    }
  std::ranges::stable_sort(
      found, [&](const Peak& a, const Peak& b) { return options.minima ? a.score < b.score : a.score > b.score; });
  if (options.top > 0 && static_cast<std::int64_t>(found.size()) > options.top)
    found.resize(static_cast<std::size_t>(options.top));
  return found;
}

void resize(const ConstView& image, const View& out) {
  const Shape& from = image.shape;
  require(image.type == Type::u8 || image.type == Type::u16 || image.type == Type::f32 || image.type == Type::f64,
          "image type ", name_of(image.type), ": it may be 8u, 16u, 32f or 64f");
  check_view("image", image, from, image.type);
  require(from.width > 0 && from.height > 0, "image of ", from.width, "x", from.height, " has no pixels");
  require(out.shape.width > 0 && out.shape.height > 0, "out of ", out.shape.width, "x", out.shape.height,
          " has no pixels");
  check_view("out", out, {out.shape.width, out.shape.height, from.channels, from.batch, out.shape.layout}, image.type);
  require(image.memory.is_host() && out.memory.is_host(), "image and out: they may be in host memory");
  require(!may_overlap(image, out), "out: it overlaps the image");
  const auto across = weights_of(from.width, out.shape.width), down = weights_of(from.height, out.shape.height);
  std::vector<double> rows(static_cast<std::size_t>(from.height * out.shape.width));
  for (std::int64_t n = 0; n < from.batch; ++n)
    for (std::int64_t c = 0; c < from.channels; ++c) {
      if (image.type == Type::u8) resize_plane<std::uint8_t>(image, out, c, n, across, down, rows);
      if (image.type == Type::u16) resize_plane<std::uint16_t>(image, out, c, n, across, down, rows);
      if (image.type == Type::f32) resize_plane<float>(image, out, c, n, across, down, rows);
      if (image.type == Type::f64) resize_plane<double>(image, out, c, n, across, down, rows);
    }
}

std::vector<Hit> match_hits(const ConstView& image, const ConstView& templ, Span<const double> scales,
                            const HitOptions& options, const Execution& execution) {
  require(scales.memory().is_host(), "scales are in device memory: they may be in host memory");
  require(image.shape.batch == 1, "image: ", image.shape.batch, " images, hits are of one");
  require(templ.shape.width > 0 && templ.shape.height > 0, "template of ", templ.shape.width, "x", templ.shape.height,
          " has no pixels");
  require(options.top >= 0, "top ", options.top, ": it may be 0 (all) or more");
  const std::int64_t distance =
      options.distance.value_or(std::max<std::int64_t>(1, std::min(templ.shape.width, templ.shape.height) / 2));
  require(distance >= 0 && distance < std::int64_t{1} << 31, "distance ", distance, ": it may be 0 to 2^31 - 1");
  for (const double scale : scales) {
    require(scale > 0 && std::isfinite(scale), "scale ", scale, ": it may be any finite number above 0");
    require(scale == 1 || formulas::is_normed(options.method), "method ", name_of(options.method),
            ": scores at several scales compare with a normed method alone");
  }
  const bool minima = is_least_best(options.method);
  std::vector<Hit> all;
  for (const double scale : scales) {
    const double wanted_width = std::round(static_cast<double>(templ.shape.width) * scale),
                 wanted_height = std::round(static_cast<double>(templ.shape.height) * scale);
    if (!(wanted_width >= 1 && wanted_height >= 1 && wanted_width <= static_cast<double>(image.shape.width) &&
          wanted_height <= static_cast<double>(image.shape.height)))
      continue;
    Array resized;
    ConstView part = templ;
    Shape size = templ.shape;
    size.width = static_cast<std::int64_t>(wanted_width), size.height = static_cast<std::int64_t>(wanted_height);
    if (size != templ.shape) {
      resized = Array(size, templ.type);
      resize(templ, resized.view());
      part = std::as_const(resized).view();
    }
    Array scores({image.shape.width - size.width + 1, image.shape.height - size.height + 1}, Type::f64);
    match_template(image, part, scores.view(), {options.method, options.algorithm}, execution);
    const PeakOptions wanted{options.threshold, 0, distance, minima};
    for (const Peak& peak : peaks(std::as_const(scores).view(), wanted, execution))
      all.push_back({peak.x, peak.y, size.width, size.height, scale, peak.score});
  }
  std::ranges::stable_sort(all,
                           [&](const Hit& a, const Hit& b) { return minima ? a.score < b.score : a.score > b.score; });
  Kept kept(distance);
  std::vector<Hit> hits;
  for (const Hit& hit : all) {
    if (options.top > 0 && static_cast<std::int64_t>(hits.size()) == options.top) break;
    if (kept.keep(hit)) hits.push_back(hit);
  }
  return hits;
}

}  // namespace areal
