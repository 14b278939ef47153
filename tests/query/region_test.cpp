// Sums of regions compared with the image itself.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/region.hpp>
#include <cmath>
#include <limits>
#include <string>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::InvalidArgument;
using areal::Outside;
using areal::Region;
using areal::TableView;
using oracle::Image;
using oracle::Table;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The widest type of T's kind.
template <class T>
using Answer = std::conditional_t<std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class T>
std::vector<Answer<T>> sums(const TableView& table, const std::vector<Region>& regions, int threads = 1) {
  std::vector<Answer<T>> out(regions.size(), Answer<T>{77});
  areal::region_sums(table, regions, areal::Span<Answer<T>>(out), {.execution = {.threads = threads}});
  return out;
}

// True if every sum of the table is the image's.
template <class T, class P>
bool agrees(const TableView& table, const Image<P>& image, const std::vector<Region>& regions) {
  const auto got = sums<T>(table, regions);
  std::vector<double> reals(regions.size());
  areal::region_sums(table, regions, std::span<double>(reals));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Region& r = regions[i];
    const auto want = static_cast<Answer<T>>(oracle::sum<T>(image, r.x, r.y, r.width, r.height, oracle::identity));
    if (got[i] != want || reals[i] != static_cast<double>(want)) return false;
  }
  return true;
}

template <class T>
class RegionSums : public testing::Test {};
using TableTypes = testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(RegionSums, TableTypes);

// Integers small enough that float tables are exact, too.
template <class T>
Image<T> small_image(std::int64_t width, std::int64_t height) {
  return oracle::random_image<T>(width, height, std::is_unsigned_v<T> ? 0 : -40, 90, 11);
}

TYPED_TEST(RegionSums, OneFlippedElementIsCaught) {
  const auto image = small_image<TypeParam>(9, 7);
  Table<TypeParam> table(image, Border::zero);
  ASSERT_TRUE(agrees<TypeParam>(table.view(), image, {{2, 1, 4, 3}}));
  table.memory().set(static_cast<TypeParam>(table.memory().template get<TypeParam>(6, 4) + 1), 6, 4);
  EXPECT_FALSE(agrees<TypeParam>(table.view(), image, {{2, 1, 4, 3}}));
}

TYPED_TEST(RegionSums, EveryBorderAndShape) {
  for (const Border border : borders)
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {1, 9}, {13, 1}, {37, 23}}) {
      SCOPED_TRACE(testing::Message() << areal::name_of(border) << " " << width << "x" << height << " seed 5");
      const auto image = small_image<TypeParam>(width, height);
      const Table<TypeParam> table(image, border);
      auto regions = oracle::regions_inside(width, height, 5);
      if (border == Border::exclusive)
        std::erase_if(regions, [&, w = width, h = height](const Region& r) { return oracle::touches_last(r, w, h); });
      EXPECT_TRUE(agrees<TypeParam>(table.view(), image, regions));
    }
}

TYPED_TEST(RegionSums, SplitRegionsAddUp) {
  const auto image = small_image<TypeParam>(31, 17);
  const Table<TypeParam> table(image, Border::none);
  for (std::int64_t cut = 0; cut <= 20; ++cut) {
    const auto parts = sums<TypeParam>(table.view(), {{4, 3, 20, 11}, {4, 3, cut, 11}, {4 + cut, 3, 20 - cut, 11}});
    EXPECT_EQ(parts[0], parts[1] + parts[2]);
  }
}

TYPED_TEST(RegionSums, ThreadsDoNotChangeAnything) {
  const auto image = oracle::random_image<TypeParam>(200, 150, 0, 1e6, 3);
  const Table<TypeParam> table(image, Border::zero);
  std::vector<Region> regions;
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    for (const Region& r : oracle::regions_inside(200, 150, seed)) regions.push_back(r);
  EXPECT_EQ(sums<TypeParam>(table.view(), regions, 1), sums<TypeParam>(table.view(), regions, 3));
}

TEST(RegionSum, WrappedTablesAreExact) {
  // 900 pixels around 4e9 / 9 wrap 32 bits many times; nine of them fit.
  const auto image = oracle::random_image<std::uint32_t>(30, 30, 4e8, 4.7e8, 21);
  const Table<std::uint32_t> table(image, Border::zero);
  const auto negative = oracle::random_image<std::int32_t>(30, 30, -2.3e8, -2e8, 22);
  const Table<std::int32_t> negative_table(negative, Border::none);
  std::vector<Region> regions;
  for (std::int64_t y = 0; y <= 27; ++y)
    for (std::int64_t x = 0; x <= 27; ++x) regions.push_back({x, y, 3, 3});
  EXPECT_TRUE(agrees<std::uint32_t>(table.view(), image, regions));
  EXPECT_TRUE(agrees<std::int32_t>(negative_table.view(), negative, regions));
}

