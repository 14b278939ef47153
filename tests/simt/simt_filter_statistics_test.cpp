// walk's statistics of integers of every type on the simulated machine, against windows added one pixel at a time.
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>
#include "kernels/filter/finish.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/filter/walk/tile_bands.hpp"
#include "kernels/filter/walk/walk.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

__extension__ using Int128 = __int128;

struct Case {
  Shape image;
  Window window;
  Filter filter;
  Type in = Type::u8, out = Type::f64;
  std::int64_t gap = 0, offset = 0;  // bytes between rows, and from an aligned address
  std::uint64_t seed = 1;
  bool products = false;  // of warpgroups
};

std::string words(const Case& c) {
  const auto is = [](std::int64_t n) { return std::to_string(n) + " "; };
  return is(c.image.width) + is(c.image.height) + is(c.image.channels) + is(c.image.batch) + "window " +
         is(c.window.width) + is(c.window.height) + is(c.window.anchor_x) + is(c.window.anchor_y) + "edge " +
         is(static_cast<int>(c.window.edge)) + "filter " + is(static_cast<std::int64_t>(c.filter.index())) +
         std::string(name_of(c.in)) + " " + std::string(name_of(c.out)) + " gap " + is(c.gap) + is(c.offset) + "seed " +
         is(static_cast<std::int64_t>(c.seed));
}

/// Any pixel, as an integer or as double.
double get(const void* from, Type type) {
  const auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case Type::u8:
      return as(std::uint8_t{});
    case Type::s8:
      return as(std::int8_t{});
    case Type::u16:
      return as(std::uint16_t{});
    case Type::s16:
      return as(std::int16_t{});
    case Type::u32:
      return as(std::uint32_t{});
    case Type::s32:
      return as(std::int32_t{});
    case Type::f32:
      return as(float{});
    default:
      return as(double{});
  }
}

std::int64_t shown(std::int64_t i, std::int64_t extent, Edge edge) {
  while (i < 0 || i >= extent) {
    if (edge == Edge::wrap)
      i += i < 0 ? extent : -extent;
    else if (edge == Edge::symmetric)
      i = i < 0 ? -1 - i : 2 * extent - 1 - i;
    else
      return -1;
  }
  return i;
}

kernels::FilterRequest request_of(const Case& c) {
  const auto axis = [&](std::int64_t extent, std::int64_t size, std::int64_t anchor) -> formulas::WindowAxis {
    if (c.window.edge == Edge::valid)
      return {extent, size, 0, std::max<std::int64_t>(0, extent - size + 1), Edge::valid};
    return {extent, size, anchor < 0 ? size / 2 : anchor, extent, c.window.edge};
  };
  kernels::FilterRequest r;
  r.filter = c.filter, r.image = c.image, r.in = c.in, r.out = c.out;
  r.columns = axis(c.image.width, c.window.width, c.window.anchor_x);
  r.rows = axis(c.image.height, c.window.height, c.window.anchor_y);
  if (c.window.edge == Edge::valid) r.centre_x = c.window.width / 2, r.centre_y = c.window.height / 2;
  r.value = c.window.value;
  return r;
}

struct Memory {
  std::vector<char> bytes;
  View view;
  Memory(const Case& c, const Shape& shape, Type type, char mark) {
    view = View(
        nullptr, type, shape,
        shape.width * (shape.layout == Layout::planar ? 1 : shape.channels) * static_cast<std::int64_t>(size_of(type)) +
            c.gap);
    bytes.assign(kernels::bytes_of_view(view) + 64, mark);
    const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + 31) / 16 * 16;
    view.data = reinterpret_cast<void*>(first + static_cast<std::uintptr_t>(c.offset));
  }
  char* at(std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n) {
    return static_cast<char*>(view.row(y, channel, n)) + x * view.column_pitch();
  }
};

struct Sums {
  Int128 one = 0, two = 0;
  std::int64_t count = 0;
};

