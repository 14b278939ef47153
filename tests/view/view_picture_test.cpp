// What the page of `areal view` asks about a picture, against plain counts over the pixels.

#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include "plain_counts.hpp"
#include "view/picture.hpp"
#include "view/regions.hpp"

namespace {

using namespace areal;
using namespace view::plain_counts;
using view::Answer;

constexpr unsigned seed = 20261126;

template <class T>
class EveryType : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                               std::uint64_t, std::int64_t, Half, float, double>;
TYPED_TEST_SUITE(EveryType, Types);

TYPED_TEST(EveryType, RegionsEqualPlainCountsWithAndWithoutAStore) {
  using T = TypeParam;
  constexpr bool is_float = !std::is_integral_v<T>;
  std::mt19937 random(seed);
  const bool is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;
  for (const auto& [width, height] : {std::pair(1, 1), {1, 131}, {257, 1}, {131, 137}, {192, 128}}) {
    if (is_short && width == 192) continue;
    const Array image = image_of<T>(width, height, [&](std::int64_t, std::int64_t) {
      if constexpr (std::is_same_v<T, Half>)
        return to_half(std::normal_distribution<float>(3, 1)(random));
      else if constexpr (is_float)
        return std::normal_distribution<T>(3, 1)(random);
      else  // whole words, so that the limits of the type come up; 52 bits, so that sums are exact as doubles
        return static_cast<T>(static_cast<std::int64_t>(random()) << (sizeof(T) == 8 ? 20 : 0));
    });
    const auto range = view::default_range({image.view()});
    for (const bool has_store : {true, false}) {
      view::Survey survey(image.view(), 256, range, 1);  // more threads are slow where others compute
      for (const bool is_made : {false, true}) {
        if (is_made) {
          EXPECT_EQ(survey.make(has_store ? 1 << 30 : 0) > 0, has_store);
        }
        EXPECT_EQ(survey.store(), has_store && is_made ? Store::compact : Store::none);
        for (const Region& region : regions_of(width, height, random, is_short ? 2 : 8))
          ASSERT_EQ(difference(survey.answer(region), plain<T>(image, region, 256, range), is_float), "")
              << "seed " << seed << ", " << width << "x" << height << ", region " << region.x << "," << region.y << ","
              << region.width << "," << region.height << ", made " << is_made;
      }
      EXPECT_THROW(survey.answer({0, 0, width + 1, height}), InvalidArgument);
      EXPECT_THROW(survey.answer({0, 0, -1, height}), InvalidArgument);
    }
    const std::pair narrow{range.first + (range.second - range.first) / 4,
                           range.second - (range.second - range.first) / 3};
    view::Survey survey(image.view(), 7, narrow);
    survey.make(1 << 30);
    for (const Region& region : regions_of(width, height, random, 4))
      ASSERT_EQ(difference(survey.answer(region), plain<T>(image, region, 7, narrow), is_float), "") << "seed " << seed;
  }
}

TEST(ViewPicture, ComparisonFindsEachWrongNumber) {
  const Array image = image_of<std::uint16_t>(70, 70, [](std::int64_t x, std::int64_t y) { return x * y; });
  const Region region{1, 2, 66, 67};
  const std::pair range{100.0, 3000.0};
  const Answer right = view::Survey(image.view(), 16, range).answer(region);
  const Plain wanted = plain<std::uint16_t>(image, region, 16, range);
  ASSERT_EQ(difference(right, wanted, false), "");
  const auto found = [&](auto change, const char* what) {
    Answer wrong = right;
    change(wrong);
    EXPECT_EQ(difference(wrong, wanted, false), what);
  };
  found([](Answer& a) { ++a.moments.pixels; }, " pixels");
  found([](Answer& a) { ++a.moments.nans; }, " nans");
  found([](Answer& a) { ++a.moments.under; }, " under, over");
  found([](Answer& a) { ++a.histogram[3]; }, " histogram");
  found([](Answer& a) { a.moments.sum.back() ^= 1; }, " sum");
  found([](Answer& a) { a.moments.mean *= 1 + 1e-9; }, " mean");
  found([](Answer& a) { a.moments.deviation *= 1 + 1e-9; }, " deviation");
  found([](Answer& a) { a.moments.most = std::uint64_t{1}; }, " extremes");
}

TEST(ViewPicture, NanAndInfinityStayInTheirRegion) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const Array image = image_of<double>(200, 200, [&](std::int64_t x, std::int64_t y) {
    return x == 20 && y == 30 ? nan : x == 150 && y == 160 ? infinite : 0.1 * static_cast<double>(x + y);
  });
  const auto range = view::default_range({image.view()});
  EXPECT_EQ(range.first, 0);
  EXPECT_NEAR(range.second, 39.8, 1e-12);
  view::Survey survey(image.view(), 256, range);
  survey.make(1 << 30);
  const Answer bad = survey.answer({0, 0, 100, 100});
  EXPECT_EQ(bad.moments.nans, 1);
  EXPECT_TRUE(std::isnan(bad.moments.mean) && std::isnan(bad.moments.deviation));
  const Answer far = survey.answer({100, 100, 100, 100});
  EXPECT_EQ(far.moments.mean, infinite);
  EXPECT_EQ(std::get<double>(far.moments.most), infinite);
  EXPECT_TRUE(std::isnan(far.moments.deviation));
  EXPECT_EQ(far.moments.over, 1);
  for (const Region& region : {Region{21, 0, 120, 200}, Region{0, 31, 150, 169}, Region{20, 31, 1, 1}})
    EXPECT_EQ(difference(survey.answer(region), plain<double>(image, region, 256, range), true), "");
}

