// Regions and windows of tables with several channels and images: every plane's answers, in the documented order.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <areal/window.hpp>
#include <cmath>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::ConstView;
using areal::InvalidArgument;
using areal::Layout;
using areal::QueryOptions;
using areal::Region;
using areal::SatView;
using areal::Shape;
using areal::Type;
using areal::View;
using areal::Window;
using oracle::Padded;
using oracle::Planes;
using oracle::Table;

constexpr std::int64_t width = 17, height = 9;
constexpr auto square = [](auto p) { return static_cast<std::uint64_t>(p) * static_cast<std::uint64_t>(p); };

struct Many {
  std::int64_t channels, batch;
  Layout layout;
};
const Many shapes[] = {{1, 1, Layout::planar},      {1, 4, Layout::interleaved}, {3, 1, Layout::interleaved},
                       {3, 1, Layout::planar},      {3, 2, Layout::interleaved}, {4, 3, Layout::planar},
                       {7, 2, Layout::interleaved}, {2, 5, Layout::planar}};

template <class F>
void for_each_shape(const F& f) {
  for (const Many& m : shapes)
    for (const Border border : {Border::zero, Border::none}) {
      SCOPED_TRACE(testing::Message() << m.channels << (m.layout == Layout::planar ? " planar" : " interleaved")
                                      << " channels, batch " << m.batch << ", " << areal::name_of(border)
                                      << ", seeds 100 and on");
      f(m, border);
    }
}

template <class T, class P>
Planes<T, P> planes(const Many& m, Border border, std::uint64_t seed = 100) {
  return Planes<T, P>(width, height, m.channels, m.batch, m.layout, border, 0, 255, seed, oracle::identity);
}

// How many sums are not the images' own.
template <class T, class Out, class P>
std::size_t wrong_sums(const Planes<T, P>& tables, const std::vector<Region>& regions) {
  const std::size_t n = tables.images().size();
  std::vector<Out> out(regions.size() * n, Out{77});
  areal::region_sums(tables.view(), regions, areal::Span<Out>(out), {.execution = {.threads = 2}});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::size_t p = 0; p < n; ++p) {
      const Region& r = regions[i];
      wrong += out[i * n + p] != static_cast<Out>(oracle::sum<std::uint64_t>(tables.images()[p], r.x, r.y, r.width,
                                                                             r.height, oracle::identity));
    }
  return wrong;
}

TEST(Planes, OneFlippedElementIsCaught) {
  auto tables = planes<std::uint32_t, std::uint8_t>({3, 2, Layout::interleaved}, Border::zero);
  const std::vector<Region> regions{{1, 2, 3, 4}, {2, 2, 3, 4}};
  ASSERT_EQ((wrong_sums<std::uint32_t, std::uint64_t>(tables, regions)), 0u);
  tables.memory().set<std::uint32_t>(tables.memory().get<std::uint32_t>(4, 6, 1, 1) + 1, 4, 6, 1, 1);
  EXPECT_EQ((wrong_sums<std::uint32_t, std::uint64_t>(tables, regions)), 1u);
}

TEST(Planes, SumsOfRegions) {
  const auto regions = oracle::regions_inside(width, height, 7);
  for_each_shape([&](const Many& m, Border border) {
    EXPECT_EQ((wrong_sums<std::uint32_t, std::uint64_t>(planes<std::uint32_t, std::uint8_t>(m, border), regions)), 0u);
    EXPECT_EQ((wrong_sums<std::int64_t, std::int64_t>(planes<std::int64_t, std::uint8_t>(m, border), regions)), 0u);
    EXPECT_EQ((wrong_sums<float, double>(planes<float, std::uint8_t>(m, border), regions)), 0u);
  });
}