/// What an output must be, as a range: one number unless a decision is too close to call.
std::pair<double, double> expected(const Case& c, const Sums& s, double pixel) {
  const auto n = static_cast<long double>(s.count), one = static_cast<long double>(s.one);
  const long double mean = one / n;
  long double value = 0;
  const auto variance = [&](int ddof) {
    if (s.count <= ddof) return std::numeric_limits<long double>::quiet_NaN();
    return static_cast<long double>(s.two * s.count - s.one * s.one) / (n * (n - ddof));
  };
  if (std::holds_alternative<filter::Sum>(c.filter)) value = one;
  if (std::holds_alternative<filter::Count>(c.filter)) value = n;
  if (std::holds_alternative<filter::Mean>(c.filter)) value = mean;
  if (const auto* v = std::get_if<filter::Variance>(&c.filter)) value = variance(v->ddof);
  if (const auto* v = std::get_if<filter::StandardDeviation>(&c.filter)) value = std::sqrt(variance(v->ddof));
  if (const auto* t = std::get_if<filter::Threshold>(&c.filter)) {
    const long double s1 = std::sqrt(variance(0)), r = t->r.value_or(size_of(c.in) == 1 ? 128 : 32768);
    long double level = mean;
    const auto k = [&](double usual) { return static_cast<long double>(t->k.value_or(usual)); };
    if (t->method == filter::Local::bradley) level = mean * (1 - k(0.15));
    if (t->method == filter::Local::niblack) level = mean + k(-0.2) * s1;
    if (t->method == filter::Local::sauvola) level = mean * (1 + k(0.2) * (s1 / r - 1));
    if (t->method == filter::Local::nick)
      level = mean + k(-0.2) * std::sqrt((static_cast<long double>(s.two) - mean * mean) / n);
    level -= t->offset;
    value = level;
    if (!is_float(c.out)) {
      const bool above = static_cast<long double>(pixel) > level, close = std::fabs(pixel - level) < 1e-7L;
      const double high = c.out == Type::s8 ? std::min(t->high, 127.0) : t->high;
      const double yes = t->inverted ? 0 : high, no = t->inverted ? high : 0;
      return close ? std::pair(std::min(yes, no), std::max(yes, no)) : std::pair(above ? yes : no, above ? yes : no);
    }
  }
  if (!is_float(c.out)) {
    if (std::isnan(value)) return {0, 0};
    const auto bits = static_cast<int>(8 * size_of(c.out));
    const bool is_signed = is_signed_integer(c.out);
    const long double least = is_signed ? -std::ldexp(1.0L, bits - 1) : 0,
                      most = std::ldexp(1.0L, bits - (is_signed ? 1 : 0)) - 1;
    const auto rounded = static_cast<double>(std::clamp(std::nearbyint(value), least, most));
    return {rounded, rounded};
  }
  const long double slack = std::fabs(value) * (c.out == Type::f32 ? 0x1p-23L : 0x1p-50L) +
                            (std::holds_alternative<filter::Threshold>(c.filter) ? 1e-9L : 0);
  return {static_cast<double>(value - slack), static_cast<double>(value + slack)};
}

