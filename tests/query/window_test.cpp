// Sliding windows compared with the image, pixel by pixel, for every edge.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/window.hpp>
#include <cmath>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::Edge;
using areal::InvalidArgument;
using areal::Shape;
using areal::TableView;
using areal::Type;
using areal::View;
using areal::Window;
using oracle::Image;
using oracle::Padded;
using oracle::Table;

constexpr Edge edges[] = {Edge::valid,   Edge::shrink,    Edge::zero, Edge::replicate,
                          Edge::reflect, Edge::symmetric, Edge::wrap, Edge::constant};

// All statistics of a window, from the pixels that it covers.
struct Seen {
  long double sum = 0, squares = 0;
  std::int64_t inside = 0;
  double pixels(const Window& w) const {
    return static_cast<double>(w.edge == Edge::shrink ? inside : w.width * w.height);
  }
  double mean(const Window& w) const { return static_cast<double>(sum) / pixels(w); }
  double variance(const Window& w) const {
    const long double n = pixels(w);
    return static_cast<double>((squares * n - sum * sum) / (n * n));
  }
};

template <class P>
Seen look(const Image<P>& image, const Window& w, std::int64_t x, std::int64_t y) {
  const std::int64_t before_x = w.edge == Edge::valid ? 0 : w.anchor_x < 0 ? w.width / 2 : w.anchor_x;
  const std::int64_t before_y = w.edge == Edge::valid ? 0 : w.anchor_y < 0 ? w.height / 2 : w.anchor_y;
  Seen seen;
  for (std::int64_t r = y - before_y; r < y - before_y + w.height; ++r)
    for (std::int64_t c = x - before_x; c < x - before_x + w.width; ++c) {
      const std::int64_t px = oracle::shown(c, image.width, w.edge), py = oracle::shown(r, image.height, w.edge);
      const bool beyond = px < 0 || py < 0;
      if (beyond && w.edge != Edge::constant) continue;
      const long double pixel = beyond ? static_cast<long double>(w.value) : static_cast<long double>(image.at(px, py));
      seen.sum += pixel;
      seen.squares += pixel * pixel;
      ++seen.inside;
    }
  return seen;
}

Shape shape_of(const Window& w, std::int64_t width, std::int64_t height) {
  if (w.edge != Edge::valid) return {width, height};
  return {std::max<std::int64_t>(0, width - w.width + 1), std::max<std::int64_t>(0, height - w.height + 1)};
}

double value(const Padded& out, std::int64_t x, std::int64_t y) {
  return out.view().type == Type::f32 ? out.get<float>(x, y) : out.get<double>(x, y);
}

// The number of elements of `out` that differ from want(seen), beyond the rounding of out's type.
template <class P, class Want>
int differences(const Padded& out, const Image<P>& image, const Window& w, double tolerance, Want want) {
  int wrong = out.guards_stand() ? 0 : 1;
  for (std::int64_t y = 0; y < out.view().shape.height; ++y)
    for (std::int64_t x = 0; x < out.view().shape.width; ++x) {
      const double expected = want(look(image, w, x, y)), got = value(out, x, y);
      const double allowed = tolerance * std::max(1.0, std::fabs(expected)) +
                             (out.view().type == Type::f32 ? std::fabs(expected) * 0x1p-24 : 0);
      wrong += !(std::fabs(got - expected) <= allowed);
    }
  return wrong;
}

std::vector<Window> windows_for(Edge edge, double value) {
  std::vector<Window> all;
  for (const auto& [w, h] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {3, 2}, {5, 1}, {1, 6}, {7, 7}, {13, 9}, {21, 31}, {30, 40}}) {
    all.push_back({w, h, -1, -1, edge, value});
    all.push_back({w, h, 0, h - 1, edge, value});
    all.push_back({w, h, w - 1, 0, edge, value});
  }
  return all;
}