TEST(RegionSum, OutsideIsAnErrorThatNamesRegionAndImage) {
  const auto image = small_image<std::uint32_t>(10, 8);
  const Table<std::uint32_t> table(image, Border::zero);
  std::uint64_t out[2];
  const auto ask = [&](const Region& r, Outside outside = Outside::error) {
    const Region both[] = {{0, 0, 1, 1}, r};
    areal::region_sums(table.view(), both, std::span<std::uint64_t>(out), {.outside = outside});
  };
  for (const Region& r :
       {Region{-1, 0, 2, 2}, Region{0, -1, 2, 2}, Region{9, 0, 2, 1}, Region{0, 7, 1, 2}, Region{11, 0, 0, 0},
        Region{1, 0, most, 1}, Region{0, 1, 1, most}, Region{most, 0, most, 1}, Region{-most - 1, 0, 1, 1}}) {
    const std::string text = message_of([&] { ask(r); });
    EXPECT_NE(text.find("region 1 (x " + std::to_string(r.x)), std::string::npos) << text;
    EXPECT_NE(text.find("outside the image of 10x8"), std::string::npos) << text;
  }
  for (const Outside outside : {Outside::error, Outside::clip}) {
    EXPECT_NE(message_of([&] { ask({0, 0, -1, 2}, outside); }).find("may not be negative"), std::string::npos);
    EXPECT_THROW(ask({0, 0, 2, -most - 1}, outside), InvalidArgument);
  }
}

TEST(RegionSum, ClippedRegionsAnswerForThePartInside) {
  const auto image = small_image<std::int64_t>(10, 8);
  for (const Border border : {Border::zero, Border::none}) {
    const Table<std::int64_t> table(image, border);
    for (const Region& r : {Region{-3, -2, 5, 5}, Region{8, 6, 9, 9}, Region{-5, -5, 100, 100}, Region{20, 20, 5, 5},
                            Region{-9, 0, 4, 4}, Region{2, 3, 0, 5}}) {
      std::int64_t got = 77;
      areal::region_sums(table.view(), std::span(&r, 1), std::span(&got, 1), {.outside = Outside::clip});
      EXPECT_EQ(static_cast<std::uint64_t>(got),
                oracle::sum<std::int64_t>(image, r.x, r.y, r.width, r.height, oracle::identity));
    }
    const double all = areal::region_sum(table.view(), {0, 0, 10, 8});
    EXPECT_EQ(areal::region_sum(table.view(), {0, 0, most, most}, {.outside = Outside::clip}), all);
    EXPECT_EQ(areal::region_sum(table.view(), {2, 3, most, most}, {.outside = Outside::clip}),
              areal::region_sum(table.view(), {2, 3, 8, 5}));
    EXPECT_EQ(areal::region_sum(table.view(), {most, most, most, most}, {.outside = Outside::clip}), 0);
    EXPECT_EQ(areal::region_sum(table.view(), {-most - 1, -most - 1, most, most}, {.outside = Outside::clip}), 0);
  }
}

TEST(RegionSum, TheFirstRegionThatCannotBeIsNamedForAnyThreads) {
  const auto image = small_image<std::uint32_t>(10, 8);
  const Table<std::uint32_t> table(image, Border::zero);
  std::vector<Region> regions(50000, Region{1, 1, 3, 3});
  regions[31000] = regions[49000] = regions[22222] = {9, 9, 9, 9};
  std::vector<std::uint64_t> out(regions.size());
  for (const int threads : {1, 2, 4}) {
    const auto text =
        message_of([&] { areal::region_sums(table.view(), regions, out, {.execution = {.threads = threads}}); });
    EXPECT_EQ(text.find("region 22222 "), 0u) << text;
  }
}

TEST(RegionSum, ExclusiveTablesCannotAnswerForTheLastRowAndColumn) {
  const auto image = small_image<std::uint32_t>(10, 8);
  const Table<std::uint32_t> table(image, Border::exclusive);
  for (const Region& r : {Region{9, 0, 1, 1}, Region{0, 7, 1, 1}, Region{0, 0, 10, 8}})
    EXPECT_NE(message_of([&] { areal::region_sum(table.view(), r); }).find("`exclusive` lacks"), std::string::npos);
  EXPECT_EQ(areal::region_sum(table.view(), {10, 8, 0, 0}), 0);
}

TEST(RegionSum, WrongTablesAndOutputsAreRefused) {
  const auto image = small_image<std::uint32_t>(10, 8);
  const Table<std::uint32_t> table(image, Border::zero);
  const Region region{0, 0, 1, 1};
  std::int64_t wrong_kind = 0;
  std::vector<double> too_many(2);
  EXPECT_THROW(areal::region_sums(table.view(), std::span(&region, 1), std::span(&wrong_kind, 1)), InvalidArgument);
  EXPECT_THROW(areal::region_sums(table.view(), std::span(&region, 1), too_many), InvalidArgument);
  TableView bad = table.view();
  bad.view.type = areal::Type::u8;
  EXPECT_THROW(areal::region_sum(bad, region), InvalidArgument);
  bad = table.view();
  bad.view.data = nullptr;
  EXPECT_THROW(areal::region_sum(bad, region), InvalidArgument);
  bad = table.view();
  bad.view.row_pitch = 8;
  EXPECT_THROW(areal::region_sum(bad, region), InvalidArgument);
  bad.view.row_pitch = -64;
  EXPECT_THROW(areal::region_sum(bad, region), InvalidArgument);
  bad = {areal::ConstView(nullptr, areal::Type::u32, {0, 0}), Border::zero};
  EXPECT_THROW(areal::region_sum(bad, {0, 0, 0, 0}), InvalidArgument);
  bad.border = Border::none;
  EXPECT_EQ(areal::region_sum(bad, {0, 0, 0, 0}), 0);
}

}  // namespace
