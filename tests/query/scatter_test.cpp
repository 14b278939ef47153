// The transpose of region sums on the CPU: its definition, what it is the transpose of, and the gradient that it gives.
#include <gtest/gtest.h>
#include "device_scatter_cases.hpp"
#include "host_bed.hpp"

namespace areal {
namespace {

using namespace device_cases;

using Bed = HostBed<Backend::cpu>;

TEST(Scatter, IsItsDefinition) { scatters<Bed>(); }
TEST(Scatter, OfMany) {
  scatters_of_many<float, Bed>();
  scatters_of_many<std::uint64_t, Bed>();
}
TEST(Scatter, RegionsOutside) { regions_outside_scatter_nothing_or_their_parts<Bed>(); }
TEST(Scatter, ThrowsBeforeItWrites) { the_host_scatters<Bed>(); }
TEST(Scatter, EveryRunHasTheSameBits) { every_scatter_has_the_same_bits<Bed>(); }

TEST(Scatter, ThreadsDoNotChangeABit) {
  const auto regions = overlapping(700, 300, 5000, 31);
  const auto values = random_values<double>(5000, 31);
  Padded one(Type::f32, {701, 301}), many(Type::f32, {701, 301});
  scatter_corners(regions, values, one.view(), Border::zero, {.execution = {.threads = 1}});
  scatter_corners(regions, values, many.view(), Border::zero, {.execution = {.threads = 2}});
  EXPECT_EQ(one.bytes(), many.bytes());
}

// sum(T G) = sum(v region_sum(T)) modulo 2^64, for tables of any content.
TEST(Scatter, IsTheTransposeOfRegionSums) {
  for (const Border border : borders)
    for (const Layout layout : {Layout::interleaved, Layout::planar}) {
      SCOPED_TRACE(testing::Message() << name_of(border) << " seed 41");
      Shape shape = oracle::table_shape(23, 17, border);
      shape.channels = 3, shape.batch = 2, shape.layout = layout;
      Padded table(Type::u64, shape), scattered(Type::u64, shape);
      std::mt19937_64 random(41);
      for (std::int64_t p = 0; p < 6; ++p)
        for (std::int64_t y = 0; y < shape.height; ++y)
          for (std::int64_t x = 0; x < shape.width; ++x)  // a table's first row and column are zeros
            table.set<std::uint64_t>(border != Border::none && (x == 0 || y == 0) ? 0 : random(), x, y, p % 3, p / 3);
      const auto regions = answerable(23, 17, border, 41);
      const auto values = random_values<std::uint64_t>(regions.size() * 6, 41);
      scatter_corners(regions, values, scattered.view(), border);
      const auto sums = region_sums<std::uint64_t>(TableView(table.view(), border), regions);
      for (std::size_t p = 0; p < 6; ++p) {
        std::uint64_t of_sums = 0, of_elements = 0;
        for (std::size_t i = 0; i < regions.size(); ++i) of_sums += values[i * 6 + p] * sums[i * 6 + p];
        const auto c = static_cast<std::int64_t>(p % 3), n = static_cast<std::int64_t>(p / 3);
        for (std::int64_t y = 0; y < shape.height; ++y)
          for (std::int64_t x = 0; x < shape.width; ++x)
            of_elements += table.get<std::uint64_t>(x, y, c, n) * scattered.get<std::uint64_t>(x, y, c, n);
        EXPECT_EQ(of_sums, of_elements) << p;
      }
    }
}

// The gradient of box sums by the image: what the boxes over a pixel have, from either of two sums of G.
TEST(Scatter, SumsOfItAreTheGradientByTheImage) {
  constexpr std::int64_t width = 19, height = 13;
  const auto regions = overlapping(width, height, 200, 51);
  const auto values = random_values<std::int64_t>(200, 51);
  Padded forward(Type::s64, {width, height}), backward(Type::s64, {width, height});
  scatter_corners(regions, values, forward.view(), Border::exclusive);
  scatter_corners(regions, values, backward.view(), Border::none);
  for (std::int64_t py = 0; py < height; ++py)
    for (std::int64_t px = 0; px < width; ++px) {
      std::uint64_t gradient = 0, before = 0, behind = 0;
      for (std::size_t i = 0; i < regions.size(); ++i) {
        const Region& r = regions[i];
        if (r.x <= px && px < r.x + r.width && r.y <= py && py < r.y + r.height)
          gradient += static_cast<std::uint64_t>(values[i]);
      }
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
          if (x <= px && y <= py) before += static_cast<std::uint64_t>(forward.get<std::int64_t>(x, y));
          if (x >= px && y >= py) behind += static_cast<std::uint64_t>(backward.get<std::int64_t>(x, y));
        }
      ASSERT_EQ(before, gradient) << px << "," << py;
      ASSERT_EQ(behind, gradient) << px << "," << py;
    }
}

TEST(Scatter, WhatCannotBeIsRefused) {
  const std::vector<Region> regions{{0, 0, 2, 2}, {1, 1, 2, 3}};
  const std::vector<double> reals(2), few(1);
  const std::vector<std::uint64_t> whole(2);
  const std::vector<std::int64_t> signs(2);
  Padded f32(Type::f32, {6, 5}), u32(Type::u32, {6, 5}), s64(Type::s64, {6, 5}), u8(Type::u8, {6, 5}),
      two(Type::f32, {6, 5, 2});
  EXPECT_NO_THROW(scatter_corners(regions, reals, f32.view(), Border::zero));
  EXPECT_THROW(scatter_corners(regions, few, f32.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, reals, two.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, whole, f32.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, reals, u32.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, signs, u32.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, whole, s64.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, whole, u8.view(), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, reals, View(nullptr, Type::f32, {6, 5}), Border::zero), InvalidArgument);
  EXPECT_THROW(scatter_corners(regions, reals, View(nullptr, Type::f32, {0, 5}), Border::zero), InvalidArgument);
  std::vector<std::byte> memory(1 << 20);
  EXPECT_THROW(scatter_corners(regions, reals, f32.view(), Border::zero, {}, memory), InvalidArgument);
  EXPECT_THROW(scatter_workspace_bytes(std::size_t{1} << 30), InvalidArgument);
  const std::vector<Region> outside{{0, 0, 2, 2}, {1, 1, 2, 4}};
  EXPECT_THROW(scatter_corners(outside, reals, f32.view(), Border::zero), InvalidArgument);
  EXPECT_NO_THROW(scatter_corners(outside, reals, f32.view(), Border::none));
}

}  // namespace
}  // namespace areal
