// Template matching, compared with direct loops: in 128-bit integers for integers, in long double for floats.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include <areal/match.hpp>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include "refusal.hpp"

namespace {

using areal::ConstView;
using areal::Layout;
using areal::MatchMethod;
using areal::MatchOptions;
using areal::MatchPlan;
using areal::refusal;
using areal::Shape;
using areal::Type;
using areal::View;
__extension__ using Wide = __int128;

constexpr MatchMethod methods[] = {MatchMethod::sqdiff,       MatchMethod::sqdiff_normed, MatchMethod::ccorr,
                                   MatchMethod::ccorr_normed, MatchMethod::ccoeff,        MatchMethod::ccoeff_normed};

// Pixels in memory of any alignment and pitch, with guard bytes around each row.
struct Pixels {
  std::vector<char> bytes;
  View view;
  std::vector<char> is_pixel;

  Pixels(const Shape& shape, Type type, std::size_t offset, std::int64_t gap) {
    const auto size = static_cast<std::int64_t>(areal::size_of(type));
    const bool planar = shape.layout == Layout::planar;
    const std::int64_t row = shape.width * (planar ? 1 : shape.channels) * size, pitch = row + gap;
    const std::int64_t rows = shape.height * (planar ? shape.channels : 1) * shape.batch;
    bytes.assign(offset + static_cast<std::size_t>(rows * pitch) + 16, '\x5a');
    is_pixel.assign(bytes.size(), 0);
    for (std::int64_t y = 0; y < rows; ++y)
      std::fill_n(is_pixel.begin() + static_cast<std::ptrdiff_t>(offset) + y * pitch, row, 1);
    view = View(bytes.data() + offset, type, shape, pitch);
  }
  bool guards_hold() const {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (is_pixel[i] == 0 && bytes[i] != '\x5a') return false;
    return true;
  }
};

char* address(const View& view, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
  const auto size = static_cast<std::int64_t>(areal::size_of(view.type));
  const bool planar = view.shape.layout == Layout::planar;
  char* const image = static_cast<char*>(view.data) + n * view.batch_pitch + y * view.row_pitch;
  return image + (planar ? c * view.plane_pitch + x * size : (x * view.shape.channels + c) * size);
}

double value_at(const View& view, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
  const char* const from = address(view, n, c, y, x);
  const auto read = [&](auto zero) {
    std::memcpy(&zero, from, sizeof(zero));
    return static_cast<double>(zero);
  };
  if (view.type == Type::u8) return read(std::uint8_t{});
  if (view.type == Type::u16) return read(std::uint16_t{});
  return view.type == Type::f32 ? read(float{}) : read(double{});
}

void set(const View& view, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x, double value) {
  char* const to = address(view, n, c, y, x);
  const auto write = [&](auto zero) {
    zero = static_cast<decltype(zero)>(value);
    std::memcpy(to, &zero, sizeof(zero));
  };
  if (view.type == Type::u8) return write(std::uint8_t{});
  if (view.type == Type::u16) return write(std::uint16_t{});
  return view.type == Type::f32 ? write(float{}) : write(double{});
}

template <class F>
void for_each_pixel(const Shape& shape, const F& f) {
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < shape.channels; ++c)
      for (std::int64_t y = 0; y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.width; ++x) f(n, c, y, x);
}

void fill(const View& view, std::uint64_t seed, double least, double most) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> real(least, most);
  std::uniform_int_distribution<std::int64_t> whole(static_cast<std::int64_t>(least), static_cast<std::int64_t>(most));
  for_each_pixel(view.shape, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    set(view, n, c, y, x, areal::is_float(view.type) ? real(random) : static_cast<double>(whole(random)));
  });
}

// The values of a view, so that the oracle's loops are short.
template <class Number>
std::vector<Number> values_of(const View& view) {
  std::vector<Number> values;
  for_each_pixel(view.shape, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    values.push_back(static_cast<Number>(value_at(view, n, c, y, x)));
  });
  return values;
}

// What a score should be, and the denominator of its normed method.
struct Expected {
  long double score = 0, root = 0;
};

