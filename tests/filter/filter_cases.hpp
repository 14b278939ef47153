#pragma once
// Filters compared with the oracle, element by element.

#include <gtest/gtest.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/filter.hpp>
#include <areal/info.hpp>
#include <optional>
#include <sstream>
#include <string>
#include "extent.hpp"
#include "filter_oracle.hpp"
#include "level_oracle.hpp"

namespace filter_cases {

using areal::Edge;
using areal::Filter;
using areal::FilterArguments;
using areal::FilterOptions;
using areal::Layout;
using areal::Shape;
using areal::Type;
using areal::test::extent;
using areal::test::Extent;
namespace filter = areal::filter;

/// Pixels that the oracle may read for one case; fewer under sanitizers.
inline std::int64_t most_reads() { return extent() == Extent::few ? 200'000 : 1'000'000; }

struct Case {
  Filter filter;
  Shape shape;
  Type in = Type::u8, out = Type::u8;
  FilterOptions options;
  double least = 0, most = 255;  ///< of the pixels
  Layout out_layout = Layout::interleaved;
  std::uint64_t seed = 1;
  double nan_share = 0;  ///< of the pixels, for floats
  double mask_share = 0.3;
  areal::Execution execution = {};

  std::string words() const {
    std::ostringstream text;
    const areal::Window& w = options.window;
    text << "filter " << filter.index() << " " << name_of(in) << " to " << name_of(out) << " " << shape.width << "x"
         << shape.height << "x" << shape.channels << "x" << shape.batch << " window " << w.width << "x" << w.height
         << " anchor " << w.anchor_x << "," << w.anchor_y << " edge " << oracle::name_of(w.edge)
         << (options.mask ? " mask" : "") << " seed " << seed;
    return text.str();
  }
};

struct Expected {
  double value;
  double tolerance;        ///< absolute
  bool undecided = false;  ///< too close to call
};

/// T of a threshold, in long double.
inline long double threshold_of(const filter::Threshold& t, const oracle::Seen& seen, Type in,
                                long double most_deviation, long double least_pixel) {
  using filter::Local;
  const long double n = static_cast<long double>(seen.n), m = seen.mean();
  const long double s = std::sqrt(seen.squared_differences() / n);
  const auto k = [&](double usual) { return static_cast<long double>(t.k.value_or(usual)); };
  switch (t.method) {
    case Local::mean:
      return m - t.offset;
    case Local::bradley:
      return m * (1 - k(0.15)) - t.offset;
    case Local::niblack:
      return m + k(-0.2) * s - t.offset;
    case Local::sauvola:
      return m * (1 + k(0.2) * (s / t.r.value_or(areal::size_of(in) == 1 ? 128 : 32768) - 1)) - t.offset;
    case Local::wolf:
      return m + k(0.5) * ((most_deviation > 0 ? s / most_deviation : 0) - 1) * (m - least_pixel) - t.offset;
    default: {
      long double squares = 0;
      for (const double p : seen.pixels) squares += static_cast<long double>(p) * p;
      return m + k(-0.2) * std::sqrt(std::max<long double>(0, (squares - m * m) / n)) - t.offset;
    }
  }
}

/// Of a plane, for wolf and equalize.
struct Plane {
  long double most_deviation = 0, least_pixel = 0;
  double most_pixel = 0;
};

inline Expected expected(const Case& c, const oracle::Seen& seen, const Plane& plane) {
  const bool whole = !areal::is_float(c.out), whole_in = !areal::is_float(c.in);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Of the last rounding.
  const auto near = [&](long double value, double relative) -> Expected {
    const double real = static_cast<double>(value);
    if (whole) {
      const double apart = std::fabs(real) * relative;
      return {oracle::saturated(real, c.out), 0,
              oracle::saturated(real - apart, c.out) != oracle::saturated(real + apart, c.out)};
    }
    const double rounding = c.out == Type::f32 ? 0x1p-24 + 0x1p-50 : 0;
    return {c.out == Type::f32 ? static_cast<double>(static_cast<float>(real)) : real,
            std::fabs(real) * (relative + (relative > 0 ? rounding : 0))};
  };
  if (seen.n < c.options.min_count && !std::holds_alternative<filter::Count>(c.filter)) {
    const double fill = c.options.fill.value_or(whole ? 0 : nan);
    return {whole ? oracle::saturated(fill, c.out) : fill, 0};
  }
  if (seen.has_nan && !std::holds_alternative<filter::Count>(c.filter)) {
    const auto* threshold = std::get_if<filter::Threshold>(&c.filter);  // no pixel is above NaN
    if (threshold != nullptr && whole) return {threshold->inverted ? oracle::saturated(threshold->high, c.out) : 0, 0};
    return {whole ? 0 : nan, 0};
  }
  if (std::holds_alternative<filter::Count>(c.filter)) return near(static_cast<long double>(seen.n), 0);
  const long double n = static_cast<long double>(seen.n);
  // Of floats: the specification's bound, 2^-53 of the sum of magnitudes for each of so many additions.
  const double additions = 18 + std::ceil(static_cast<double>(c.options.window.width) / 8) +
                           std::ceil(static_cast<double>(c.options.window.height) / 8);
  const double error = whole_in ? 0 : additions * 0x1p-53 * static_cast<double>(seen.magnitude);
  const auto with_error = [&](Expected e, double more) {
    e.tolerance += more;
    return e;
  };
  if (std::holds_alternative<filter::Sum>(c.filter)) {
    if (whole_in && whole) return {oracle::saturated(seen.sum, c.out), 0};
    return with_error(near(whole_in ? static_cast<long double>(seen.sum) : seen.real_sum, whole_in ? 0 : 0x1p-52),
                      error);
  }
  if (std::holds_alternative<filter::Mean>(c.filter)) {
    if (seen.n == 0) return {whole ? 0 : nan, 0};
    if (whole_in && whole) return {oracle::saturated(oracle::divided(seen.sum, seen.n), c.out), 0};
    return with_error(near((whole_in ? static_cast<long double>(seen.sum) : seen.real_sum) / n, 0x1p-52),
                      error / static_cast<double>(n));
  }
  if (std::holds_alternative<filter::Minimum>(c.filter)) return {seen.least, 0};
  if (std::holds_alternative<filter::Maximum>(c.filter)) return {seen.most, 0};
  if (const auto* rank = std::get_if<filter::Percentile>(&c.filter)) {
    if (seen.n == 0) {
      const double fill = c.options.fill.value_or(whole ? 0 : nan);
      return {whole ? oracle::saturated(fill, c.out) : fill, 0};
    }
    std::vector<double> sorted = seen.pixels;
    std::sort(sorted.begin(), sorted.end());
    const auto at = static_cast<std::int64_t>(std::floor(rank->percent * static_cast<double>(seen.n) / 100));
    return {sorted[static_cast<std::size_t>(std::min(seen.n - 1, at))], 0};
  }
  if (areal::is_float(c.in) == false && oracle::is_of_levels(c.filter)) {
    if (seen.n == 0)
      return {whole ? oracle::saturated(c.options.fill.value_or(0), c.out) : c.options.fill.value_or(nan), 0};
    if (std::holds_alternative<filter::Entropy>(c.filter))
      return with_error(near(oracle::entropy(seen), 0), c.out == Type::f32 ? 1e-6 : 3e-13);
    if (const auto* const bilateral = std::get_if<filter::Bilateral>(&c.filter)) {
      const std::optional<long double> mean = oracle::bilateral(seen, bilateral->sigma_range);
      const double fill = c.options.fill.value_or(whole ? 0 : nan);
      if (!mean) return {whole ? oracle::saturated(fill, c.out) : fill, 0};
      const auto real = static_cast<double>(*mean);
      if (!whole) return with_error(near(*mean, 0), c.out == Type::f32 ? 2e-5 : 1e-8);
      return {oracle::saturated(real, c.out), 0,
              oracle::saturated(real - 1e-8, c.out) != oracle::saturated(real + 1e-8, c.out)};
    }
    const double bins = c.in == Type::u8 ? 256 : std::max(3.0, plane.most_pixel) + 1;
    return {oracle::of_levels(c.filter, seen, bins), 0};
  }
  const auto deviation = [&](int ddof, bool root) -> Expected {
    if (seen.n <= ddof) return {whole ? 0 : nan, 0};
    long double value = 0;
    if (!whole_in)
      value = seen.squared_differences() / (n - ddof);
    else
      value = static_cast<long double>(static_cast<oracle::Int128>(seen.n) * seen.squares - seen.sum * seen.sum) /
              (n * (n - ddof));
    if (root) value = std::sqrt(value);
    Expected e = near(value, 0x1.8p-52);
    if (!whole_in) {
      long double squares = 0;
      for (const double p : seen.pixels) squares += static_cast<long double>(p) * p;
      const double mean_square = static_cast<double>(squares / (n - ddof)), share = 3 * additions * 0x1p-53;
      e.tolerance += root ? std::sqrt(share * mean_square) : share * mean_square;
    }
    return e;
  };
  if (const auto* v = std::get_if<filter::Variance>(&c.filter)) return deviation(v->ddof, false);
  if (const auto* s = std::get_if<filter::StandardDeviation>(&c.filter)) return deviation(s->ddof, true);
  const auto& t = std::get<filter::Threshold>(c.filter);
  if (seen.n == 0) return {whole ? oracle::saturated(t.inverted ? t.high : 0, c.out) : nan, 0};
  const long double limit = threshold_of(t, seen, c.in, plane.most_deviation, plane.least_pixel);
  const double magnitude = static_cast<double>(seen.magnitude) / static_cast<double>(n) + std::fabs(t.offset) + 1e-9;
  const double fuzz = whole_in ? 1e-12 * magnitude : 1e-6 * magnitude;
  if (!whole) return with_error(near(limit, 1e-14), fuzz);
  Expected e{oracle::saturated((static_cast<long double>(seen.centre) > limit) != t.inverted ? t.high : 0, c.out), 0};
  e.undecided = std::fabs(static_cast<double>(seen.centre - limit)) <= fuzz;
  return e;
}

/// The memory of a case.
struct Memory {
  oracle::Padded image, out, mask;
  FilterArguments arguments;

  explicit Memory(const Case& c)
      : image(c.in, c.shape),
        out(c.out, out_shape(c), 7, 5),
        mask(Type::u8, {c.shape.width, c.shape.height, 1, c.shape.batch}, 3, 1) {
    std::mt19937_64 random(c.seed);
    oracle::fill_randomly(image, c.least, c.most, random);
    std::bernoulli_distribution is_nan(c.nan_share), is_out(c.mask_share);
    if (c.nan_share > 0) {
      const Shape& s = c.shape;
      for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t y = 0; y < s.height; ++y)
          for (std::int64_t x = 0; x < s.width; ++x)
            if (is_nan(random)) {
              const double none = std::numeric_limits<double>::quiet_NaN();
              if (c.in == Type::f64)
                image.set(none, x, y, 0, n);
              else if (c.in == Type::f32)
                image.set(static_cast<float>(none), x, y, 0, n);
              else
                image.set(areal::to_half(static_cast<float>(none)), x, y, 0, n);
            }
    }
    for (std::int64_t n = 0; n < c.shape.batch; ++n)
      for (std::int64_t y = 0; y < c.shape.height; ++y)
        for (std::int64_t x = 0; x < c.shape.width; ++x)
          mask.set(static_cast<std::uint8_t>(is_out(random) ? 0 : 1 + x % 255), x, y, 0, n);
    arguments = {image.view(), out.view()};
    if (c.options.mask) arguments.mask = mask.view();
  }
  static Shape out_shape(const Case& c) {
    Shape shape = areal::window_shape(c.shape.width, c.shape.height, c.options.window);
    shape.channels = c.shape.channels, shape.batch = c.shape.batch, shape.layout = c.out_layout;
    return shape;
  }
};

inline void run(const Case& c, const Memory& memory) {
  const areal::FilterPlan plan(c.shape, c.in, c.out, c.filter, c.options, c.execution);
  areal::Workspace workspace(plan);
  plan.execute(memory.arguments, workspace);
}

/// What a plan for the case says if it refuses it, else nothing.
inline std::string refusal(const Case& c) {
  try {
    const areal::FilterPlan plan(c.shape, c.in, c.out, c.filter, c.options, c.execution);
  } catch (const areal::Error& error) {
    return error.what();
  }
  return "";
}

inline bool has_simt() {
  return std::ranges::any_of(areal::backends(), [](const areal::BackendInfo& row) {
    return row.backend == areal::Backend::simt && row.available;
  });
}

/// Counts the outputs that are wrong or too close to call, and describes the first wrong one.
class Tally {
 public:
  explicit Tally(const oracle::Padded& out) : shape_(out.view().shape) {
    if (!out.guards_stand()) text_ << "bytes beside the output changed; ";
  }
  /// `about` writes what else is known of the window.
  template <class About>
  void compare(const Expected& want, double got, std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n,
               const About& about) {
    if (want.undecided) {
      ++undecided_;
      return;
    }
    const bool same = (std::isnan(want.value) && std::isnan(got)) || got == want.value ||
                      std::fabs(got - want.value) <= want.tolerance;
    if (same || wrong_++ > 0) return;
    text_ << "at " << x << "," << y << " channel " << channel << " image " << n << ": " << std::hexfloat << got
          << std::defaultfloat << " (" << got << "), expected " << want.value << " of ";
    about(text_);
    text_ << "; ";
  }
  /// Empty if all is right.
  std::string words() {
    const std::int64_t all = shape_.width * shape_.height * shape_.channels * shape_.batch;
    if (undecided_ > all / 5 + 2) text_ << undecided_ << " of " << all << " are too close to call; ";
    if (wrong_ > 0) text_ << wrong_ << " of " << all << " differ";
    return text_.str();
  }

