// What some rows of a table or a tensor add: pieces of any cut add up to the sums, which loops over the pixels make.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <areal/sat.hpp>
#include <cstring>
#include <random>
#include <vector>

namespace areal {
namespace {

constexpr std::int64_t width = 19, height = 23;

/// Rows [first, first + count) of a view, at their place.
ConstView rows_of(const ConstView& all, std::int64_t first, std::int64_t count) {
  ConstView rows = all;
  rows.data = all.row(first);
  rows.shape.height = count;
  return rows;
}

/// Rows of a table, in pieces of random heights, 0 among them: f(first, count).
template <class F>
void cut(std::int64_t rows, std::mt19937_64& random, const F& f) {
  for (std::int64_t first = 0; first < rows;) {
    const std::int64_t count = std::min<std::int64_t>(static_cast<std::int64_t>(random() % 6), rows - first);
    f(first, count);
    first += count;
  }
}

std::vector<Region> some_regions(std::mt19937_64& random, std::int64_t w, std::int64_t h) {
  std::vector<Region> regions{{0, 0, w, h}, {0, 0, 0, 0}, {w, h, 0, 0}, {0, h - 1, w, 1}, {w - 1, 0, 1, h}};
  for (int i = 0; i < 60; ++i) {
    const auto x = static_cast<std::int64_t>(random()) % w, y = static_cast<std::int64_t>(random()) % h;
    const std::int64_t left = x < 0 ? -x : x, top = y < 0 ? -y : y;
    regions.push_back({left, top, 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(w - left)),
                       1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(h - top))});
  }
  return regions;
}

TEST(PartialRegionSums, PiecesAddUpInEveryBorder) {
  std::mt19937_64 random(20);
  std::vector<std::uint8_t> pixels(width * height);
  for (auto& p : pixels) p = static_cast<std::uint8_t>(random());
  for (const Border border : {Border::zero, Border::none, Border::exclusive}) {
    const SatTable table = sat(ConstView(pixels.data(), width, height), {.border = border}, {.backend = Backend::cpu});
    const std::int64_t less = border == Border::exclusive ? 1 : 0;
    const auto regions = some_regions(random, width - less, height - less);
    std::vector<std::uint64_t> sums(regions.size(), 0), part(regions.size());
    cut(table.sum().shape.height, random, [&](std::int64_t first, std::int64_t count) {
      const TableView rows(rows_of(table.sum(), first, count), border);
      partial_region_sums(rows, first, height, regions, Span<std::uint64_t>(part));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
    });
    for (std::size_t i = 0; i < regions.size(); ++i) {
      std::uint32_t expected = 0;
      for (std::int64_t y = regions[i].y; y < regions[i].y + regions[i].height; ++y)
        for (std::int64_t x = regions[i].x; x < regions[i].x + regions[i].width; ++x)
          expected += pixels[static_cast<std::size_t>(y * width + x)];
      EXPECT_EQ(static_cast<std::uint32_t>(sums[i]), expected) << name_of(border) << ", region " << i;
    }
  }
}

TEST(PartialRegionSums, FloatsHaveTheBitsOfRegionSums) {
  std::mt19937_64 random(21);
  std::vector<float> pixels(width * height * 3);
  for (auto& p : pixels) p = static_cast<float>(random() % 100000) / 7 - 5000;
  const ConstView image(pixels.data(), Type::f32, Shape{width, height, 3});
  for (const Border border : {Border::zero, Border::none}) {
    const SatTable table = sat(image, {.border = border}, {.backend = Backend::cpu});
    const auto regions = some_regions(random, width, height);
    const auto expected = region_sums(SatView(table.sum(), border), regions);
    std::vector<double> sums(expected.size(), 0.0), part(expected.size());
    cut(table.sum().shape.height, random, [&](std::int64_t first, std::int64_t count) {
      partial_region_sums({rows_of(table.sum(), first, count), border}, first, height, regions, Span<double>(part));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
    });
    EXPECT_EQ(std::memcmp(sums.data(), expected.data(), sums.size() * sizeof(double)), 0) << name_of(border);
  }
}

TEST(PartialRegionSums, SignedSumsAndTensors) {
  std::mt19937_64 random(22);
  std::vector<std::int16_t> pixels(width * height);
  for (auto& p : pixels) p = static_cast<std::int16_t>(random());
  const ConstView image(pixels.data(), width, height);
  const SatTable table = sat(image, {}, {.backend = Backend::cpu});
  const auto regions = some_regions(random, width, height);
  const auto sums = region_sums<std::int64_t>(SatView(table), regions);
  const Binning binning = Binning::uniform(5, -32768, 32768);
  const HistogramTensor tensor = integral_histogram(image, binning, {}, {.backend = Backend::cpu});
  const auto counts = region_histograms(TensorView(tensor), regions);
  std::vector<std::int64_t> all(sums.size(), 0), part(sums.size());
  cut(height + 1, random, [&](std::int64_t first, std::int64_t count) {
    partial_region_sums({rows_of(table.sum(), first, count), Border::zero}, first, height, regions,
                        Span<std::int64_t>(part));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
  });
  EXPECT_EQ(all, sums);
  std::vector<std::uint64_t> all_counts(counts.size(), 0), part_counts(counts.size());
  cut(tensor.tensor().shape.height, random, [&](std::int64_t first, std::int64_t count) {
    partial_region_histograms({rows_of(tensor.tensor(), first, count), tensor.border()}, first, height, regions,
                              Span<std::uint64_t>(part_counts));
    for (std::size_t i = 0; i < all_counts.size(); ++i) all_counts[i] += part_counts[i];
  });
  EXPECT_EQ(all_counts, counts);
}

TEST(PartialRegionSums, WhatIsRefused) {
  const std::vector<std::uint32_t> entries(12);
  const TableView rows(ConstView(entries.data(), 4, 3), Border::none);
  std::vector<std::uint64_t> out(1);
  const auto words = [&](const Region& region, std::int64_t first, std::int64_t of) -> std::string {
    try {
      partial_region_sums(rows, first, of, {region}, Span<std::uint64_t>(out));
      return "";
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(words({0, 0, 4, 9}, 6, 9), "");
  EXPECT_EQ(words({0, 0, 5, 1}, 0, 9), "region 0 (x 0, y 0, width 5, height 1) reaches outside the image of 4x9");
  EXPECT_EQ(words({0, 0, 1, 10}, 0, 9), "region 0 (x 0, y 0, width 1, height 10) reaches outside the image of 4x9");
  EXPECT_NE(words({0, 0, 1, 1}, 7, 9).find("first 7"), std::string::npos);
}

TEST(CheckedRegion, OfAnExclusiveTable) {
  EXPECT_EQ(checked_region({1, 2, 3, 4}, 0, 9, 9, Outside::error, Border::exclusive), (Region{1, 2, 3, 4}));
  EXPECT_THROW(checked_region({1, 2, 8, 4}, 0, 9, 9, Outside::error, Border::exclusive), InvalidArgument);
  EXPECT_EQ(checked_region({5, 5, 9, 9}, 0, 9, 9, Outside::clip), (Region{5, 5, 4, 4}));
}

}  // namespace
}  // namespace areal