// The numerator of a method's score and what its denominator holds, in sums over the channels.
template <class Sum>
struct Terms {
  Sum top = 0, of_window = 0, of_template = 0;
};

template <class Number, class Sum>
struct Oracle {
  Shape image, templ;
  std::vector<Number> pixels, values;

  Oracle(const View& of, const View& t)
      : image(of.shape), templ(t.shape), pixels(values_of<Number>(of)), values(values_of<Number>(t)) {}

  // Of every method at one position.
  std::array<Expected, std::size(methods)> at(std::int64_t n, std::int64_t y, std::int64_t x) const {
    // Differences, products, and products of deviations from the means: those of integers times `count`, exactly.
    Terms<Sum> differences, products, deviations;
    const std::int64_t count = templ.width * templ.height;
    for (std::int64_t c = 0; c < image.channels; ++c) {
      const auto for_each_pair = [&](const auto& f) {
        const Number* value = values.data() + c * count;
        for (std::int64_t v = 0; v < templ.height; ++v) {
          const Number* const row = pixels.data() + ((n * image.channels + c) * image.height + y + v) * image.width + x;
          for (std::int64_t u = 0; u < templ.width; ++u) f(row[u], *value++);
        }
      };
      // Integers of 16 bits: products of 2^31 pixels fit.
      Number s1 = 0, t1 = 0, product = 0, s2 = 0, t2 = 0, difference = 0;
      for_each_pair([&](Number p, Number t) {
        s1 += p, t1 += t, product += p * t, s2 += p * p, t2 += t * t, difference += (p - t) * (p - t);
      });
      differences.top += difference;
      products.top += product, products.of_window += s2, products.of_template += t2;
      if constexpr (std::is_integral_v<Number>) {
        deviations.top += Sum{count} * product - Sum{s1} * t1;
        deviations.of_window += Sum{count} * s2 - Sum{s1} * s1,
            deviations.of_template += Sum{count} * t2 - Sum{t1} * t1;
      } else {
        const Number m = s1 / static_cast<Number>(count), mean = t1 / static_cast<Number>(count);
        for_each_pair([&](Number p, Number t) {
          deviations.top += (p - m) * (t - mean);
          deviations.of_window += (p - m) * (p - m), deviations.of_template += (t - mean) * (t - mean);
        });
      }
    }
    differences.of_window = products.of_window, differences.of_template = products.of_template;
    std::array<Expected, std::size(methods)> scores;
    for (const MatchMethod method : methods) {
      const bool of_differences = method == MatchMethod::sqdiff || method == MatchMethod::sqdiff_normed;
      const bool of_products = method == MatchMethod::ccorr || method == MatchMethod::ccorr_normed;
      const Terms<Sum>& sums = of_differences ? differences : of_products ? products : deviations;
      const bool are_times_count = std::is_integral_v<Number> && !of_differences && !of_products;
      const long double scale = are_times_count ? 1 / static_cast<long double>(count) : 1;
      scores[static_cast<std::size_t>(method)] = expected(
          method, {static_cast<long double>(sums.top) * scale, static_cast<long double>(sums.of_window) * scale,
                   static_cast<long double>(sums.of_template) * scale});
    }
    return scores;
  }

  static Expected expected(MatchMethod method, const Terms<long double>& terms) {
    const long double root = std::sqrt(terms.of_window) * std::sqrt(terms.of_template);
    if (static_cast<int>(method) % 2 == 0) return {terms.top, root};
    if (root == 0) return {method == MatchMethod::sqdiff_normed && terms.top != 0 ? 1.0L : 0.0L, 1};
    return {std::clamp(terms.top / root, -1.0L, 1.0L), 1};
  }
};

struct Case {
  Shape image, templ;
  Type in = Type::u8, out = Type::f64;
  std::string algorithm = "auto";
  double least = 0, most = 255;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string words() const {
    std::ostringstream text;
    text << name_of(in) << " to " << name_of(out) << " " << image.width << "x" << image.height << "x" << image.channels
         << "x" << image.batch << " template " << templ.width << "x" << templ.height << " " << algorithm << " values "
         << least << " to " << most << " seed " << seed;
    return text.str();
  }
};

