// Regions and windows of tables with several channels and images: every plane's answers, in the documented order.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <cmath>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::ConstView;
using areal::InvalidArgument;
using areal::Layout;
using areal::Region;
using areal::Shape;
using areal::TableView;
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
  areal::region_sums(tables.view(), regions, std::span<Out>(out), areal::Outside::error, 2);
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
        const TableView count = counts.view();
        const TableView* const with = counted ? &count : nullptr;
        areal::region_means(sum.view(), regions, mean, areal::Outside::error, 2, with);
        areal::region_variances(sum.view(), squares.view(), regions, variance, areal::Outside::error, 2, with);
        areal::region_standard_deviations(sum.view(), squares.view(), regions, deviation, areal::Outside::error, 2,
                                          with);
        for (std::size_t p = 0; p < n; ++p) {
          const auto count_plane = count_channels == 1 ? p / static_cast<std::size_t>(m.channels) : p;
          const Table<std::uint32_t> one(sum.images()[p], border),
              one_count(counts.images()[count_plane], Border::zero);
          const Table<std::uint64_t> one_squares(sum.images()[p], border, square);
          const TableView count_view = one_count.view();
          const TableView* const one_with = counted ? &count_view : nullptr;
          const auto expect_plane = [&](const std::vector<double>& all) {
            for (std::size_t i = 0; i < regions.size(); ++i) {
              const double got = all[i * n + p];
              ASSERT_TRUE(got == want[i] || (std::isnan(got) && std::isnan(want[i])))
                  << "region " << i << " plane " << p;
            }
          };
          areal::region_means(one.view(), regions, want, areal::Outside::error, 1, one_with);
          expect_plane(mean);
          areal::region_variances(one.view(), one_squares.view(), regions, want, areal::Outside::error, 1, one_with);
          expect_plane(variance);
          areal::region_standard_deviations(one.view(), one_squares.view(), regions, want, areal::Outside::error, 1,
                                            one_with);
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
      areal::window_sums(sum.view(), window, sums.view(), 2);
      areal::window_means(sum.view(), window, means.view(), 2);
      areal::window_standard_deviations(sum.view(), squares.view(), window, deviations.view(), 2);
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
        areal::window_sums(one.view(), window, want.view(), 1);
        ASSERT_EQ(differences(sums), 0) << p;
        areal::window_means(one.view(), window, want.view(), 1);
        ASSERT_EQ(differences(means), 0) << p;
        areal::window_standard_deviations(one.view(), one_squares.view(), window, want.view(), 1);
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
  EXPECT_NO_THROW(areal::region_sums(tables.view(), regions, std::span(out)));
  EXPECT_THROW(areal::region_sums(tables.view(), regions, std::span(few)), InvalidArgument);
  EXPECT_THROW(areal::region_sum(tables.view(), Region{}), InvalidArgument);
  EXPECT_THROW(areal::region_variances(tables.view(), other.view(), regions, reals), InvalidArgument);
  const TableView count = other.view();
  EXPECT_THROW(areal::region_means(tables.view(), regions, reals, areal::Outside::error, 1, &count), InvalidArgument);
  Padded one(Type::f64, {width, height}), swapped(Type::f64, {width, height, 2, 3});
  EXPECT_THROW(areal::window_sums(tables.view(), {3, 3}, one.view()), InvalidArgument);
  EXPECT_THROW(areal::window_sums(tables.view(), {3, 3}, swapped.view()), InvalidArgument);
  // A region outside is named once, whichever plane is at hand.
  std::vector<Region> beyond(4);
  beyond[2] = {width, 0, 1, 1};
  try {
    areal::region_sums(tables.view(), beyond, std::span(out));
    FAIL() << "threw nothing";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).find("region 2 "), 0u) << error.what();
  }
}

}  // namespace
