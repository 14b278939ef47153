// Windows' whole numbers compared with quotients of whole numbers, on every SIMD target.
#include <gtest/gtest.h>
#include <areal/window.hpp>
#include <limits>
#include <numeric>
#include "cpu/simd.hpp"
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::Edge;
using areal::Rounding;
using areal::Window;
using oracle::Image;
using oracle::Padded;
using oracle::Table;

template <class F>
void on_every_simd_target(const F& f) {
  for (const std::string& target : areal::cpu::simd_targets()) {
    SCOPED_TRACE(target);
    ASSERT_TRUE(areal::cpu::only_simd_target(target));
    f();
  }
  areal::cpu::only_simd_target("");
}

// The whole number nearest to a quotient, half to even, held to T's range: in whole numbers alone.
template <class T>
std::int64_t rounded(std::int64_t sum, std::int64_t n) {
  const std::int64_t size = sum < 0 ? -sum : sum, whole = size / n, twice = 2 * (size % n);
  const std::int64_t nearest = whole + (twice > n || (twice == n && whole % 2 == 1) ? 1 : 0);
  return std::clamp<std::int64_t>(sum < 0 ? -nearest : nearest, std::numeric_limits<T>::min(),
                                  std::numeric_limits<T>::max());
}
// The words for OpenCV's.
std::int64_t opencv(std::int64_t sum, std::int64_t n) {
  const double exact = 8388608.0 / static_cast<double>(n);
  auto f = static_cast<std::int64_t>(std::floor(exact));
  std::int64_t d = n / 2;
  (exact - static_cast<double>(f) < 0.5 ? d : f) += 1;
  return std::min<std::int64_t>(255, ((std::max<std::int64_t>(0, sum) + d) * f) >> 23);
}

template <class P>
std::int64_t window_sum(const Image<P>& image, const Window& w, std::int64_t x, std::int64_t y) {
  const std::int64_t left = x - (w.anchor_x < 0 ? w.width / 2 : w.anchor_x),
                     top = y - (w.anchor_y < 0 ? w.height / 2 : w.anchor_y);
  std::int64_t sum = 0;
  for (std::int64_t r = top; r < top + w.height; ++r)
    for (std::int64_t c = left; c < left + w.width; ++c) {
      const std::int64_t px = oracle::shown(c, image.width, w.edge), py = oracle::shown(r, image.height, w.edge);
      sum += static_cast<std::int64_t>(px < 0 || py < 0 ? static_cast<P>(w.value) : image.at(px, py));
    }
  return sum;
}

struct Met {
  std::int64_t ties = 0, cut = 0;
};

template <class T, class S, class P>
void expect_rounded(const Image<P>& image, Met* met = nullptr) {
  const Table<S> table(image, Border::none);
  for (Window w : {Window{2, 1}, Window{4, 2, -1, -1, Edge::wrap}, Window{5, 3, -1, -1, Edge::symmetric},
                   Window{6, 1, 0, 0, Edge::constant, 77}, Window{1, 1}, Window{130, 1, 3, 0, Edge::replicate}}) {
    if (w.edge == Edge::shrink) w.edge = Edge::zero;
    for (const Rounding rounding : {Rounding::nearest, Rounding::opencv}) {
      w.rounding = rounding;
      Padded sums(areal::type_of<T>, {image.width, image.height}),
          means(areal::type_of<T>, {image.width, image.height});
      areal::window_sums(table.view(), w, sums.view());
      areal::window_means(table.view(), w, means.view());
      ASSERT_TRUE(sums.guards_stand() && means.guards_stand());
      const std::int64_t n = w.width * w.height;
      const bool fixed_point = rounding == Rounding::opencv && std::is_same_v<T, std::uint8_t> && n >= 2 && n <= 256;
      for (std::int64_t y = 0; y < image.height; ++y)
        for (std::int64_t x = 0; x < image.width; ++x) {
          const std::int64_t sum = window_sum(image, w, x, y);
          ASSERT_EQ((sums.get<T>(x, y)), rounded<T>(sum, 1)) << x << "," << y;
          ASSERT_EQ((means.get<T>(x, y)), fixed_point ? opencv(sum, n) : rounded<T>(sum, n)) << x << "," << y;
          if (met) met->ties += 2 * (sum % n) == n || 2 * (sum % n) == -n;
          if (met) met->cut += sum != rounded<T>(sum, 1);
        }
    }
  }
}