/// The first wrong output; empty if there is none. `off_by_one` changes a pixel after the run.
std::string fault(const Case& c, bool change = false) {
  const kernels::FilterRequest r = request_of(c);
  Shape shape = c.image;
  shape.width = r.columns.outputs, shape.height = r.rows.outputs;
  Memory image(c, c.image, c.in, 0), out(c, shape, c.out, 0x5a);
  std::mt19937_64 random(c.seed);
  const int levels = static_cast<int>(random() % 3);  // any bytes, extremes, or a nearly flat image
  for (char& byte : image.bytes) {
    const auto any = static_cast<unsigned char>(random());
    byte = static_cast<char>(levels == 0 ? any : levels == 1 ? (any % 2 == 0 ? 0xff : 0) : any % 16 == 0 ? 1 : 0);
  }
  const std::vector<char> before = out.bytes;
  simt::Options options;
  options.seed = c.seed, options.products = c.products, options.residents = 1 + static_cast<int>(c.seed % 4);
  options.together = 1 + static_cast<int>(c.seed % 9);
  simt::execute<kernels::FilterSubject>(r, {image.view, out.view}, nullptr, options);
  if (change) image.at(c.image.width / 2, c.image.height / 2, 0, 0)[0] ^= 0x7f;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t channel = 0; channel < shape.channels; ++channel)
      for (std::int64_t y = 0; y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.width; ++x) {
          Sums sums;
          for (std::int64_t v = y - r.rows.before; v < y - r.rows.before + r.rows.size; ++v)
            for (std::int64_t u = x - r.columns.before; u < x - r.columns.before + r.columns.size; ++u) {
              const std::int64_t iy = shown(v, c.image.height, c.window.edge),
                                 ix = shown(u, c.image.width, c.window.edge);
              const bool is_pixel = ix >= 0 && iy >= 0;
              if (!is_pixel && c.window.edge == Edge::shrink) continue;
              const auto pixel = static_cast<Int128>(is_pixel ? get(image.at(ix, iy, channel, n), c.in)
                                                     : c.window.edge == Edge::constant ? c.window.value
                                                                                       : 0);
              sums.one += pixel, sums.two += pixel * pixel, ++sums.count;
            }
          const double pixel = get(image.at(x + r.centre_x, y + r.centre_y, channel, n), c.in);
          const auto [least, most] = expected(c, sums, pixel);
          const double is = get(out.at(x, y, channel, n), c.out);
          if (!(is >= least && is <= most) && !(std::isnan(is) && std::isnan(least)))
            return words(c) + ": (" + std::to_string(x) + ", " + std::to_string(y) + ") is " + std::to_string(is) +
                   ", not " + std::to_string(least);
          std::memset(out.at(x, y, channel, n), 0x5a, size_of(c.out));
        }
  return out.bytes == before ? "" : words(c) + ": memory around the output was written";
}

TEST(SimtFilterStatistics, TheTestCanFail) {
  for (const Filter& filter : {Filter(filter::Sum{}), Filter(filter::StandardDeviation{})}) {
    const Case c{{30, 9}, {3, 3}, filter};
    EXPECT_EQ(fault(c), "");
    EXPECT_NE(fault(c, true), "");
  }
}

TEST(SimtFilterStatistics, EveryTypeAndFilter) {
  using filter::Local;
  const std::vector<Filter> filters{filter::Sum{},
                                    filter::Mean{},
                                    filter::Count{},
                                    filter::Variance{},
                                    filter::Variance{1},
                                    filter::StandardDeviation{},
                                    filter::StandardDeviation{2},
                                    filter::Threshold{Local::mean, {}, {}, 3.5},
                                    filter::Threshold{Local::bradley},
                                    filter::Threshold{Local::niblack, {}, {}, 0, 1, true},
                                    filter::Threshold{Local::sauvola},
                                    filter::Threshold{Local::nick}};
  constexpr Type ins[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32};
  constexpr Type outs[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::s32, Type::f32, Type::f64};
  constexpr Edge edges[] = {Edge::valid, Edge::shrink, Edge::zero, Edge::symmetric, Edge::wrap, Edge::constant};
  std::mt19937_64 random(20261126);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int refused = 0;
  for (int turn = 0; turn < 3; ++turn)
    for (const Filter& filter : filters)
      for (const Type in : ins) {
        Case c;
        c.filter = filter, c.in = in, c.out = outs[any(0, 6)];
        c.image = {any(1, 24), any(1, 12), any(0, 3) == 0 ? 2 : 1, any(0, 5) == 0 ? 2 : 1,
                   any(0, 1) ? Layout::planar : Layout::interleaved};
        c.window.width = any(1, 9), c.window.height = any(1, 6), c.window.edge = edges[any(0, 5)];
        c.window.value = static_cast<double>(any(0, 127));
        if (c.window.edge == Edge::valid)
          c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
        else
          c.window.anchor_x = any(0, c.window.width - 1);
        c.gap = any(0, 1) ? any(0, 9) : 0, c.offset = any(0, 1) ? any(0, 9) : 0;
        c.seed = random();
        if (!simt::refusal_of<kernels::FilterSubject>(request_of(c)).why.empty()) {
          ++refused;
          continue;
        }
        EXPECT_EQ(fault(c), "");
      }
  EXPECT_EQ(refused, 3 * 2 * 7);  // deviations of 32 bits
}