// Those of one plane at a time, from tables of that plane alone; their own tests hold them to the pixels.
TEST(Planes, StatisticsOfRegionsAreThoseOfEachPlane) {
  const auto regions = oracle::regions_inside(width, height, 8);
  for_each_shape([&](const Many& m, Border border) {
    const auto sum = planes<std::uint32_t, std::uint8_t>(m, border);
    const Planes<std::uint64_t, std::uint8_t> squares(width, height, m.channels, m.batch, Layout::planar, Border::zero,
                                                      0, 255, 100, square);
    for (const std::int64_t count_channels : {std::int64_t{1}, m.channels}) {
      const Planes<std::uint32_t, std::uint8_t> counts(width, height, count_channels, m.batch, Layout::interleaved,
                                                       Border::none, 0, 1, 300, oracle::identity);
      for (const bool counted : {false, true}) {
        const std::size_t n = sum.images().size();
        std::vector<double> mean(regions.size() * n), variance(mean), deviation(mean), want(regions.size());
        SatView tables(sum.view(), squares.view());
        if (counted) tables.count = counts.view();
        const QueryOptions two{.execution = {.threads = 2}}, alone{.execution = {.threads = 1}};
        areal::region_means(tables, regions, mean, two);
        areal::region_variances(tables, regions, variance, two);
        areal::region_standard_deviations(tables, regions, deviation, two);
        for (std::size_t p = 0; p < n; ++p) {
          const auto count_plane = count_channels == 1 ? p / static_cast<std::size_t>(m.channels) : p;
          const Table<std::uint32_t> one(sum.images()[p], border),
              one_count(counts.images()[count_plane], Border::zero);
          const Table<std::uint64_t> one_squares(sum.images()[p], border, square);
          SatView of_one(one.view(), one_squares.view());
          if (counted) of_one.count = one_count.view();
          const auto expect_plane = [&](const std::vector<double>& all) {
            for (std::size_t i = 0; i < regions.size(); ++i) {
              const double got = all[i * n + p];
              ASSERT_TRUE(got == want[i] || (std::isnan(got) && std::isnan(want[i])))
                  << "region " << i << " plane " << p;
            }
          };
          areal::region_means(of_one, regions, want, alone);
          expect_plane(mean);
          areal::region_variances(of_one, regions, want, alone);
          expect_plane(variance);
          areal::region_standard_deviations(of_one, regions, want, alone);
          expect_plane(deviation);
        }
      }
    }
  });
}

template <class T>
void expect_windows(const Window& window) {
  for_each_shape([&](const Many& m, Border border) {
    const auto sum = planes<std::uint32_t, std::uint8_t>(m, border);
    const Planes<double, std::uint8_t> squares(width, height, m.channels, m.batch, Layout::planar, border, 0, 255, 100,
                                               square);
    Shape shape = areal::window_shape(width, height, window);
    shape.channels = m.channels, shape.batch = m.batch;
    for (const Layout layout : {Layout::planar, Layout::interleaved}) {
      shape.layout = layout;
      Padded sums(areal::type_of<T>, shape), means(areal::type_of<T>, shape), deviations(areal::type_of<T>, shape);
      areal::window_sums(sum.view(), window, sums.view(), {.threads = 2});
      areal::window_means(sum.view(), window, means.view(), {.threads = 2});
      areal::window_standard_deviations({sum.view(), squares.view()}, window, deviations.view(), {.threads = 2});
      EXPECT_TRUE(sums.guards_stand() && means.guards_stand() && deviations.guards_stand());
      for (std::int64_t p = 0; p < m.channels * m.batch; ++p) {
        const auto& image = sum.images()[static_cast<std::size_t>(p)];
        const Table<std::uint32_t> one(image, border);
        const Table<double> one_squares(image, border, square);
        Padded want(areal::type_of<T>, {shape.width, shape.height});
        const auto differences = [&](const Padded& got) {
          int wrong = 0;
          for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x)
              wrong += got.get<T>(x, y, p % m.channels, p / m.channels) != want.get<T>(x, y);
          return wrong;
        };
        areal::window_sums(one.view(), window, want.view(), {.threads = 1});
        ASSERT_EQ(differences(sums), 0) << p;
        areal::window_means(one.view(), window, want.view(), {.threads = 1});
        ASSERT_EQ(differences(means), 0) << p;
        areal::window_standard_deviations({one.view(), one_squares.view()}, window, want.view(), {.threads = 1});
        ASSERT_EQ(differences(deviations), 0) << p;
      }
    }
  });
}
TEST(Planes, WindowsAreThoseOfEachPlane) {
  expect_windows<double>({5, 3});
  expect_windows<float>({4, 4, -1, -1, areal::Edge::valid});
  expect_windows<std::uint8_t>({3, 5, -1, -1, areal::Edge::wrap});
  expect_windows<std::uint16_t>({40, 2, -1, -1, areal::Edge::constant, 200});
}