// The expected scores of every method.
class Scores {
 public:
  Scores(const Case& one, const View& image, const View& templ) : one_(one) {
    const auto compute = [&](const auto& oracle) {
      for (std::int64_t n = 0; n < image.shape.batch; ++n)
        for (std::int64_t y = 0; y <= image.shape.height - templ.shape.height; ++y)
          for (std::int64_t x = 0; x <= image.shape.width - templ.shape.width; ++x)
            expected_.push_back(oracle.at(n, y, x));
    };
    if (areal::is_float(one.in))
      compute(Oracle<long double, long double>(image, templ));
    else
      compute(Oracle<std::int64_t, Wide>(image, templ));
  }
  // How many scores are not as expected.
  std::int64_t wrong(const View& out, MatchMethod method) const {
    const bool real = areal::is_float(one_.in);
    const long double relative = (one_.out == Type::f32 ? 0x1p-24L : 0) + (real ? 0x1p-48L : 0x1p-51L);
    const long double of_root = real ? 0x1p-29L : 0;
    std::int64_t wrong = 0;
    auto at = expected_.begin();
    for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
      const Expected& expected = (*at++)[static_cast<std::size_t>(method)];
      const long double tolerance = relative * std::abs(expected.score) + of_root * expected.root + 1e-300L;
      if (!(std::abs(value_at(out, n, c, y, x) - expected.score) <= tolerance)) ++wrong;
    });
    return wrong;
  }

 private:
  Case one_;
  std::vector<std::array<Expected, std::size(methods)>> expected_;
};

void check(const Case& one, std::int64_t gap = 0, std::size_t offset = 0) {
  SCOPED_TRACE(one.words());
  Pixels image(one.image, one.in, offset, gap), templ(one.templ, one.in, offset, gap);
  fill(image.view, one.seed, one.least, one.most);
  fill(templ.view, one.seed + 1, one.least, one.most);
  const Scores scores(one, image.view, templ.view);
  for (const MatchMethod method : methods) {
    areal::Execution execution;
    execution.threads = one.threads;
    const MatchPlan plan(one.image, one.templ, one.in, one.out, {method, one.algorithm}, execution);
    EXPECT_TRUE(one.algorithm == "auto" || plan.algorithm() == one.algorithm);
    areal::Workspace workspace(plan);
    Pixels out(plan.out_shape(), one.out, offset, gap);
    plan.execute({image.view, templ.view, out.view}, workspace);
    EXPECT_TRUE(out.guards_hold()) << name_of(method);
    EXPECT_EQ(scores.wrong(out.view, method), 0) << name_of(method);
  }
}

TEST(match, the_oracle_sees_one_changed_pixel) {
  for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64}) {
    const Case one{{20, 15, 2, 2}, {5, 4, 2}, type};
    Pixels image(one.image, type, 0, 0), templ(one.templ, type, 0, 0);
    fill(image.view, 1, 0, 255), fill(templ.view, 2, 0, 255);
    const Scores scores(one, image.view, templ.view);
    const double before = value_at(image.view, 1, 1, 7, 9);
    set(image.view, 1, 1, 7, 9, before > 100 ? before - 1 : before + 1);
    const Scores of_changed(one, image.view, templ.view);
    set(image.view, 1, 1, 7, 9, before);
    for (const MatchMethod method : methods) {
      Pixels out({16, 12, 1, 2}, Type::f64, 0, 0);
      areal::match_template(image.view, templ.view, out.view, {method});
      EXPECT_EQ(scores.wrong(out.view, method), 0) << name_of(type) << name_of(method);
      // All windows that hold it, but for those whose correlation happens not to change.
      EXPECT_GT(of_changed.wrong(out.view, method), 10) << name_of(type) << name_of(method);
    }
  }
}