// Several strips of a block's span, aligned, and sums beyond 32 bits.
TEST(SimtFilterStatistics, WideImages) {
  for (const Type in : {Type::u8, Type::u16, Type::s32}) {
    Case c{{1100, 3}, {90, 2}, filter::Sum{}, in, Type::f64};
    c.gap = 4, c.seed = static_cast<std::uint64_t>(in) + 2;
    EXPECT_EQ(fault(c), "");
    if (in == Type::s32) continue;
    c.filter = filter::StandardDeviation{};
    EXPECT_EQ(fault(c), "");
  }
}

// The kernel of bytes above their thresholds: windows of every width modulo 16, several strips, whose inner ones have a
// loop of their own, rows of any pitch and address, images of a few columns, any outputs.
TEST(SimtFilterStatistics, BytesAboveTheirThresholds) {
  using filter::Local;
  const std::vector<Filter> filters{filter::Threshold{Local::mean},
                                    filter::Threshold{Local::mean, {}, {}, 2.25, 200, true},
                                    filter::Threshold{Local::bradley, 0.1},
                                    filter::Threshold{Local::niblack},
                                    filter::Threshold{Local::sauvola},
                                    filter::Threshold{Local::sauvola, 0.5, 64, -3.5, 7},
                                    filter::Threshold{Local::nick, 0.3, {}, 1}};
  constexpr Edge edges[] = {Edge::symmetric, Edge::shrink, Edge::valid, Edge::zero, Edge::wrap, Edge::constant};
  std::mt19937_64 random(20261130);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto try_it = [&](Case c) {
    if (c.window.edge == Edge::valid)
      c.image.width += c.window.width - 1, c.image.height += c.window.height - 1;
    else
      c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
    c.window.value = static_cast<double>(any(0, 255));
    c.out = Type::u8, c.seed = random();
    ASSERT_TRUE(kernels::is_walk_that_decides(request_of(c)));
    EXPECT_EQ(fault(c), "");
  };
  int turn = 0;
  for (std::int64_t width = 1; width <= 34; ++width)
    for (int i = 0; i < 2; ++i, ++turn) {
      Case c{{any(1, 60), any(1, 7), any(0, 3) == 0 ? 3 : 1, 1, any(0, 1) ? Layout::planar : Layout::interleaved},
             {width, any(1, 5)},
             filters[static_cast<std::size_t>(turn) % filters.size()]};
      c.window.edge = edges[any(0, 5)];
      c.gap = any(0, 1) ? any(0, 9) : 0, c.offset = any(0, 1) ? any(0, 9) : 0;
      try_it(c);
    }
  // Four strips of an aligned image: two of them are plain.
  for (const std::int64_t width : {3, 6, 13, 32})
    for (const Edge edge : {Edge::symmetric, Edge::shrink, Edge::valid}) {
      Case c{{1760, 12}, {width, 3}, filters[static_cast<std::size_t>(++turn) % filters.size()]};
      c.window.edge = edge;
      c.gap = edge == Edge::valid ? (17 - width) % 16 + 16 : 0;  // rows of whole vectors
      try_it(c);
    }
  Case wide{{700, 2}, {256, 2}, filter::Threshold{}};
  wide.window.edge = Edge::symmetric;
  try_it(wide);
  Case high{{40, 3}, {3, 128}, filter::Threshold{Local::niblack}};
  high.window.edge = Edge::wrap;
  try_it(high);
}