TEST(Planes, WhatCannotBeIsRefused) {
  const auto tables = planes<std::uint32_t, std::uint8_t>({3, 2, Layout::planar}, Border::zero);
  const auto other = planes<std::uint32_t, std::uint8_t>({2, 3, Layout::planar}, Border::zero);
  const std::vector<Region> regions(4);
  std::vector<std::uint64_t> out(24), few(4);
  std::vector<double> reals(24);
  EXPECT_NO_THROW(areal::region_sums(tables.view(), regions, out));
  EXPECT_THROW(areal::region_sums(tables.view(), regions, few), InvalidArgument);
  EXPECT_THROW(areal::region_sum(tables.view(), Region{}), InvalidArgument);
  EXPECT_THROW(areal::region_variances({tables.view(), other.view()}, regions, reals), InvalidArgument);
  EXPECT_THROW(areal::region_means({tables.view(), std::nullopt, other.view()}, regions, reals), InvalidArgument);
  Padded one(Type::f64, {width, height}), swapped(Type::f64, {width, height, 2, 3});
  EXPECT_THROW(areal::window_sums(tables.view(), {3, 3}, one.view()), InvalidArgument);
  EXPECT_THROW(areal::window_sums(tables.view(), {3, 3}, swapped.view()), InvalidArgument);
  // A region outside is named once, whichever plane is at hand.
  std::vector<Region> beyond(4);
  beyond[2] = {width, 0, 1, 1};
  try {
    areal::region_sums(tables.view(), beyond, out);
    FAIL() << "threw nothing";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).find("region 2 "), 0u) << error.what();
  }
}

/// The forms that return vectors return a value for each region and plane, in the same order.
TEST(Planes, VectorsHaveEveryPlane) {
  const auto regions = oracle::regions_inside(width, height, 9);
  for_each_shape([&](const Many& m, Border border) {
    const auto sum = planes<std::uint32_t, std::uint8_t>(m, border);
    const Planes<std::uint64_t, std::uint8_t> squares(width, height, m.channels, m.batch, m.layout, border, 0, 255, 100,
                                                      square);
    const SatView tables(sum.view(), squares.view());
    const std::size_t n = regions.size() * sum.images().size();
    EXPECT_EQ(areal::answers_of(tables, regions.size()), n);
    std::vector<std::uint64_t> sums(n);
    areal::region_sums(tables, regions, sums);
    EXPECT_EQ(areal::region_sums<std::uint64_t>(tables, regions), sums);
    const auto expect_same = [&](const auto& query, const std::vector<double>& got) {
      std::vector<double> want(n, 77);
      query(tables, regions, areal::Span<double>(want), QueryOptions{});
      ASSERT_EQ(got.size(), n);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) << i;
    };
    const auto means = [](auto&&... a) { areal::region_means(a...); };
    const auto variances = [](auto&&... a) { areal::region_variances(a...); };
    const auto deviations = [](auto&&... a) { areal::region_standard_deviations(a...); };
    expect_same(means, areal::region_means(tables, regions));
    expect_same(variances, areal::region_variances(tables, regions));
    expect_same(deviations, areal::region_standard_deviations(tables, regions));
  });
  const auto tables = planes<std::uint32_t, std::uint8_t>({3, 2, Layout::planar}, Border::zero);
  EXPECT_THROW(areal::answers_of(tables.view(), std::size_t{1} << 62), InvalidArgument);
  EXPECT_THROW(areal::answers_of({ConstView(nullptr, Type::u32, {3, 3, 2}), Border::none}, 1), InvalidArgument);
}

/// Regions that cannot be answered are found once, and have no answers in any plane.
TEST(Planes, TheFirstInvalidRegionIsReported) {
  const auto tables = planes<std::int64_t, std::uint8_t>({3, 2, Layout::interleaved}, Border::zero);
  std::vector<Region> regions(400, Region{2, 3, 4, 5});
  const auto whole = areal::region_sums<std::int64_t>(tables.view(), regions);
  regions[77] = regions[391] = {width, 0, 1, 1};
  std::int64_t first = 5;
  const QueryOptions options{.execution = {.threads = 2}, .first_invalid = areal::Span<std::int64_t>(&first, 1)};
  const auto sums = areal::region_sums<std::int64_t>(tables.view(), regions, options);
  EXPECT_EQ(first, 77);
  first = 5;
  const auto means = areal::region_means(tables.view(), regions, options);
  EXPECT_EQ(first, 77);
  for (std::size_t i = 0; i < 400 * 6; ++i) {
    const bool invalid = i / 6 == 77 || i / 6 == 391;
    EXPECT_EQ(sums[i], invalid ? 0 : whole[i]) << i;
    EXPECT_EQ(std::isnan(means[i]), invalid) << i;
  }
  const auto none = planes<std::int64_t, std::uint8_t>({0, 2, Layout::planar}, Border::zero);
  EXPECT_TRUE(areal::region_sums(none.view(), regions, options).empty());
  EXPECT_EQ(first, -1) << "a table without planes";
}

}  // namespace