TEST(ViewPicture, LargeOffsetsDoNotRoundDeviations) {
  std::mt19937 random(seed);
  const Array image = image_of<double>(
      300, 100, [&](std::int64_t, std::int64_t) { return 1e9 + std::uniform_real_distribution<>(0, 1)(random); });
  view::Survey survey(image.view(), 256, {1e9, 1e9 + 1});
  survey.make(1 << 30);
  const Answer answer = survey.answer({3, 5, 290, 90});
  const Plain wanted = plain<double>(image, {3, 5, 290, 90}, 256, {1e9, 1e9 + 1});
  EXPECT_NEAR(answer.moments.deviation, static_cast<double>(wanted.deviation), 1e-12);
}

TEST(ViewPicture, DigitsOf128Bits) {
  EXPECT_EQ(view::digits_of(0), "0");
  EXPECT_EQ(view::digits_of(-1), "-1");
  EXPECT_EQ(view::digits_of(static_cast<__int128>(1) << 100), "1267650600228229401496703205376");
  EXPECT_EQ(view::digits_of(static_cast<__int128>(1) << 127), "-170141183460469231731687303715884105728");
}

TEST(ViewPicture, PercentilesBeyondTheRangeAreOpen) {
  const Array image = image_of<std::uint16_t>(100, 1, [](std::int64_t x, std::int64_t) { return x; });
  const Answer answer = view::Survey(image.view(), 80, {10, 90}).answer({0, 0, 100, 1});
  EXPECT_EQ(answer.moments.under, 10);
  EXPECT_EQ(answer.moments.over, 9);
  EXPECT_TRUE(std::isnan(answer.percentiles[0]) && std::isnan(answer.percentiles[2]));
  EXPECT_NEAR(answer.percentiles[1], 50, 1e-12);
}

TEST(ViewPicture, DefaultRangeHasAWidth) {
  const Array flat = image_of<float>(3, 3, [](std::int64_t, std::int64_t) { return -1e30F; });
  const auto [lo, hi] = view::default_range({flat.view()});
  EXPECT_LT(lo, hi);
  const Array nothing = image_of<float>(3, 3, [](std::int64_t, std::int64_t) { return std::nanf(""); });
  EXPECT_EQ(view::default_range({nothing.view()}), std::pair(0.0, 1.0));
  const Array most = image_of<double>(2, 1, [](std::int64_t x, std::int64_t) {
    return x == 0 ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
  });
  const auto wide = view::default_range({most.view()});
  EXPECT_TRUE(std::isfinite(wide.second - wide.first));
  EXPECT_NO_THROW(view::Survey(most.view(), 256, wide).answer({0, 0, 2, 1}));
}