// The same by products of warpgroups: strips of 128 columns, chunks of 64 rows, windows at every edge.
TEST(SimtFilterStatistics, BytesAboveTheirThresholdsByProducts) {
  using filter::Local;
  const std::vector<Filter> filters{filter::Threshold{Local::sauvola},
                                    filter::Threshold{Local::niblack},
                                    filter::Threshold{Local::sauvola, 0.5, 64, -3.5, 7},
                                    filter::Threshold{Local::nick, 0.3, {}, 1},
                                    filter::Threshold{Local::sauvola, -0.4, {}, 2.25, 200, true},
                                    filter::Threshold{Local::niblack, 0.25, {}, -1}};
  constexpr Edge edges[] = {Edge::zero, Edge::symmetric, Edge::constant, Edge::shrink, Edge::valid};
  std::mt19937_64 random(20261201);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int taken = 0;
  for (int turn = 0; turn < 60; ++turn) {
    Case c{{16 * any(1, turn % 7 == 0 ? 27 : 5), any(1, turn % 5 == 0 ? 140 : 20), turn % 6 == 0 ? 2 : 1,
            turn % 8 == 0 ? 2 : 1, Layout::planar},
           {any(1, turn % 3 == 0 ? 65 : 15), any(1, turn % 4 == 0 ? 65 : 9)},
           filters[static_cast<std::size_t>(turn) % filters.size()]};
    c.window.edge = edges[turn % 5], c.window.value = static_cast<double>(any(0, 255));
    if (turn % 2 == 0) c.window.anchor_x = any(0, c.window.width - 1), c.window.anchor_y = any(0, c.window.height - 1);
    c.out = Type::u8, c.seed = random(), c.gap = 16 * any(0, 1), c.products = true;
    kernels::with_tiles_that_decide(request_of(c), [&]<class C>() { ++taken; });
    EXPECT_EQ(fault(c), "");
  }
  EXPECT_GE(taken, 20);  // not: edges shrink and valid, windows further beyond the edge than the image is wide
}

// No pixel of a flat image is above its threshold, which floats place a little above or below it.
TEST(SimtFilterStatistics, FlatImagesAreInDoubtByProducts) {
  for (const int pixel : {1, 77, 150, 201, 255}) {
    Case c{{32, 20}, {7, 7}, filter::Threshold{filter::Local::niblack, -0.3}};
    c.window.edge = Edge::symmetric, c.out = Type::u8, c.products = true;
    Memory image(c, c.image, Type::u8, 0), out(c, c.image, Type::u8, 0x5a);
    for (char& byte : image.bytes) byte = static_cast<char>(pixel);
    simt::execute<kernels::FilterSubject>(request_of(c), {image.view, out.view}, nullptr, simt::Options{});
    for (std::int64_t y = 0; y < 20; ++y)
      for (std::int64_t x = 0; x < 32; ++x) ASSERT_EQ(get(out.at(x, y, 0, 0), Type::u8), 0) << pixel;
  }
}

/// The arithmetic of a machine, with roots that are as far off as they may be.
struct Arithmetic {
  float error;
  std::int64_t multiply_wide(std::int32_t a, std::int32_t b, std::int64_t c) const { return std::int64_t{a} * b + c; }
  float root_estimate(float x) const { return std::sqrt(x) * (1 + error); }
};