TEST(match, every_type_layout_and_algorithm) {
  std::uint64_t seed = 100;
  for (const Type in : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const char* const algorithm : {"fft", "direct"})
      for (const Layout layout : {Layout::interleaved, Layout::planar}) {
        const double most = in == Type::u16 ? 65535 : 255, least = areal::is_float(in) ? -300 : 0;
        const auto one = [&](std::int64_t width, std::int64_t height, std::int64_t channels, std::int64_t batch,
                             std::int64_t w, std::int64_t h, Type out) {
          ++seed;
          check({{width, height, channels, batch, layout},
                 {w, h, channels, 1, layout},
                 in,
                 out,
                 algorithm,
                 least,
                 most,
                 seed},
                static_cast<std::int64_t>(seed % 7), seed % 5);
        };
        one(37, 29, 1, 1, 6, 5, Type::f64);
        one(37, 29, 3, 2, 7, 4, Type::f32);
        one(1, 17, 1, 3, 1, 5, Type::f64);
        one(23, 1, 2, 1, 23, 1, Type::f64);
        one(13, 11, 1, 1, 13, 11, Type::f32);  // one position
        one(31, 19, 1, 1, 1, 1, Type::f64);
        one(1, 1, 4, 2, 1, 1, Type::f64);
      }
}

TEST(match, several_tiles) {
  for (const Type in : {Type::u8, Type::u16, Type::f32})
    for (const int threads : {1, 2}) {
      const double most = in == Type::u8 ? 255 : 65535;
      check({{2300, 24, 1, 1}, {9, 7}, in, Type::f64, "fft", 0, most, 7, threads});
      check({{600, 80, 1, 2}, {4, 3}, in, Type::f64, "direct", 0, most, 8, threads});
    }
}

// Numbers at the ends of their range, in templates for which 16 bits need two spectra.
TEST(match, large_sums_are_exact) {
  for (const Type in : {Type::u8, Type::u16})
    for (const bool high : {false, true}) {
      const double most = in == Type::u8 ? 255 : 65535;
      check({{611, 607}, {608, 605}, in, Type::f64, "fft", high ? most - 1 : 0, most, 9});
    }
}

TEST(match, flat_windows_and_templates) {
  for (const Type in : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const char* const algorithm : {"fft", "direct"})
      for (const double flat : {0.0, 0.1, 77.0}) {
        const double level = areal::is_float(in) ? flat : std::floor(flat);
        Pixels image({40, 30}, in, 0, 0), templ({5, 4}, in, 0, 0);
        fill(image.view, 3, 0, 255), fill(templ.view, 4, 0, 255);
        for_each_pixel({20, 30}, [&](auto n, auto c, auto y, auto x) { set(image.view, n, c, y, x, level); });
        const Case one{image.view.shape, templ.view.shape, in, Type::f64, algorithm};
        SCOPED_TRACE(one.words());
        Pixels out({36, 27}, Type::f64, 0, 0);
        for (const bool flat_template : {false, true}) {
          if (flat_template)
            for_each_pixel({5, 4}, [&](auto n, auto c, auto y, auto x) { set(templ.view, n, c, y, x, level); });
          const Scores scores(one, image.view, templ.view);
          for (const MatchMethod method : methods) {
            areal::match_template(image.view, templ.view, out.view, {method, algorithm});
            const double score = value_at(out.view, 0, 0, 3, 3);
            EXPECT_TRUE(std::isfinite(score));
            EXPECT_TRUE(method != MatchMethod::ccoeff_normed || score == 0) << score;
            EXPECT_TRUE(method != MatchMethod::sqdiff_normed || !flat_template || score == 0) << score;
            EXPECT_TRUE(method != MatchMethod::sqdiff_normed || flat_template || level != 0 || score == 1) << score;
            EXPECT_TRUE(areal::is_float(in) || scores.wrong(out.view, method) == 0);
          }
        }
      }
}

TEST(match, a_copy_scores_exactly_one) {
  for (const Type in : {Type::u8, Type::u16})
    for (const char* const algorithm : {"fft", "direct"}) {
      Pixels image({64, 48, 3}, in, 0, 0), templ({11, 9, 3}, in, 0, 0);
      fill(image.view, 5, 0, in == Type::u8 ? 255 : 65535);
      for_each_pixel({11, 9, 3}, [&](auto n, auto c, auto y, auto x) {
        set(templ.view, n, c, y, x, value_at(image.view, n, c, y + 20, x + 30));
      });
      Pixels out({54, 40}, Type::f64, 0, 0);
      areal::match_template(image.view, templ.view, out.view, {MatchMethod::ccoeff_normed, algorithm});
      EXPECT_EQ(value_at(out.view, 0, 0, 20, 30), 1);
      areal::match_template(image.view, templ.view, out.view, {MatchMethod::sqdiff, algorithm});
      EXPECT_EQ(value_at(out.view, 0, 0, 20, 30), 0);
    }
}