// ---------------------------------------------------------------- tiles

view::Picture colour_picture(std::int64_t width, std::int64_t height) {
  Array planes(Shape{width, height, 3, 1, Layout::planar}, Type::u8);
  for (std::int64_t i = 0; i < 3 * width * height; ++i) planes.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 7);
  Array luma(Shape{width, height}, Type::u8);
  std::memset(luma.data(), 9, luma.bytes());
  return {std::move(planes), {"red", "green", "blue"}, std::move(luma), {}};
}

TEST(ViewPicture, TilesHoldThePixelsOfEachChannelAndOfColour) {
  const view::Picture picture = colour_picture(300, 260);
  EXPECT_EQ(picture.names(), (std::vector<std::string>{"luma", "red", "green", "blue"}));
  EXPECT_EQ(picture.colour(), 4U);
  EXPECT_EQ(picture.levels(), (std::vector<view::Extent>{{300, 260}, {150, 130}}));
  const std::string red = picture.tile(1, 0, 1, 1), colour = picture.tile(4, 0, 1, 1);
  ASSERT_EQ(red.size(), 20 + 44 * 4U);
  ASSERT_EQ(colour.size(), 20 + 3 * 44 * 4U);
  for (std::int64_t y = 0; y < 4; ++y)
    for (std::int64_t x = 0; x < 44; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto wanted = static_cast<std::uint8_t>((c * 300 * 260 + (256 + y) * 300 + 256 + x) * 7);
        ASSERT_EQ(static_cast<std::uint8_t>(colour[static_cast<std::size_t>(20 + (y * 44 + x) * 3 + c)]), wanted);
        if (c > 0) continue;
        ASSERT_EQ(static_cast<std::uint8_t>(red[static_cast<std::size_t>(20 + y * 44 + x)]), wanted);
      }
  EXPECT_EQ(static_cast<std::uint8_t>(picture.tile(0, 1, 0, 0).at(20)), 9);
  EXPECT_TRUE(picture.has_tile(4, 1, 0, 0));
  EXPECT_FALSE(picture.has_tile(5, 0, 0, 0) || picture.has_tile(0, 2, 0, 0) || picture.has_tile(0, 0, 2, 0) ||
               picture.has_tile(0, 0, 0, 2) || picture.has_tile(~std::uint64_t{0}, 0, 0, 0));
}

TEST(ViewPicture, AnswersAreAboutTheNewestRange) {
  std::mt19937 random(seed);
  for (const std::uint64_t memory : {0, 1 << 26}) {
    const Array image = image_of<std::uint16_t>(200, 150, [&](std::int64_t, std::int64_t) { return random() % 1000; });
    Array planes(Shape{200, 150, 1, 1, Layout::planar}, Type::u16);
    std::memcpy(planes.data(), image.data(), image.bytes());
    view::Picture picture(std::move(planes), {"gray"}, {}, {.bins = 16, .store_memory = memory});
    const Region region{3, 5, 150, 120};
    for (const auto& range : {std::pair(100.0, 300.0), {100.0, 300.0}, {0.0, 2000.0}, {1e9, 2e9}}) {
      picture.set_range(range);
      EXPECT_EQ(picture.range(), range);
      for (int i = 0; i < 20; ++i)  // while surveys come and go
        ASSERT_EQ(difference(picture.answer(0, region), plain<std::uint16_t>(image, region, 16, range), false), "");
    }
    for (const auto& wrong : {std::pair(3.0, 3.0), {3.0, 2.0}, {std::nan(""), 1.0}, {0.0, HUGE_VAL}})
      EXPECT_THROW(picture.set_range(wrong), InvalidArgument);
    EXPECT_EQ(picture.range(), std::pair(1e9, 2e9));
  }
}