// Where floats leave no doubt, WalkDecide decides as doubles do, for the pixels around the threshold.
TEST(SimtFilterStatistics, DecisionsWithoutDoubtAreThoseOfDoubles) {
  using filter::Local;
  std::mt19937_64 random(20261131);
  int doubts = 0, decisions = 0, whole = 0;
  for (const Local method : {Local::mean, Local::bradley, Local::niblack, Local::sauvola, Local::nick})
    for (int turn = 0; turn < 20000; ++turn) {
      kernels::FilterRequest request;
      request.in = request.out = Type::u8, request.columns.size = request.rows.size = 1;
      const double offset = turn % 3 == 0 ? 0 : turn % 3 == 1 ? turn % 40 - 20 : static_cast<double>(turn % 1000) / 77;
      request.filter = filter::Threshold{method, turn % 2 == 0 ? std::optional<double>() : turn / 1e4 - 1, {}, offset};
      kernels::FilterFinish exact(request);
      ASSERT_TRUE(exact.quick);
      exact.quick = false;
      const auto n = static_cast<std::uint32_t>(turn % 100 == 0 ? 32768 : 2 + random() % 300);
      const kernels::WalkDecide decide(exact, n, 0);
      const auto base = static_cast<int>(random() % 256), spread = turn % 5 == 0 ? 0 : turn % 5 == 1 ? 255 : 4;
      std::uint32_t sum = 0, squares = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        const auto step = spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
        const auto pixel = static_cast<std::uint32_t>(std::clamp(base + step, 0, 255));
        sum += pixel, squares += pixel * pixel;
      }
      const Arithmetic m{turn % 2 == 0 ? 0x1p-21f : -0x1p-21f};
      const auto threshold = static_cast<int>(static_cast<double>(sum) / n * 0.9);
      for (int pixel = std::max(0, threshold - 40); pixel <= std::min(255, threshold + 40); ++pixel) {
        const auto at = static_cast<std::uint32_t>(pixel);
        const bool above = exact(sum, false, squares, n, [&] { return static_cast<double>(pixel); }) != 0;
        if (decide.whole) {
          ++whole;
          ASSERT_EQ(decide.whole_apart(sum, at) >> 31 != 0, above) << "n " << n << " S1 " << sum << " p " << pixel;
          continue;
        }
        float least = 1e9f;
        const std::uint32_t centred = squares - 128 * sum, raised = 0x4b000000u + at;
        const auto more = static_cast<std::int64_t>(n) * 77;  // as if the lanes before had a part of the squares
        const auto rest = static_cast<std::uint32_t>(static_cast<std::int32_t>(centred) - 77);
        const bool roots = exact.needs_squares();
        const std::uint32_t apart = !roots          ? decide.apart<false, false>(m, sum, 0, 0, raised, least)
                                    : decide.simple ? decide.apart<true, true>(m, sum, rest, more, raised, least)
                                                    : decide.apart<true, false>(m, sum, rest, more, raised, least);
        if (least < decide.bound) {
          ++doubts;
          continue;
        }
        ++decisions;
        ASSERT_EQ(apart >> 31 != 0, above) << static_cast<int>(method) << " n " << n << " S1 " << sum << " S2 "
                                           << squares << " p " << pixel << " turn " << turn;
      }
    }
  EXPECT_GT(doubts, 50);
  EXPECT_GT(decisions, 1000000);
  EXPECT_GT(whole, 100000);
}

// The same of TileDecide, from any window's sums of pixels and of squares as the products give them.
TEST(SimtFilterStatistics, DecisionsOfTilesWithoutDoubtAreThoseOfDoubles) {
  using filter::Local;
  std::mt19937_64 random(20261202);
  int doubts = 0, decisions = 0, zeros = 0;
  for (const Local method : {Local::niblack, Local::sauvola, Local::nick})
    for (int turn = 0; turn < 20000; ++turn) {
      const auto columns = static_cast<int>(1 + random() % 65), rows = static_cast<int>(1 + random() % 65);
      const auto n = static_cast<std::uint32_t>(columns * rows);
      kernels::FilterRequest request;
      request.in = request.out = Type::u8, request.columns.size = columns, request.rows.size = rows;
      const double offset = turn % 3 == 0 ? 0 : turn % 3 == 1 ? turn % 40 - 20 : static_cast<double>(turn % 1000) / 77;
      request.filter = filter::Threshold{method, turn % 2 == 0 ? std::optional<double>() : turn / 1e4 - 1, {}, offset};
      kernels::FilterFinish exact(request);
      exact.quick = false;
      const kernels::TileDecide decide(exact, n, columns);
      ASSERT_TRUE(decide.finite());
      const auto base = turn % 7 == 0 ? 0 : static_cast<int>(random() % 256);
      const auto spread = turn % 5 == 0 ? 0 : turn % 5 == 1 ? 255 : 4;
      std::uint32_t sum = 0, squares = 0, low = 0, high = 0;
      for (int y = 0; y < rows; ++y) {
        std::uint32_t centred = 0;
        for (int x = 0; x < columns; ++x) {
          const auto step =
              spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
          const auto pixel = std::clamp(base + step, 0, 255);
          sum += static_cast<std::uint32_t>(pixel), squares += static_cast<std::uint32_t>(pixel * pixel);
          centred += static_cast<std::uint32_t>((pixel - 128) * (pixel - 128));
        }
        low += centred & 0xff, high += centred >> 8;
      }
      const Arithmetic m{turn % 2 == 0 ? 0x1p-21f : -0x1p-21f};
      const auto threshold = static_cast<int>(static_cast<double>(sum) / n * 0.9);
      for (int pixel = std::max(0, threshold - 40); pixel <= std::min(255, threshold + 40); ++pixel) {
        const bool above = exact(sum, false, squares, n, [&] { return static_cast<double>(pixel); }) != 0;
        const auto at = static_cast<std::uint32_t>(pixel);
        const float apart = method == Local::sauvola ? decide.apart<true>(m, sum, low, high, at)
                                                     : decide.apart<false>(m, sum, low, high, at);
        const bool certain = at < decide.least_word;
        if (certain) ++zeros;
        if (std::abs(apart) < decide.bound && !certain) {
          ++doubts;
          continue;
        }
        ++decisions;
        ASSERT_EQ(std::signbit(apart), above)
            << static_cast<int>(method) << " n " << n << " S1 " << sum << " S2 " << squares << " p " << pixel;
      }
    }
  EXPECT_GT(doubts, 50);
  EXPECT_GT(zeros, 1000);
  EXPECT_GT(decisions, 1000000);
}

