#pragma once
// What the matrix asks of engines that answer sums, squares, means and deviations of regions, and what each must be,
// pixel by pixel.

#include <areal/region.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>
#include "conformance/picture.hpp"
#include "piece_matrix/regions.hpp"

namespace areal::piece_matrix {

enum class Stat { sum, squares, mean, deviation };

struct SumsQuestion {
  Shape image;
  Cut cut{};
  Type type = Type::u8;
  Stat stat = Stat::sum;
  bool as_double = false;  ///< sums of integers, too
  conformance::Fill fill = conformance::Fill::wild;
  bool mask = false, ignore_nan = false, reverse = false, clip = false, progress = false;
  std::vector<std::string> named;
  std::uint64_t seed = 1;

  std::string words() const {
    std::string words = std::string(name_of(type)) + ", " + cut.name;
    for (const std::string& name : named) words += ", " + name;
    return words + ", seed " + std::to_string(seed);
  }
  /// In 64-bit integers, modulo 2^64: what no option rounds.
  bool in_integers() const {
    return !is_float(type) && !as_double && (stat == Stat::sum || (stat == Stat::squares && size_of(type) <= 2));
  }
  Outside outside() const { return clip ? Outside::clip : Outside::error; }
  bool needs_squares() const { return stat == Stat::squares || stat == Stat::deviation; }
};
/// As TableOption.
struct SumsOption {
  const char *group, *name;
  void (*set)(SumsQuestion&);
};
inline constexpr SumsOption sums_options[] = {
    {"values", "wild", [](SumsQuestion&) {}},
    {"values", "most", [](SumsQuestion& q) { q.fill = conformance::Fill::most; }},
    {"values", "small", [](SumsQuestion& q) { q.fill = conformance::Fill::exact; }},
    {"values", "NaN", [](SumsQuestion& q) { q.fill = conformance::Fill::holes; }},
    {"as", "double", [](SumsQuestion& q) { q.as_double = true; }},
    {"stat", "squares", [](SumsQuestion& q) { q.stat = Stat::squares; }},
    {"stat", "mean", [](SumsQuestion& q) { q.stat = Stat::mean; }},
    {"stat", "deviation", [](SumsQuestion& q) { q.stat = Stat::deviation; }},
    {"channels", "3 interleaved", [](SumsQuestion& q) { q.image.channels = 3; }},
    {"channels", "2 planar", [](SumsQuestion& q) { q.image.channels = 2, q.image.layout = Layout::planar; }},
    {"channels", "4 planar", [](SumsQuestion& q) { q.image.channels = 4, q.image.layout = Layout::planar; }},
    {"mask", "of 8u", [](SumsQuestion& q) { q.mask = true; }},
    {"ignore_nan", "of floats", [](SumsQuestion& q) { q.ignore_nan = true, q.fill = conformance::Fill::holes; }},
    {"reverse", "of both axes", [](SumsQuestion& q) { q.reverse = true; }},
    {"batch", "2 images", [](SumsQuestion& q) { q.image.batch = 2; }},
    {"outside", "clip", [](SumsQuestion& q) { q.clip = true; }},
    {"progress", "counted", [](SumsQuestion& q) { q.progress = true; }},
};
inline SumsQuestion sums_question(Type type, const Cut& cut, const std::vector<const SumsOption*>& options) {
  SumsQuestion q;
  q.cut = cut, q.type = type;
  q.image = {cut.image_width, cut.image_height};
  for (const SumsOption* const option : options) {
    option->set(q);
    q.named.push_back(std::string(option->group) + " " + option->name);
  }
  // A table of 64-bit pixels wraps; what is then no integer is another number.
  if (!is_float(type) && size_of(type) == 8 && !q.in_integers()) q.fill = conformance::Fill::exact;
  return q;
}

struct SumsInputs {
  Values image;
  std::optional<Values> mask;
  Buffer pixels, valid;
  std::vector<Region> regions;