// A NaN, an infinity or a number far from the others changes only the windows that hold it.
TEST(match, exceptional_pixels_stay_local) {
  for (const Type in : {Type::f32, Type::f64})
    for (const char* const algorithm : {"fft", "direct"})
      for (const double odd : {std::nan(""), double{INFINITY}, -double{INFINITY}, 1e20}) {
        const Case one{{60, 50, 2}, {7, 6, 2}, in, Type::f64, algorithm};
        SCOPED_TRACE(one.words() + " odd " + std::to_string(odd));
        Pixels image(one.image, in, 0, 0), templ(one.templ, in, 0, 0);
        fill(image.view, 11, 0, 1), fill(templ.view, 12, 0, 1);
        for (const MatchMethod method : methods) {
          Pixels clean({54, 45}, Type::f64, 0, 0), out({54, 45}, Type::f64, 0, 0);
          areal::match_template(image.view, templ.view, clean.view, {method, algorithm});
          const double before = value_at(image.view, 0, 1, 25, 30);
          set(image.view, 0, 1, 25, 30, odd);
          areal::match_template(image.view, templ.view, out.view, {method, algorithm});
          set(image.view, 0, 1, 25, 30, before);
          for (std::int64_t y = 0; y < 45; ++y)
            for (std::int64_t x = 0; x < 54; ++x) {
              const bool holds = y <= 25 && y + 6 > 25 && x <= 30 && x + 7 > 30;
              const double score = value_at(out.view, 0, 0, y, x), expected = value_at(clean.view, 0, 0, y, x);
              const bool is_right =
                  !holds ? std::abs(score - expected) < 1e-7 : std::isfinite(odd) || std::isnan(score);
              ASSERT_TRUE(is_right) << name_of(method) << " at " << x << "," << y << ": " << score;
            }
        }
        set(templ.view, 0, 0, 2, 3, odd);
        Pixels out({54, 45}, Type::f64, 0, 0);
        areal::match_template(image.view, templ.view, out.view, {MatchMethod::ccoeff_normed, algorithm});
        EXPECT_EQ(std::isnan(value_at(out.view, 0, 0, 9, 9)), !std::isfinite(odd));
      }
}

// The deviations of a window are far smaller than its mean, or than those of its neighbours.
TEST(match, floats_with_little_variance) {
  for (const char* const algorithm : {"fft", "direct"}) {
    check({{90, 70}, {8, 9}, Type::f64, Type::f64, algorithm, 1e4 - 3e-4, 1e4 + 3e-4, 21});
    check({{90, 70}, {8, 9}, Type::f32, Type::f64, algorithm, 1e4 - 3e-2, 1e4 + 3e-2, 22});
    const Case one{{90, 70}, {8, 9}, Type::f64, Type::f64, algorithm};
    Pixels image(one.image, one.in, 0, 0), templ(one.templ, one.in, 0, 0);
    fill(image.view, 23, 0, 1), fill(templ.view, 24, 0, 1);
    for_each_pixel({45, 70}, [&](auto n, auto c, auto y, auto x) {
      set(image.view, n, c, y, x, 1e9 * value_at(image.view, n, c, y, x));
    });
    const Scores scores(one, image.view, templ.view);
    for (const MatchMethod method : methods) {
      Pixels out({83, 62}, Type::f64, 0, 0);
      areal::match_template(image.view, templ.view, out.view, {method, algorithm});
      EXPECT_EQ(scores.wrong(out.view, method), 0) << algorithm << name_of(method);
    }
  }
}