template <class P, class S, class Q>
void expect_windows(double lo, double hi, double tolerance, double beyond) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{19, 11}, {1, 5}, {6, 1}, {40, 3}})
    for (const Border border : {Border::zero, Border::none})
      for (const Edge edge : edges) {
        const auto image = oracle::random_image<P>(width, height, lo, hi, 61);
        const Table<S> sum(image, border);
        const Table<Q> squares(image, border,
                               [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); });
        int turn = 0;
        for (const Window& w : windows_for(edge, beyond)) {
          SCOPED_TRACE(testing::Message() << width << "x" << height << " " << areal::name_of(border) << " edge "
                                          << static_cast<int>(edge) << " window " << w.width << "x" << w.height
                                          << " at " << w.anchor_x << "," << w.anchor_y << " seed 61");
          const Type type = ++turn % 2 ? Type::f64 : Type::f32;
          const Shape shape = shape_of(w, width, height);
          Padded out(type, shape);
          ASSERT_EQ(areal::window_shape(width, height, w), shape);
          areal::window_sums(sum.view(), w, out.view(), {.threads = 1});
          EXPECT_EQ(differences(out, image, w, 0, [](const Seen& s) { return static_cast<double>(s.sum); }), 0);
          areal::window_means(sum.view(), w, out.view(), {.threads = 1});
          EXPECT_EQ(differences(out, image, w, 1e-15, [&](const Seen& s) { return s.mean(w); }), 0);
          areal::window_variances({sum.view(), squares.view()}, w, out.view(), {.threads = 1});
          EXPECT_EQ(differences(out, image, w, tolerance, [&](const Seen& s) { return s.variance(w); }), 0);
          areal::window_standard_deviations({sum.view(), squares.view()}, w, out.view(), {.threads = 1});
          EXPECT_EQ(
              differences(out, image, w, std::sqrt(tolerance), [&](const Seen& s) { return std::sqrt(s.variance(w)); }),
              0);
        }
      }
}