  explicit SumsInputs(const SumsQuestion& q)
      : image(conformance::random_image(q.type, q.image, q.fill, q.seed)),
        pixels(image, conformance::placements[q.seed % std::size(conformance::placements)]),
        regions(regions_of(q.image, q.seed, q.clip)) {
    if (!q.mask) return;
    mask = conformance::random_mask({q.image.width, q.image.height, 1, q.image.batch}, q.seed);
    valid = Buffer(*mask, conformance::placements[0]);
  }
  ConstView image_view() const { return pixels.view(); }
  ConstView mask_view() const { return valid.view(); }
};

/// Regions x images x channels, row by row.
struct Sums {
  std::vector<std::uint64_t> integers;
  std::vector<double> reals;
  friend bool operator==(const Sums& a, const Sums& b) {
    return a.integers == b.integers && std::equal(a.reals.begin(), a.reals.end(), b.reals.begin(), b.reals.end(),
                                                  [](double x, double y) { return x == y || (x != x && y != y); });
  }
};

/// The pixels of one region and plane: exact sums of 8- to 32-bit integers and modulo 2^64 of all integers, of floats
/// in long double.
struct Pixels {
  std::int64_t count = 0;
  std::uint64_t sum_modulo = 0, squares_modulo = 0;
  long double sum = 0, squares = 0, variance = 0;
};
inline Pixels pixels_of(const SumsQuestion& q, const SumsInputs& in, const Region& region, std::int64_t channel,
                        std::int64_t n) {
  const auto counts = [&](std::int64_t x, std::int64_t y) {
    if (in.mask && in.mask->integer[in.mask->at(x, y, 0, n)] == 0) return false;
    for (std::int64_t c = 0; q.ignore_nan && c < q.image.channels; ++c)
      if (std::isnan(in.image.number(in.image.at(x, y, c, n)))) return false;
    return true;
  };
  Pixels p;
  std::vector<long double> values;
  for (std::int64_t y = region.y; y < region.y + region.height; ++y)
    for (std::int64_t x = region.x; x < region.x + region.width; ++x) {
      if (!counts(x, y)) continue;
      const std::size_t i = in.image.at(x, y, channel, n);
      if (!is_float(q.type)) {
        p.sum_modulo += in.image.integer[i];
        p.squares_modulo += in.image.integer[i] * in.image.integer[i];
      }
      values.push_back(in.image.number(i));
      p.sum += values.back(), p.squares += values.back() * values.back();
    }
  p.count = static_cast<std::int64_t>(values.size());
  for (const long double v : values) {  // in two passes, so that nothing cancels
    const long double from_mean = v - p.sum / static_cast<long double>(p.count);
    p.variance += from_mean * from_mean / static_cast<long double>(p.count);
  }
  return p;
}

/// Empty, or the first answer that is wrong.
///
/// Bounds. Float tables hold sums of up to N pixels of the image, each of whose additions errs by 2^-53 of the sum of
/// magnitudes so far at most; an answer subtracts four of them. With S1 and S2 the sums of all magnitudes and squares
/// and u = 2^-53, sums err by 8 (N + 1) u S1 and squares by 8 (N + 1) u S2; by 0 in sums of integers. A variance of n
/// pixels of mean m errs by e2 / n + 2 |m| e1 / n of these errors, and by 8 u (s2 / n + m^2) as it is computed.
/// `from_table`: a NaN is in the sums of all that lies right of it and below, reversed left and above.
inline std::string fault_in(const SumsQuestion& q, const SumsInputs& in, const Sums& got, bool from_table) {
  const std::int64_t planes = q.image.channels * q.image.batch;
  const std::size_t answers = in.regions.size() * static_cast<std::size_t>(planes);
  if ((q.in_integers() ? got.integers.size() : got.reals.size()) != answers) return "another number of answers";
  long double s1 = 0, s2 = 0;
  for (std::size_t i = 0; i < in.image.size(); ++i)
    if (const long double v = in.image.number(i); !std::isnan(v)) s1 += std::fabs(v), s2 += v * v;
  const long double u = 0x1p-53L, n = static_cast<long double>(q.image.width * q.image.height);
  const bool rounds = is_float(q.type) && q.fill != conformance::Fill::exact && q.fill != conformance::Fill::most;
  const bool squares_round = rounds || (!is_float(q.type) && size_of(q.type) > 2);
  const long double e1 = rounds ? 8 * (n + 1) * u * s1 : 0, e2 = squares_round ? 8 * (n + 1) * u * s2 : 0;
  for (std::size_t i = 0; i < answers; ++i) {
    const auto plane = static_cast<std::int64_t>(i) % planes;
    const Region region = clipped(in.regions[i / static_cast<std::size_t>(planes)], q.image);
    const Pixels p = pixels_of(q, in, region, plane % q.image.channels, plane / q.image.channels);
    const std::string where = "region " + std::to_string(region.x) + "," + std::to_string(region.y) + "," +
                              std::to_string(region.width) + "," + std::to_string(region.height) + ", plane " +
                              std::to_string(plane) + " is ";
    if (q.in_integers()) {
      const std::uint64_t right = q.stat == Stat::sum ? p.sum_modulo : p.squares_modulo;
      if (got.integers[i] != right) return where + std::to_string(got.integers[i]) + ", not " + std::to_string(right);
      continue;
    }
    const long double pixels = static_cast<long double>(p.count), mean = p.sum / pixels;
    long double right = 0, bound = 0, is = got.reals[i];
    switch (q.stat) {
      case Stat::sum:
        right = p.sum, bound = e1 + u * std::fabs(p.sum);
        break;
      case Stat::squares:
        right = p.squares, bound = e2 + u * p.squares;
        break;
      case Stat::mean:
        right = mean, bound = e1 / pixels + 2 * u * std::fabs(mean);
        break;
      case Stat::deviation:  // of which the square is looked at
        right = p.variance, is *= is;
        bound = (e2 + 2 * std::fabs(mean) * e1) / pixels + 8 * u * (p.squares / pixels + mean * mean);
        break;
    }
    const bool none = p.count == 0 && (q.stat == Stat::mean || q.stat == Stat::deviation);
    if (from_table && region.width > 0 && region.height > 0) {
      const Region before = q.reverse ? Region{region.x, region.y, q.image.width - region.x, q.image.height - region.y}
                                      : Region{0, 0, region.x + region.width, region.y + region.height};
      const Pixels all = pixels_of(q, in, before, plane % q.image.channels, plane / q.image.channels);
      if (std::isnan(all.sum)) right = all.sum;
    }
    if (none || std::isnan(right) ? !std::isnan(is) : !(std::fabs(is - right) <= bound))
      return where + std::to_string(is) + ", not " + std::to_string(right) + " within " + std::to_string(bound);
  }
  return {};
}

}  // namespace areal::piece_matrix