template <class T>
void expect_rounded_of_every_table() {
  Met met;
  expect_rounded<T, std::uint32_t>(oracle::random_image<std::uint8_t>(61, 23, 0, 255, 17), &met);
  expect_rounded<T, std::int32_t>(oracle::random_image<std::int16_t>(61, 23, -300, 600, 18));
  expect_rounded<T, std::uint64_t>(oracle::random_image<std::uint16_t>(61, 23, 0, 65535, 19));
  expect_rounded<T, std::int64_t>(oracle::random_image<std::int32_t>(61, 23, -70000, 140000, 20), &met);
  expect_rounded<T, std::int64_t>(oracle::random_image<std::int32_t>(61, 23, -2147483648.0, 2147483647.0, 21), &met);
  EXPECT_GT(met.ties, 50);
  EXPECT_GT(met.cut, 50);
}
TEST(WindowRounding, Of8u) {
  on_every_simd_target([] { expect_rounded_of_every_table<std::uint8_t>(); });
}
TEST(WindowRounding, Of8s) {
  on_every_simd_target([] { expect_rounded_of_every_table<std::int8_t>(); });
}
TEST(WindowRounding, Of16u) {
  on_every_simd_target([] { expect_rounded_of_every_table<std::uint16_t>(); });
}
TEST(WindowRounding, Of16s) {
  on_every_simd_target([] { expect_rounded_of_every_table<std::int16_t>(); });
}
TEST(WindowRounding, Of32s) {
  on_every_simd_target([] { expect_rounded_of_every_table<std::int32_t>(); });
}

// A row whose windows of n pixels have sums that step through `first`, `first` + 1, ..
Image<std::int32_t> ramp(std::int64_t n, std::int64_t first, std::int64_t steps) {
  Image<std::int32_t> image{n + steps - 1, 1, {}};
  const std::int64_t least = (first + 20 * n) / n - 20, more = first - least * n;  // for any first >= -20 n
  for (std::int64_t i = 0; i < n; ++i) image.pixels.push_back(static_cast<std::int32_t>(least + (i < more ? 1 : 0)));
  for (std::int64_t i = n; i < image.width; ++i)
    image.pixels.push_back(image.pixels[static_cast<std::size_t>(i - n)] + 1);
  return image;
}

// Means into 8u of n pixels that are not the whole numbers which want(sum, n) says, around some ties, 0 and 256.
template <class S, class Want>
int wrong_bytes(std::int64_t n, Rounding rounding, const Want& want) {
  int wrong = 0;
  for (const std::int64_t tie : {std::int64_t{0}, n / 2, 3 * n / 2, 100 * n + n / 2, 253 * n + n / 2, 254 * n + n / 2,
                                 255 * n + n / 2, 256 * n, 300 * n}) {
    const std::int64_t first = std::max<std::int64_t>(std::is_signed_v<S> ? -20 : 0, tie - 19), steps = 40;
    const auto image = ramp(n, first, steps);
    const Table<S> table(image, Border::zero);
    Padded out(areal::Type::u8, {steps, 1});
    areal::window_means(table.view(), {n, 1, -1, -1, Edge::valid, 0, rounding}, out.view(), {.threads = 1});
    for (std::int64_t i = 0; i < steps; ++i) wrong += out.get<std::uint8_t>(i, 0) != want(first + i, n);
  }
  return wrong;
}

TEST(WindowRounding, AWrongNumberIsCaught) {
  EXPECT_EQ(wrong_bytes<std::uint32_t>(6, Rounding::nearest, rounded<std::uint8_t>), 0);
  const auto half_up = [](std::int64_t sum, std::int64_t n) {
    return std::min<std::int64_t>(255, (2 * sum + n) / (2 * n));
  };
  EXPECT_GT(wrong_bytes<std::uint32_t>(6, Rounding::nearest, half_up), 0);
  EXPECT_GT(wrong_bytes<std::uint32_t>(6, Rounding::opencv, rounded<std::uint8_t>), 0);
  EXPECT_GT(wrong_bytes<std::uint32_t>(10, Rounding::nearest, opencv), 0);
}

// The vectors' products with a reciprocal serve up to 8191 pixels.
TEST(WindowRounding, TiesOfAnyNumberOfPixels) {
  on_every_simd_target([] {
    for (std::int64_t n = 1; n < 8300; n += n < 600 || n > 8150 ? 1 : 37) {
      ASSERT_EQ(wrong_bytes<std::uint32_t>(n, Rounding::nearest, rounded<std::uint8_t>), 0) << n;
      ASSERT_EQ(wrong_bytes<std::int32_t>(n, Rounding::nearest, rounded<std::uint8_t>), 0) << n;
    }
    for (const std::int64_t n : {16384, 30000, 65536})
      ASSERT_EQ(wrong_bytes<std::uint32_t>(n, Rounding::nearest, rounded<std::uint8_t>), 0) << n;
  });
}

TEST(WindowRounding, OpenCvsOf2To256Pixels) {
  on_every_simd_target([] {
    for (std::int64_t n = 2; n <= 256; ++n) {
      ASSERT_EQ(wrong_bytes<std::uint32_t>(n, Rounding::opencv, opencv), 0) << n;
      ASSERT_EQ(wrong_bytes<std::int32_t>(n, Rounding::opencv, opencv), 0) << n;
      ASSERT_EQ(wrong_bytes<std::int64_t>(n, Rounding::opencv, opencv), 0) << n;
    }
    for (const std::int64_t n : {1, 257, 961})
      ASSERT_EQ(wrong_bytes<std::uint32_t>(n, Rounding::opencv, rounded<std::uint8_t>), 0) << n;
  });
}

}  // namespace