TEST(ViewPicture, HalvesAreMeansOfUpToFourPixelsWithoutNan) {
  const Array image = image_of<float>(513, 3, [](std::int64_t x, std::int64_t y) {
    return x == 0 ? std::nanf("") : x < 4 && y < 2 ? static_cast<float>(10 * y + x) : 1.0F;
  });
  const view::Pyramid pyramid(image.view());
  ASSERT_EQ(pyramid.levels(), 3U);
  const auto* half = static_cast<const float*>(pyramid.level(1).row(0));
  EXPECT_EQ(half[0], 6);                                                // of 1 and 11
  EXPECT_EQ(half[1], 7.5F);                                             // of 2, 3, 12, 13
  EXPECT_EQ(half[256], 1);                                              // the last column alone
  EXPECT_EQ(static_cast<const float*>(pyramid.level(1).row(1))[0], 1);  // NaN and 1
  EXPECT_EQ(view::levels_of({1, 100000}).back(), (view::Extent{1, 196}));
}

TEST(ViewPicture, RefusesEmptyPicturesAndWrongBins) {
  const auto make = [](std::int64_t width, view::PictureOptions options) {
    Array planes(Shape{width, 2, 1, 1, Layout::planar}, Type::u8);
    if (planes.bytes() > 0) std::memset(planes.data(), 0, planes.bytes());
    return view::Picture(std::move(planes), {"gray"}, {}, options);
  };
  EXPECT_NO_THROW(make(2, {}));
  EXPECT_THROW(make(0, {}), InvalidArgument);
  EXPECT_THROW(make(2, {.bins = 0}), InvalidArgument);
  EXPECT_THROW(make(2, {.range = std::pair(3.0, 3.0)}), InvalidArgument);
}

// ---------------------------------------------------------------- regions

TEST(ViewRegions, HaveIdsThatAreNeverGivenTwice) {
  view::Regions regions(100, 50);
  EXPECT_EQ(regions.set(0, "fin", {0, 0, 100, 50}), 1);
  EXPECT_EQ(regions.set(0, "", {99, 49, 1, 1}), 2);
  EXPECT_EQ(regions.set(1, "tail", {1, 2, 3, 4}), 1);
  regions.remove(2);
  EXPECT_EQ(regions.set(0, "", {5, 5, 5, 5}), 3);
  EXPECT_EQ(regions.all(), (std::vector<view::DrawnRegion>{{1, "tail", {1, 2, 3, 4}}, {3, "", {5, 5, 5, 5}}}));
  EXPECT_EQ(regions.revision(), 5);
}

TEST(ViewRegions, RefuseWhatAPageMayNotShow) {
  view::Regions regions(100, 50);
  const auto refused = [&](std::int64_t id, const std::string& name, const Region& box) {
    EXPECT_THROW(regions.set(id, name, box), InvalidArgument);
  };
  refused(7, "", {0, 0, 1, 1});
  refused(0, "", {0, 0, 0, 1});
  refused(0, "", {100, 0, 1, 1});
  refused(0, "", {0, 0, 101, 1});
  refused(0, "", {-1, 0, 1, 1});
  refused(0, "", {std::numeric_limits<std::int64_t>::max(), 0, 2, 1});
  refused(0, std::string(65, 'a'), {0, 0, 1, 1});
  refused(0, "a\nb", {0, 0, 1, 1});
  refused(0, std::string("\0", 1), {0, 0, 1, 1});
  EXPECT_THROW(regions.remove(1), InvalidArgument);
  EXPECT_EQ(regions.revision(), 0);
  std::string umlauts;
  for (int i = 0; i < 64; ++i) umlauts += "\xc3\xa4";
  regions.set(0, umlauts, {0, 0, 1, 1});
  for (std::size_t i = 1; i < view::Regions::most; ++i) regions.set(0, "", {0, 0, 1, 1});
  refused(0, "", {0, 0, 1, 1});
}

}  // namespace
