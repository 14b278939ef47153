// Means and variances of regions compared with the image itself.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <cmath>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::Region;
using oracle::Image;
using oracle::Table;

TEST(RegionMeans, OfPixelsAndOfValidPixels) {
  const auto image = oracle::random_image<std::int32_t>(20, 15, -40, 90, 11);
  const auto valid = oracle::random_image<std::uint32_t>(20, 15, 0, 1, 8);
  Image<std::int32_t> kept = image;
  for (std::size_t i = 0; i < kept.pixels.size(); ++i) kept.pixels[i] *= static_cast<std::int32_t>(valid.pixels[i]);
  const Table<std::int32_t> table(image, Border::zero), kept_table(kept, Border::zero);
  const Table<std::uint32_t> count(valid, Border::none);
  const auto regions = oracle::regions_inside(20, 15, 9);
  std::vector<double> means(regions.size()), valid_means(regions.size());
  areal::region_means(table.view(), regions, means);
  areal::region_means({kept_table.view(), {}, count.view()}, regions, valid_means);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    double sum = 0, pixels = 0, valid_sum = 0, valid_pixels = 0;
    for (std::int64_t y = r.y; y < r.y + r.height; ++y)
      for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
        sum += image.at(x, y);
        ++pixels;
        valid_sum += image.at(x, y) * static_cast<double>(valid.at(x, y));
        valid_pixels += valid.at(x, y);
      }
    EXPECT_TRUE(pixels == 0 ? std::isnan(means[i]) : means[i] == sum / pixels) << i;
    EXPECT_TRUE(valid_pixels == 0 ? std::isnan(valid_means[i]) : valid_means[i] == valid_sum / valid_pixels) << i;
  }
}

// The variance by its definition, in 64 bits of mantissa.
template <class P>
double variance_of(const Image<P>& image, const Region& r) {
  long double mean = 0, sum = 0;
  const long double n = static_cast<long double>(r.width) * r.height;
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x) mean += image.at(x, y) / n;
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x) sum += (image.at(x, y) - mean) * (image.at(x, y) - mean);
  return static_cast<double>(sum / n);
}

template <class P, class S, class Q>
void expect_variances(double lo, double hi, double tolerance) {
  const auto image = oracle::random_image<P>(25, 19, lo, hi, 31);
  const auto square = [](P p) { return static_cast<oracle::Wide<Q>>(p) * static_cast<oracle::Wide<Q>>(p); };
  const auto regions = oracle::regions_inside(25, 19, 32);
  for (const Border border : {Border::zero, Border::none}) {
    const Table<S> sum(image, border);
    const Table<Q> squares(image, border, square);
    std::vector<double> variances(regions.size()), deviations(regions.size());
    areal::region_variances({sum.view(), squares.view()}, regions, variances);
    areal::region_standard_deviations({sum.view(), squares.view()}, regions, deviations);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (regions[i].width * regions[i].height == 0) {
        EXPECT_TRUE(std::isnan(variances[i]));
        continue;
      }
      const double want = variance_of(image, regions[i]);
      EXPECT_NEAR(variances[i], want, tolerance * std::max(1.0, want)) << i;
      EXPECT_GE(variances[i], 0);
      EXPECT_EQ(deviations[i], std::sqrt(variances[i]));
    }
  }
}

TEST(RegionVariances, OfEveryKindOfTables) {
  expect_variances<std::uint8_t, std::uint32_t, std::uint32_t>(0, 255, 1e-14);
  expect_variances<std::uint8_t, std::uint32_t, std::uint64_t>(0, 255, 1e-14);
  expect_variances<std::int16_t, std::int32_t, std::uint64_t>(-32768, 32767, 1e-14);
  expect_variances<std::int16_t, std::int64_t, double>(-32768, 32767, 1e-14);
  expect_variances<std::uint16_t, std::uint32_t, double>(0, 65535, 1e-14);
  expect_variances<std::int16_t, double, double>(-1000, 1000, 1e-8);
  expect_variances<std::int16_t, float, float>(-10, 10, 1e-3);
}

TEST(RegionVariances, NeitherNegativeNorNanUnderAHugeOffset) {
  Image<double> image{64, 48, std::vector<double>(64 * 48, 1e9 + 0.1)};
  for (const double noise : {0.0, 1e-7, 1e-3}) {
    std::mt19937_64 random(3);
    for (double& pixel : image.pixels) pixel = 1e9 + 0.1 + noise * static_cast<double>(random() % 100);
    const Table<double> sum(image, Border::zero);
    const Table<double> squares(image, Border::zero, [](double p) { return p * p; });
    const auto regions = oracle::regions_inside(64, 48, 41);
    std::vector<double> out(regions.size());
    areal::region_standard_deviations({sum.view(), squares.view()}, regions, out);
    int some = 0;
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (regions[i].width * regions[i].height > 0) {
        ASSERT_TRUE(std::isfinite(out[i])) << i;
        ASSERT_GE(out[i], 0);
        ++some;
      }
    EXPECT_GT(some, 150);
  }
}

TEST(RegionVariances, IntegersAreExactWhereDoublesAreNot) {
  // Values 2^31 - 1 and 2^31 - 2 in turn: the variance is 1/4, thirty digits below the squares.
  Image<std::uint32_t> image{16, 16, {}};
  for (int i = 0; i < 256; ++i) image.pixels.push_back(2147483647u - static_cast<unsigned>((i + i / 16) % 2));
  const Table<std::uint64_t> sum(image, Border::zero);
  const Table<std::uint64_t> squares(image, Border::zero,
                                     [](std::uint32_t p) { return static_cast<std::uint64_t>(p) * p; });
  const Region region{2, 1, 2, 2};  // its squares just fit 64 bits; the table's do not, nor does n times them
  double variance = 0;
  areal::region_variances({sum.view(), squares.view()}, std::span(&region, 1), std::span(&variance, 1));
  EXPECT_EQ(variance, 0.25);
}

TEST(RegionVariances, OverValidPixels) {
  const auto image = oracle::random_image<std::uint32_t>(20, 15, 0, 200, 51);
  const auto valid = oracle::random_image<std::uint32_t>(20, 15, 0, 1, 52);
  Image<std::uint32_t> kept = image;
  for (std::size_t i = 0; i < kept.pixels.size(); ++i) kept.pixels[i] *= valid.pixels[i];
  const Table<std::uint32_t> sum(kept, Border::zero), count(valid, Border::zero);
  const Table<std::uint64_t> squares(kept, Border::none, [](std::uint32_t p) { return std::uint64_t{p} * p; });
  const auto regions = oracle::regions_inside(20, 15, 53);
  std::vector<double> out(regions.size());
  areal::region_variances({sum.view(), squares.view(), count.view()}, regions, out, {.execution = {.threads = 2}});
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    std::vector<double> values;
    for (std::int64_t y = r.y; y < r.y + r.height; ++y)
      for (std::int64_t x = r.x; x < r.x + r.width; ++x)
        if (valid.at(x, y)) values.push_back(image.at(x, y));
    if (values.empty()) {
      EXPECT_TRUE(std::isnan(out[i]));
      continue;
    }
    double mean = 0, want = 0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    for (const double v : values) want += (v - mean) * (v - mean) / static_cast<double>(values.size());
    EXPECT_NEAR(out[i], want, 1e-9);
  }
}

}  // namespace