TEST(match, threads_do_not_change_the_bits) {
  for (const Type in : {Type::u8, Type::f32})
    for (const char* const algorithm : {"fft", "direct"})
      for (const std::int64_t side : {std::string(algorithm) == "fft" ? 20 : 6, 300}) {  // many tiles, or one
        Pixels image({2600, 310}, in, 0, 0), templ({side, side}, in, 0, 0);
        if (side == 300 && std::string(algorithm) == "direct") continue;
        fill(image.view, 31, 0, 255), fill(templ.view, 32, 0, 255);
        std::vector<char> first;
        for (const int threads : {1, 2, 3}) {
          areal::Execution execution;
          execution.threads = threads;
          Pixels out({2601 - side, 311 - side}, Type::f64, 0, 0);
          areal::match_template(image.view, templ.view, out.view, {MatchMethod::ccoeff_normed, algorithm}, execution);
          if (first.empty()) first = out.bytes;
          EXPECT_TRUE(first == out.bytes) << threads << " " << algorithm << " " << side;
        }
      }
}

TEST(match, refusals) {
  const auto plan = [](const Shape& image, const Shape& templ, Type in = Type::u8, Type out = Type::f32,
                       const MatchOptions& options = {}, const areal::Execution& execution = {}) {
    return refusal([&] { const MatchPlan made(image, templ, in, out, options, execution); });
  };
  EXPECT_EQ(plan({9, 9}, {10, 3}), "template of 10x3 is larger than the image of 9x9");
  EXPECT_EQ(plan({9, 9}, {0, 3}), "template of 0x3 has no pixels");
  EXPECT_EQ(plan({0, 0}, {1, 1}), "template of 1x1 is larger than the image of 0x0");
  EXPECT_EQ(plan({9, 9, 3}, {2, 3}), "template: 1 channels, the image has 3");
  EXPECT_EQ(plan({9, 9}, {2, 3, 1, 2}), "template: 2 images, it may be one");
  EXPECT_EQ(plan({9, 9}, {2, 3}, Type::s16), "image type 16s: it may be 8u, 16u, 32f or 64f");
  EXPECT_EQ(plan({9, 9}, {2, 3}, Type::u8, Type::u8), "out type 8u: scores are 32f or 64f");
  EXPECT_EQ(plan({9, 9}, {2, 3}, Type::u8, Type::f32, {MatchMethod::ccorr, "walk"}),
            "algorithm walk is not one of auto, fft, direct");
  areal::Execution cuda;
  cuda.backend = areal::Backend::cuda;
  EXPECT_EQ(plan({9, 9}, {2, 3}, Type::u8, Type::f32, {}, cuda), "backend cuda: template matching runs on the CPU");
  EXPECT_NE(
      plan({40000, 40000}, {20000, 20000}, Type::u8, Type::f32, {MatchMethod::ccorr, "fft"}).find("algorithm fft"),
      std::string::npos);
  // Exact up to a bound, and refused beyond.
  EXPECT_EQ(plan({12000, 12000}, {4000, 4000}, Type::u16), "nothing was refused");
  const std::string beyond = plan({32000, 32000}, {15000, 15000}, Type::u8);
  EXPECT_NE(beyond.find("where 1/4 is allowed"), std::string::npos) << beyond;

  const MatchPlan made({9, 9}, {2, 3}, Type::u8, Type::f32, {});
  areal::Workspace workspace(made);
  areal::Array image({9, 9}, Type::u8), templ({2, 3}, Type::u8), out({8, 7}, Type::f32), small({7, 7}, Type::f32);
  EXPECT_EQ(refusal([&] {
              made.execute({image.view(), image.view(), out.view()}, workspace);
            }).substr(0, 8),
            "template");
  EXPECT_EQ(refusal([&] { made.execute({image.view(), templ.view(), small.view()}, workspace); }).substr(0, 3), "out");
  // Nothing to do.
  const MatchPlan empty({9, 9, 1, 0}, {2, 3}, Type::u8, Type::f32, {});
  areal::Workspace of_empty(empty);
  empty.execute({ConstView(nullptr, Type::u8, {9, 9, 1, 0}), templ.view(), View(nullptr, Type::f32, {8, 7, 1, 0})},
                of_empty);
}

