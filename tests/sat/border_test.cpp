// Tables converted to another border compared with tables made in that border.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/table.hpp>
#include <areal/type_pair.hpp>
#include "region_oracle.hpp"

namespace {

using areal::Border;
using areal::InvalidArgument;
using oracle::Image;
using oracle::Padded;
using oracle::Table;

constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};

template <class P>
Padded stored(const Image<P>& image, areal::Type type) {
  Padded memory(type, {image.width, image.height});
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x) memory.set(image.at(x, y), x, y);
  return memory;
}

template <class T>
int differences(const Padded& a, const Padded& b) {
  int wrong = a.guards_stand() ? 0 : 1;
  for (std::int64_t y = 0; y < b.view().shape.height; ++y)
    for (std::int64_t x = 0; x < b.view().shape.width; ++x) wrong += a.get<T>(x, y) != b.get<T>(x, y);
  return wrong;
}

template <class P, class T>
void expect_conversions(double lo, double hi) {
  for (const auto& [width, height] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 8}, {9, 1}, {13, 7}, {0, 3}, {4, 0}, {0, 0}}) {
    const auto image = oracle::random_image<P>(width, height, lo, hi, 91);
    Padded memory = stored(image, areal::type_of<P>);
    for (const Border from : borders)
      for (const Border to : borders) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << " " << areal::name_of(from) << " to "
                                        << areal::name_of(to) << " seed 91");
        const Table<T> source(image, from);
        Table<T> want(image, to);
        Padded got(areal::type_of<T>, oracle::table_shape(width, height, to), 11, 7);
        // Every pixel is poisoned except those of the last row and column: the others must not be read.
        for (std::int64_t y = 0; y + 1 < height; ++y)
          for (std::int64_t x = 0; x + 1 < width; ++x) memory.set(static_cast<P>(99), x, y);
        const areal::ConstView pixels = memory.view();
        areal::convert_border(source.view(), got.view(), to, pixels);
        EXPECT_EQ(differences<T>(got, want.memory()), 0);
        if (from == Border::exclusive && to != from && width * height > 0) {
          EXPECT_THROW(areal::convert_border(source.view(), got.view(), to), InvalidArgument);
        } else {
          areal::convert_border(source.view(), got.view(), to);
          EXPECT_EQ(differences<T>(got, want.memory()), 0);
        }
      }
  }
}

TEST(ConvertBorder, OneFlippedElementIsCaught) {
  const auto image = oracle::random_image<std::uint8_t>(13, 7, 0, 255, 1);
  const Table<std::uint32_t> source(image, Border::zero);
  Table<std::uint32_t> want(image, Border::none);
  Padded got(areal::Type::u32, {13, 7});
  areal::convert_border(source.view(), got.view(), Border::none);
  ASSERT_EQ(differences<std::uint32_t>(got, want.memory()), 0);
  got.set(got.get<std::uint32_t>(12, 6) + 1, 12, 6);
  EXPECT_EQ(differences<std::uint32_t>(got, want.memory()), 1);
}

TEST(ConvertBorder, UnsignedLanes) {
  expect_conversions<std::uint8_t, std::uint32_t>(0, 255);
  expect_conversions<std::uint8_t, float>(0, 255);
  expect_conversions<std::uint16_t, std::uint64_t>(0, 65535);
  expect_conversions<std::uint32_t, std::uint32_t>(0, 4294967295.0);  // wraps
}

TEST(ConvertBorder, SignedAndFloatLanes) {
  expect_conversions<std::int8_t, std::int32_t>(-128, 127);
  expect_conversions<std::int32_t, std::int32_t>(-2147483648.0, 2147483647.0);  // wraps
  expect_conversions<std::int16_t, std::int64_t>(-32768, 32767);
  expect_conversions<float, float>(-50, 50);
  expect_conversions<float, double>(-50, 50);
}

TEST(ConvertBorder, HalvesAreRead) {
  Image<std::int16_t> numbers = oracle::random_image<std::int16_t>(6, 5, -30, 30, 2);
  Padded halves(areal::Type::f16, {6, 5});
  for (std::int64_t y = 0; y < 5; ++y)
    for (std::int64_t x = 0; x < 6; ++x) halves.set(areal::to_half(numbers.at(x, y)), x, y);
  const Table<float> source(numbers, Border::exclusive);
  Table<float> want(numbers, Border::none);
  Padded got(areal::Type::f32, {6, 5});
  const areal::ConstView image = halves.view();
  areal::convert_border(source.view(), got.view(), Border::none, image);
  EXPECT_EQ(differences<float>(got, want.memory()), 0);
}

TEST(ConvertBorder, WhatDoesNotBelongTogetherIsRefused) {
  const auto image = oracle::random_image<std::uint8_t>(6, 5, 0, 255, 2);
  Padded memory = stored(image, areal::Type::u8), narrow(areal::Type::u8, {5, 5}), wide(areal::Type::s16, {6, 5});
  const Table<std::uint32_t> zero(image, Border::zero), exclusive(image, Border::exclusive);
  Padded good(areal::Type::u32, {6, 5}), small(areal::Type::u32, {5, 5}), other(areal::Type::u64, {6, 5});
  EXPECT_THROW(areal::convert_border(zero.view(), small.view(), Border::none), InvalidArgument);
  EXPECT_THROW(areal::convert_border(zero.view(), good.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(areal::convert_border(zero.view(), other.view(), Border::none), InvalidArgument);
  for (const areal::ConstView& wrong : {areal::ConstView(narrow.view()), areal::ConstView(wide.view())})
    EXPECT_THROW(areal::convert_border(exclusive.view(), good.view(), Border::none, wrong), InvalidArgument);
  std::vector<std::uint32_t> same(42);
  EXPECT_THROW(areal::convert_border({areal::ConstView(same.data(), 7, 6), Border::zero},
                                     areal::View(same.data() + 8, 6, 5, 28), Border::none),
               InvalidArgument);
}

}  // namespace