// The pictures of window.hpp's comments: abcd is 1, 2, 3, 4 and windows of one pixel look beyond it.
TEST(Windows, EdgesAreWhatTheirPicturesShow) {
  const Image<std::uint8_t> image{4, 1, {1, 2, 3, 4}};
  const Table<std::uint32_t> table(image, Border::zero);
  const auto around = [&](Edge edge) {
    // The window at pixel 0 of size 1 + n sees n pixels beyond the left edge: differences give them one by one.
    std::vector<double> seen;
    for (const bool left : {true, false}) {
      double before = 0;
      for (std::int64_t n = 0; n <= 9; ++n) {
        Padded out(Type::f64, {4, 1});
        areal::window_sums(table.view(), {1 + n, 1, left ? n : 0, 0, edge, 7}, out.view());
        const double sum = value(out, left ? 0 : 3, 0);
        if (n > 0) seen.push_back(sum - before);
        before = sum;
      }
    }
    return seen;
  };
  using Pixels = std::vector<double>;  // left of the image going left, then right of it going right
  EXPECT_EQ(around(Edge::replicate), (Pixels{1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(around(Edge::reflect), (Pixels{2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1}));
  EXPECT_EQ(around(Edge::symmetric), (Pixels{1, 2, 3, 4, 4, 3, 2, 1, 1, 4, 3, 2, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(around(Edge::wrap), (Pixels{4, 3, 2, 1, 4, 3, 2, 1, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1}));
  EXPECT_EQ(around(Edge::constant), Pixels(18, 7));
  EXPECT_EQ(around(Edge::zero), Pixels(18, 0));
}

TEST(Windows, OneFlippedElementIsCaught) {
  const auto image = oracle::random_image<std::uint8_t>(19, 11, 0, 255, 3);
  Table<std::uint32_t> table(image, Border::zero);
  const Window window{5, 3};
  Padded out(Type::f64, {19, 11});
  const auto sum = [](const Seen& s) { return static_cast<double>(s.sum); };
  areal::window_sums(table.view(), window, out.view());
  ASSERT_EQ(differences(out, image, window, 0, sum), 0);
  out.set(out.get<double>(18, 4) + 1, 18, 4);
  EXPECT_EQ(differences(out, image, window, 0, sum), 1);
  table.memory().set(table.memory().get<std::uint32_t>(8, 5) + 1, 8, 5);
  areal::window_sums(table.view(), window, out.view());
  EXPECT_EQ(differences(out, image, window, 0, sum), 4);
}

TEST(Windows, Of32u) { expect_windows<std::uint8_t, std::uint32_t, std::uint32_t>(0, 255, 1e-14, 201); }
TEST(Windows, Of32s) { expect_windows<std::int8_t, std::int32_t, std::uint64_t>(-128, 127, 1e-14, -128); }
TEST(Windows, Of64u) { expect_windows<std::uint16_t, std::uint64_t, std::uint64_t>(0, 65535, 1e-14, 65534); }
TEST(Windows, Of64s) { expect_windows<std::int16_t, std::int64_t, double>(-32768, 32767, 1e-14, -5); }
TEST(Windows, Of32f) { expect_windows<std::int8_t, float, float>(-9, 9, 1e-11, 2.5); }
TEST(Windows, Of64f) { expect_windows<std::int16_t, double, double>(-900, 900, 1e-9, -899.75); }

TEST(Windows, WrappedTablesAreExactAndSumsMayPass32Bits) {
  // Each piece of a replicated window fits 32 bits; the table, and a corner window's whole sum, do not.
  const auto image = oracle::random_image<std::uint32_t>(40, 30, 4e8, 4.5e8, 71);
  const auto below = oracle::random_image<std::int32_t>(40, 30, -2.3e8, -2e8, 72);
  const Table<std::uint32_t> table(image, Border::zero);
  const Table<std::int32_t> below_table(below, Border::none);
  const auto sum = [](const Seen& s) { return static_cast<double>(s.sum); };
  for (const Edge edge : edges) {
    const Window window{3, 3, edge == Edge::replicate ? 2 : -1, -1, edge};
    Padded out(Type::f64, shape_of(window, 40, 30));
    areal::window_sums(table.view(), window, out.view());
    EXPECT_EQ(differences(out, image, window, 0, sum), 0);
    areal::window_sums(below_table.view(), window, out.view());
    EXPECT_EQ(differences(out, below, window, 0, sum), 0);
  }
  const Window wide{21, 21, 20, 20, Edge::replicate};
  Padded out(Type::f64, {40, 30});
  areal::window_sums(table.view(), wide, out.view());
  EXPECT_EQ(value(out, 0, 0), 441.0 * image.at(0, 0));
  EXPECT_GT(value(out, 0, 0), 0x1p32);
}

// Pixels a and b in turn, windows of `width` of them, whose squares just fit 64 bits.
void expect_alternating(std::uint32_t a, std::uint32_t b, std::int64_t width, double variance) {
  Image<std::uint32_t> image{40, 4, {}};
  for (int i = 0; i < 160; ++i) image.pixels.push_back(i % 2 ? a : b);
  const Table<std::uint64_t> sum(image, Border::zero);
  const Table<std::uint64_t> squares(image, Border::zero, [](std::uint32_t p) { return std::uint64_t{p} * p; });
  Padded out(Type::f64, {41 - width, 4});
  areal::window_variances({sum.view(), squares.view()}, {width, 1, -1, -1, Edge::valid}, out.view());
  for (std::int64_t y = 0; y < 4; ++y)
    for (std::int64_t x = 0; x < out.view().shape.width; ++x) ASSERT_EQ(value(out, x, y), variance);
}

TEST(Windows, VariancesOfHugeIntegersAreExact) {
  // n S2 and S1^2 need more than 64 bits, and in the second image their difference does, as a signed number.
  expect_alternating(2147483647, 2147483646, 4, 0.25);
  expect_alternating(0, 4294967295, 2, 4294967295.0 * 4294967295.0 / 4);
}

TEST(Windows, ConstantImagesUnderAHugeOffsetHaveNoNegativeVariance) {
  const Image<double> image{50, 40, std::vector<double>(2000, 1e9 + 0.1)};
  const Table<double> sum(image, Border::zero);
  const Table<double> squares(image, Border::zero, [](double p) { return p * p; });
  for (const Edge edge : edges) {
    const Window window{7, 5, -1, -1, edge};
    Padded out(Type::f64, shape_of(window, 50, 40));
    areal::window_standard_deviations({sum.view(), squares.view()}, window, out.view());
    for (std::int64_t y = 0; y < out.view().shape.height; ++y)
      for (std::int64_t x = 0; x < out.view().shape.width; ++x) {
        ASSERT_TRUE(std::isfinite(value(out, x, y)));
        ASSERT_GE(value(out, x, y), 0);
      }
  }
}

TEST(Windows, RoundsAnyDouble) {
  const double nan = std::nan("");
  const auto as = [](double value, auto element) {
    using T = decltype(element);
    const TableView table{areal::ConstView(&value, 1, 1), Border::none};
    T out = 9;
    areal::window_sums(table, {1, 1}, View(&out, 1, 1));
    return static_cast<std::int64_t>(out);
  };
  const auto u8 = [&](double value) { return as(value, std::uint8_t{}); };
  const auto u16 = [&](double value) { return as(value, std::uint16_t{}); };
  for (const double value : {nan, -HUGE_VAL, -1e300, -1.0, -0.5, -0.0, 0.0, 5e-324, 0.25, 0.5}) {
    EXPECT_EQ(u8(value), 0) << value;
    EXPECT_EQ(u16(value), 0) << value;
  }
  EXPECT_EQ(u8(std::nextafter(0.5, 1)), 1);
  EXPECT_EQ(u8(1.5), 2);
  EXPECT_EQ(u8(2.5), 2);
  EXPECT_EQ(u8(253.5), 254);
  EXPECT_EQ(u8(254.5), 254);
  EXPECT_EQ(u16(65533.5), 65534);
  EXPECT_EQ(u16(65534.5), 65534);
  for (const double value : {254.75, 255.0, 255.5, 256.0, 300.0}) EXPECT_EQ(u8(value), 255) << value;
  for (const double value : {65534.75, 65535.5, 65536.0, 1e9, 0x1p63, 1e300, HUGE_VAL}) {
    EXPECT_EQ(u8(value), 255) << value;
    EXPECT_EQ(u16(value), 65535) << value;
  }
  const auto signed_type = [&](auto element) {
    using T = decltype(element);
    constexpr double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    for (const double value : {nan, -0.5, -0.0, 0.0, 0.5, -5e-324}) EXPECT_EQ(as(value, T{}), 0) << value;
    for (const double value : {-1.5, -2.0, -2.5}) EXPECT_EQ(as(value, T{}), -2) << value;
    EXPECT_EQ(as(std::nextafter(-0.5, -1), T{}), -1);
    for (const double value : {least - 1, least - 0.5, least, least + 0.25, -1e300, -HUGE_VAL})
      EXPECT_EQ(as(value, T{}), std::numeric_limits<T>::min()) << value;
    for (const double value : {most - 0.25, most, most + 0.5, most + 1, 1e300, HUGE_VAL})
      EXPECT_EQ(as(value, T{}), std::numeric_limits<T>::max()) << value;
    EXPECT_EQ(as(most - 0.5, T{}), std::numeric_limits<T>::max() - 1);
    EXPECT_EQ(as(least + 0.5, T{}), std::numeric_limits<T>::min());
  };
  signed_type(std::int8_t{});
  signed_type(std::int16_t{});
  signed_type(std::int32_t{});
}

TEST(Windows, ThreadsDoNotChangeABit) {
  std::mt19937_64 random(5);
  Image<double> image{700, 300, std::vector<double>(210000)};
  for (double& pixel : image.pixels) pixel = std::normal_distribution<double>(3, 100)(random);
  const Table<float> sum(image, Border::none);
  const Table<double> squares(image, Border::zero, [](double p) { return p * p; });
  Padded one(Type::f64, {700, 300}), many(Type::f64, {700, 300});
  areal::window_variances({sum.view(), squares.view()}, {31, 9, -1, -1, Edge::reflect}, one.view(), {.threads = 1});
  areal::window_variances({sum.view(), squares.view()}, {31, 9, -1, -1, Edge::reflect}, many.view(), {.threads = 2});
  for (std::int64_t y = 0; y < 300; ++y)
    ASSERT_EQ(std::memcmp(one.view().row(y), many.view().row(y), 700 * sizeof(double)), 0);
}

TEST(Windows, HugeWindowsAreWholeImages) {
  const auto image = oracle::random_image<std::uint8_t>(9, 7, 0, 255, 81);
  const Table<std::uint32_t> table(image, Border::zero);
  const double all = static_cast<double>(oracle::sum<std::uint64_t>(image, 0, 0, 9, 7, oracle::identity));
  Padded out(Type::f64, {9, 7});
  const std::int64_t huge = std::int64_t{1} << 62;
  areal::window_means(table.view(), {huge, huge, -1, -1, Edge::shrink}, out.view());
  EXPECT_EQ(value(out, 4, 4), all / 63);
  areal::window_sums(table.view(), {1 << 20, 1 << 20, -1, -1, Edge::zero}, out.view());
  EXPECT_EQ(value(out, 8, 0), all);
  areal::window_means(table.view(), {1 << 20, 1 << 20, -1, -1, Edge::zero}, out.view());
  EXPECT_EQ(value(out, 8, 0), all / 0x1p40);
  // Whole periods of every copy: each pixel as often as any other.
  areal::window_sums(table.view(), {9 << 20, 7 << 20, -1, -1, Edge::wrap}, out.view());
  EXPECT_EQ(value(out, 3, 2), all * 0x1p40);
  areal::window_sums(table.view(), {9 << 20, 7 << 20, 1, 6, Edge::symmetric}, out.view());
  EXPECT_EQ(value(out, 3, 2), all * 0x1p40);
  areal::window_sums(table.view(), {1 << 20, 1 << 20, -1, -1, Edge::constant, 200}, out.view());
  EXPECT_EQ(value(out, 8, 0), all + 200 * (0x1p40 - 63));
  Padded none(Type::f64, {0, 0});
  areal::window_sums(table.view(), {10, 8, -1, -1, Edge::valid}, none.view());
}

TEST(Windows, WhatCannotBeIsRefused) {
  const auto image = oracle::random_image<std::uint8_t>(9, 7, 0, 255, 81);
  const Table<std::uint32_t> table(image, Border::zero), exclusive(image, Border::exclusive);
  Padded out(Type::f64, {9, 7}), wrong_type(Type::u32, {9, 7}), wrong_shape(Type::f64, {8, 7});
  for (const Window& w :
       {Window{0, 1}, Window{1, 0}, Window{-3, 3}, Window{3, 3, 3, 0}, Window{3, 3, 0, -2},
        Window{(std::int64_t{1} << 62) + 1, 1}, Window{1 << 20, std::int64_t{1} << 50, -1, -1, Edge::zero}})
    EXPECT_THROW(areal::window_sums(table.view(), w, out.view()), InvalidArgument);
  EXPECT_THROW(areal::window_shape(9, 7, {0, 1}), InvalidArgument);
  EXPECT_THROW(areal::window_sums(table.view(), {3, 3}, wrong_type.view()), InvalidArgument);
  EXPECT_THROW(areal::window_sums(table.view(), {3, 3}, wrong_shape.view()), InvalidArgument);
  EXPECT_THROW(areal::window_sums(exclusive.view(), {3, 3}, out.view()), InvalidArgument);
  // What lies beyond an image of whole numbers is one, too, and of its sign.
  const auto beyond = [](double value) { return Window{3, 3, -1, -1, Edge::constant, value}; };
  const Table<std::int32_t> below(image, Border::zero);
  const Table<double> reals_table(image, Border::zero);
  for (const double wrong : {0.5, -1.0, 0x1p32, std::nan(""), HUGE_VAL})
    EXPECT_THROW(areal::window_sums(table.view(), beyond(wrong), out.view()), InvalidArgument) << wrong;
  for (const double wrong : {0.5, 0x1p31, -0x1p31 - 1})
    EXPECT_THROW(areal::window_sums(below.view(), beyond(wrong), out.view()), InvalidArgument) << wrong;
  EXPECT_NO_THROW(areal::window_sums(below.view(), beyond(-0x1p31), out.view()));
  EXPECT_NO_THROW(areal::window_sums(table.view(), beyond(0x1p32 - 1), out.view()));
  EXPECT_NO_THROW(areal::window_sums(reals_table.view(), beyond(0.5), out.view()));
  EXPECT_NO_THROW(areal::window_sums(table.view(), {3, 3, -1, -1, Edge::zero, 0.5}, out.view())) << "not looked at";
  std::vector<double> same(80);
  const TableView reals{areal::ConstView(same.data(), 10, 8), Border::zero};
  EXPECT_THROW(areal::window_sums(reals, {3, 3}, View(same.data(), 9, 7)), InvalidArgument);
}

TEST(Windows, ImagesWithoutPixelsGiveNothing) {
  const Image<std::uint8_t> image{0, 4, {}};
  const Table<std::uint32_t> table(image, Border::zero);
  Padded out(Type::f64, {0, 4});
  for (const Edge edge : edges)
    if (edge != Edge::valid) areal::window_variances({table.view(), table.view()}, {3, 3, -1, -1, edge}, out.view());
  EXPECT_TRUE(out.guards_stand());
}

}  // namespace