// ---------------------------------------------------------------- peaks, sizes, hits

// A peak comes before every other score within the distance, in the order of scores, then row by row.
std::vector<areal::Peak> peaks_by_pairs(const std::vector<double>& scores, std::int64_t width, std::int64_t height,
                                        const areal::PeakOptions& options) {
  std::vector<areal::Peak> all;
  const auto score = [&](std::int64_t x, std::int64_t y) { return scores[static_cast<std::size_t>(y * width + x)]; };
  const auto precedes = [&](std::int64_t x, std::int64_t y, std::int64_t i, std::int64_t j) {
    const double a = score(x, y), b = score(i, j);
    if (a != b) return options.minima ? a < b : a > b;
    return y != j ? y < j : x < i;
  };
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double own = score(x, y);
      bool is_peak = !std::isnan(own) &&
                     !(options.threshold && (options.minima ? own > *options.threshold : own < *options.threshold));
      for (std::int64_t j = 0; j < height; ++j)
        for (std::int64_t i = 0; i < width; ++i)
          if (std::abs(i - x) <= options.distance && std::abs(j - y) <= options.distance && (i != x || j != y) &&
              precedes(i, j, x, y))
            is_peak = false;
      if (is_peak) all.push_back({x, y, own});
    }
  std::ranges::sort(all, [&](const areal::Peak& a, const areal::Peak& b) { return precedes(a.x, a.y, b.x, b.y); });
  if (options.top > 0 && all.size() > static_cast<std::size_t>(options.top))
    all.resize(static_cast<std::size_t>(options.top));
  return all;
}

TEST(peaks, as_by_comparing_all_pairs) {
  std::mt19937_64 random(41);
  bool saw_a_difference = false;
  for (const int levels : {1, 3, 1000})
    for (const std::int64_t distance : {0, 1, 2, 5, 1000})
      for (const bool minima : {false, true})
        for (const std::int64_t top : {0, 3})
          for (const std::int64_t width : {1, 13, 17}) {
            const std::int64_t height = width == 1 ? 19 : 11;
            std::vector<double> scores;
            for (std::int64_t i = 0; i < width * height; ++i)
              scores.push_back(random() % 20 == 0 ? std::nan("")
                                                  : static_cast<double>(random() % static_cast<std::uint64_t>(levels)));
            areal::PeakOptions options{.threshold = {}, .top = top, .distance = distance, .minima = minima};
            if (levels == 1000) options.threshold = 400;
            const auto expected = peaks_by_pairs(scores, width, height, options);
            EXPECT_EQ(areal::peaks(ConstView(scores.data(), width, height), options), expected);
            std::vector<float> narrow(scores.begin(), scores.end());
            EXPECT_EQ(areal::peaks(ConstView(narrow.data(), width, height), options), expected);
            scores[0] = minima ? -1 : 2000;
            saw_a_difference =
                saw_a_difference || areal::peaks(ConstView(scores.data(), width, height), options) != expected;
          }
  EXPECT_TRUE(saw_a_difference);
  EXPECT_TRUE(areal::peaks(ConstView(nullptr, Type::f32, {0, 5}), {}).empty());
}

TEST(resize, as_by_its_formula) {
  for (const Type type : {Type::u8, Type::u16, Type::f32, Type::f64})
    for (const Layout layout : {Layout::interleaved, Layout::planar})
      for (const auto& size : {std::pair{23, 31}, {11, 7}, {9, 40}, {1, 1}, {20, 14}}) {
        const std::int64_t width = size.first, height = size.second;  // clang 14 captures no structured bindings
        const Shape from{20, 14, 2, 2, layout}, to{width, height, 2, 2, layout};
        Pixels image(from, type, 1, 3), out(to, type, 3, 5);
        fill(image.view, 51, 0, type == Type::u16 ? 65535 : 255);
        areal::resize(image.view, out.view);
        EXPECT_TRUE(out.guards_hold());
        const auto weight = [](std::int64_t i, std::int64_t x, std::int64_t n, std::int64_t m) {
          const long double s = static_cast<long double>(m) / static_cast<long double>(n), k = std::min(s, 1.0L);
          return std::max(
              0.0L, 1 - k * std::abs(static_cast<long double>(i) + 0.5L - (static_cast<long double>(x) + 0.5L) / s));
        };
        for_each_pixel(to, [&](auto n, auto c, auto y, auto x) {
          long double sum = 0, weights = 0;
          for (std::int64_t j = 0; j < 14; ++j)
            for (std::int64_t i = 0; i < 20; ++i) {
              const long double w = weight(i, x, 20, width) * weight(j, y, 14, height);
              sum += w * static_cast<long double>(value_at(image.view, n, c, j, i)), weights += w;
            }
          const long double expected = sum / weights;
          ASSERT_NEAR(value_at(out.view, n, c, y, x), static_cast<double>(expected),
                      areal::is_float(type) ? 1e-4 : 0.5 + 1e-9);
          ASSERT_TRUE(width != 20 || height != 14 ||
                      value_at(out.view, n, c, y, x) == value_at(image.view, n, c, y, x));
        });
      }
}