 private:
  Shape shape_;
  std::ostringstream text_;
  std::int64_t wrong_ = 0, undecided_ = 0;
};

/// Checks a case with a mask that leaves out some pixels, where windows of fewer than `least` give 7, and with one that
/// leaves out most.
template <class OneCase, class Check>
void check_with_masks(OneCase c, std::int64_t least, const Check& check) {
  c.options.mask = true;
  c.options.min_count = least;
  c.options.fill = 7;
  check(c);
  c.options.min_count = 0;
  c.options.fill = {};
  c.mask_share = 0.95;
  check(c);
}

/// The outputs that differ, and the first of them; empty if none does.
inline std::string differences(const Case& c, const Memory& memory) {
  Tally tally(memory.out);
  const Shape& s = memory.out.view().shape;
  const oracle::Question question{
      memory.arguments.image, memory.arguments.mask, c.options.window, c.options.nan == areal::Missing::omit,
      areal::is_float(c.in) || std::holds_alternative<filter::Threshold>(c.filter) ||
          std::holds_alternative<filter::Percentile>(c.filter) || oracle::is_of_levels(c.filter)};
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t channel = 0; channel < s.channels; ++channel) {
      std::vector<oracle::Seen> seen;
      for (std::int64_t y = 0; y < s.height; ++y)
        for (std::int64_t x = 0; x < s.width; ++x) seen.push_back(look(question, x, y, channel, n));
      Plane plane;
      const auto* threshold = std::get_if<filter::Threshold>(&c.filter);
      if (threshold != nullptr && threshold->method == filter::Local::wolf) {
        plane.least_pixel = std::numeric_limits<long double>::infinity();
        for (const oracle::Seen& one : seen)
          if (one.n >= std::max<std::int64_t>(1, c.options.min_count))
            plane.most_deviation =
                std::max(plane.most_deviation, std::sqrt(one.squared_differences() / static_cast<long double>(one.n)));
        for (std::int64_t y = 0; y < c.shape.height; ++y)
          for (std::int64_t x = 0; x < c.shape.width; ++x)
            if (question.mask.data == nullptr || oracle::element(question.mask, x, y, 0, n) != 0)
              plane.least_pixel =
                  std::min<long double>(plane.least_pixel, oracle::element(question.image, x, y, channel, n));
      }
      if (std::holds_alternative<filter::Equalize>(c.filter))
        for (std::int64_t y = 0; y < c.shape.height; ++y)
          for (std::int64_t x = 0; x < c.shape.width; ++x)
            plane.most_pixel = std::max(plane.most_pixel, oracle::element(question.image, x, y, channel, n));
      std::size_t i = 0;
      for (std::int64_t y = 0; y < s.height; ++y)
        for (std::int64_t x = 0; x < s.width; ++x, ++i) {
          const double got = oracle::element(memory.out.view(), x, y, channel, n);
          tally.compare(expected(c, seen[i], plane), got, x, y, channel, n,
                        [&](std::ostream& text) { text << seen[i].n << " pixels"; });
        }
    }
  return tally.words();
}

/// By `auto`, and an extreme by `blocks`, too. Of a few cases only, all run, and one in seven is compared.
inline void expect_right(const Case& c) {
  SCOPED_TRACE(c.words());
  const Memory memory(c);
  run(c, memory);
  if (extent() == Extent::few && c.seed % 7 != 0)
    EXPECT_TRUE(memory.out.guards_stand());
  else
    EXPECT_EQ(differences(c, memory), "");
  const bool is_extreme =
      std::holds_alternative<filter::Minimum>(c.filter) || std::holds_alternative<filter::Maximum>(c.filter);
  if (!is_extreme || c.options.algorithm != "auto") return;
  Case by_blocks = c;
  by_blocks.options.algorithm = "blocks";
  expect_right(by_blocks);
}

}  // namespace filter_cases