// n S2 of 16-bit pixels exceeds 64 bits.
TEST(SimtFilterStatistics, NumeratorsOf128Bits) {
  Case c{{3, 2}, {301, 300}, filter::Variance{}, Type::u16, Type::f64};
  c.window.edge = Edge::wrap;
  for (c.seed = 1; c.seed < 4; ++c.seed) EXPECT_EQ(fault(c), "");
}

// Decisions in 32f are those in 64f: at random sums, for the pixels next to the threshold and at constant windows.
TEST(SimtFilterStatistics, QuickDecisionsAreThoseOfDoubles) {
  using filter::Local;
  std::mt19937_64 random(20261129);
  int undecided = 0;
  for (const Local method : {Local::mean, Local::bradley, Local::niblack, Local::sauvola, Local::nick})
    for (const Type in : {Type::u8, Type::s8, Type::u16, Type::s16})
      for (int turn = 0; turn < 3000; ++turn) {
        kernels::FilterRequest request;
        request.in = in, request.columns.size = request.rows.size = 1;
        const double offset = turn % 3 == 0 ? 0 : static_cast<double>(random() % 1000) / 77;
        request.filter =
            filter::Threshold{method, turn % 2 == 0 ? std::optional<double>() : turn / 1e3 - 1, {}, offset};
        kernels::FilterFinish finish(request);
        ASSERT_TRUE(finish.quick);
        kernels::FilterFinish exact = finish;
        exact.quick = false;
        const std::uint64_t n = turn % 100 == 0 ? 65536 : 2 + random() % 300;
        const bool is_signed = is_signed_integer(in);
        const auto range = std::int64_t{1} << (8 * size_of(in));
        const std::int64_t base =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range)) - (is_signed ? range / 2 : 0);
        std::int64_t sum = 0, squares = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
          const std::int64_t step = turn % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % 9) - 4;
          const std::int64_t least = is_signed ? -range / 2 : 0;
          const std::int64_t pixel = std::clamp<std::int64_t>(base + step, least, least + range - 1);
          sum += pixel, squares += pixel * pixel;
        }
        for (std::int64_t pixel = base - 6; pixel <= base + 6; ++pixel) {
          const auto decide = [&](const kernels::FilterFinish& by) {
            return by(static_cast<std::uint64_t>(sum), is_signed, static_cast<std::uint64_t>(squares), n,
                      [&] { return static_cast<double>(pixel); });
          };
          ASSERT_EQ(decide(finish), decide(exact)) << static_cast<int>(method) << " " << name_of(in) << " n " << n
                                                   << " S1 " << sum << " S2 " << squares << " p " << pixel;
          const auto found = finish.quick_threshold(static_cast<std::uint64_t>(sum < 0 ? -sum : sum), sum < 0,
                                                    static_cast<std::uint64_t>(squares), n);
          undecided += std::fabs(static_cast<float>(pixel) - found.value) <= found.bound;
        }
      }
  EXPECT_GT(undecided, 100);  // doubles have to decide some
}

}  // namespace
}  // namespace areal