TEST(hits, are_found_at_their_scale) {
  Pixels image({200, 150}, Type::u8, 0, 0), templ({30, 24}, Type::u8, 0, 0);
  fill(image.view, 61, 0, 255), fill(templ.view, 62, 0, 255);
  // Smooth, so that sizes matter little.
  for_each_pixel({30, 24}, [&](auto n, auto c, auto y, auto x) {
    set(templ.view, n, c, y, x,
        std::floor(127 + 60 * std::sin(0.4 * static_cast<double>(x)) +
                   60 * std::cos(0.5 * static_cast<double>(y + x))));
  });
  Pixels large({45, 36}, Type::u8, 0, 0);
  areal::resize(templ.view, large.view);
  for_each_pixel({45, 36}, [&](auto n, auto c, auto y, auto x) {
    set(image.view, n, c, y + 70, x + 100, value_at(large.view, n, c, y, x));
  });
  for_each_pixel({30, 24}, [&](auto n, auto c, auto y, auto x) {
    set(image.view, n, c, y + 10, x + 20, value_at(templ.view, n, c, y, x));
  });
  const std::vector<double> scales{0.01, 0.75, 1, 1.5, 2, 50};
  const auto hits = areal::match_hits(image.view, templ.view, scales, {.threshold = 0.9, .top = 5});
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0], (areal::Hit{20, 10, 30, 24, 1, 1}));
  EXPECT_EQ(hits[1], (areal::Hit{100, 70, 45, 36, 1.5, 1}));
  for (const auto method : {MatchMethod::sqdiff_normed, MatchMethod::sqdiff}) {
    const std::vector<double> one{1};
    const auto least = areal::match_hits(image.view, templ.view, one, {.method = method, .top = 1});
    ASSERT_EQ(least.size(), 1U);
    EXPECT_EQ(least[0], (areal::Hit{20, 10, 30, 24, 1, 0}));
  }
  // No two are near.
  const auto many = areal::match_hits(image.view, templ.view, scales, {.distance = 9});
  EXPECT_GT(many.size(), 20U);
  for (std::size_t i = 0; i < many.size(); ++i)
    for (std::size_t j = i + 1; j < many.size(); ++j) {
      EXPECT_GE(many[i].score, many[j].score);
      const std::int64_t columns = std::abs(2 * many[i].x + many[i].width - 2 * many[j].x - many[j].width);
      const std::int64_t rows = std::abs(2 * many[i].y + many[i].height - 2 * many[j].y - many[j].height);
      EXPECT_GT(std::max(columns, rows), 18);
    }
  const auto refused = [&](const areal::HitOptions& options, double scale) {
    const std::vector<double> one{scale};
    return refusal([&] { areal::match_hits(image.view, templ.view, one, options); });
  };
  EXPECT_EQ(refused({.method = MatchMethod::ccorr}, 0.5),
            "method ccorr: scores at several scales compare with a normed method alone");
  EXPECT_EQ(refused({}, -1), "scale -1: it may be any finite number above 0");
  EXPECT_EQ(refused({.top = -1}, 1), "top -1: it may be 0 (all) or more");
}

}  // namespace
