// Histograms of regions from tiles, against the whole image: every cut, workers alone and together, what fails.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <areal/tiled.hpp>
#include <random>
#include <stdexcept>
#include "api/core/copy_rows.hpp"
#include "random_regions.hpp"

namespace areal {
namespace {

constexpr unsigned seed = 20261123;

bool has_simt() {
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt) return row.available;
  return false;
}

struct Case {
  Array image;
  std::vector<Region> regions;
  std::vector<std::uint64_t> expected;

  Case(const Shape& shape, Type type, const Binning& binning) : image(shape, type) {
    std::mt19937_64 random(seed);
    auto* const bytes = static_cast<std::uint8_t*>(image.data());
    for (std::size_t i = 0; i < image.bytes(); ++i) bytes[i] = static_cast<std::uint8_t>(random() >> 30);
    regions = {{0, 0, shape.width, shape.height}, {0, 0, 0, 0}, {shape.width, shape.height, 0, 0}};
    for (int i = 0; i < 40; ++i) regions.push_back(random_region(random, shape.width, shape.height));
    expected =
        region_histograms(std::as_const(image).view(), binning, regions, {.execution = {.backend = Backend::cpu}});
  }

  /// Fills every second block; of the others, the image's own memory.
  ImageReader read() const {
    return [this, n = 0](std::int64_t x, std::int64_t y, const View& block) mutable {
      const ConstView own = image_in_memory(image.view())(x, y, block);
      if (n++ % 2 == 0) return own;
      copy_rows(own, block);
      return ConstView(block);
    };
  }
};

std::vector<std::uint64_t> answers_of(const TiledHistogram& tiled, Case& of, std::size_t bins) {
  std::vector<std::uint64_t> counts(of.regions.size() * bins, 77);
  tiled.answers(of.read(), of.regions, counts);
  return counts;
}

TEST(TiledHistogram, OnTheCpuEqualsTheWhole) {
  const Binning binning = Binning::uniform(24, 0, 256);
  for (const Shape& shape : {Shape{300, 500}, Shape{1, 1}, Shape{2000, 3}, Shape{3, 2000}}) {
    Case of(shape, Type::u8, binning);
    const TiledHistogram tiled(shape, Type::u8, binning);
    EXPECT_EQ(answers_of(tiled, of, 24), of.expected);
  }
  Case of({301, 515}, Type::u16, Binning::uniform(24, 0, 60000));
  const TiledHistogram tiled({301, 515}, Type::u16, Binning::uniform(24, 0, 60000), {}, {.workers = {{.threads = 1}}});
  EXPECT_GT(tiled.grid().rows, 1);
  EXPECT_EQ(answers_of(tiled, of, 24), of.expected);
}

TEST(TiledHistogram, InLittleMemoryTheTilesAreRowsOrSquares) {
  if (!has_simt()) GTEST_SKIP() << "this build has no simulated machine";
  const Binning binning = Binning::uniform(6, 0, 256);
  const Shape shape{257, 131};
  Case of(shape, Type::u8, binning);
  bool has_columns = false, has_rows = false, has_one = false;
  for (const std::uint64_t bytes : {std::uint64_t{1} << 30, std::uint64_t{600000}, std::uint64_t{200000},
                                    std::uint64_t{70000}, std::uint64_t{30000}, std::uint64_t{16000}}) {
    const TiledHistogram tiled(shape, Type::u8, binning, {},
                               {.workers = {{.backend = Backend::simt}}, .memory = bytes});
    const TiledGrid& grid = tiled.grid();
    has_columns = has_columns || grid.columns > 1;
    has_rows = has_rows || (grid.columns == 1 && grid.rows > 2);
    has_one = has_one || grid.columns * grid.rows <= 2;
    EXPECT_EQ(answers_of(tiled, of, 6), of.expected) << bytes << " bytes, " << grid.columns << " x " << grid.rows;
  }
  EXPECT_TRUE(has_columns && has_rows && has_one) << has_columns << has_rows << has_one;
  EXPECT_THROW(TiledHistogram(shape, Type::u8, binning, {}, {.workers = {{.backend = Backend::simt}}, .memory = 20}),
               OutOfMemory);
}

TEST(TiledHistogram, SeveralWorkersTogether) {
  if (!has_simt()) GTEST_SKIP() << "this build has no simulated machine";
  const Binning binning = Binning::uniform(5, 0, 256);
  const Shape shape{200, 300};
  Case of(shape, Type::u8, binning);
  const TiledHistogram tiled(shape, Type::u8, binning, {},
                             {.workers = {{.threads = 1}, {.backend = Backend::simt}}, .memory = 400000});
  EXPECT_EQ(answers_of(tiled, of, 5), of.expected);
  of.image.as<std::uint8_t>()[0] ^= 0x80;  // the check can fail
  EXPECT_NE(answers_of(tiled, of, 5), of.expected);
}

TEST(TiledHistogram, GridsFixedByHand) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int i = 0; i < 20; ++i) {
    const Binning binning = Binning::uniform(7, 0, 256);
    const Shape shape{1 + below(120), 1 + below(120)};
    Case of(shape, Type::u8, binning);
    PieceOptions options{.workers = {{.threads = 1}}, .width = 1 + below(shape.width), .bins = 1 + below(7)};
    if (i % 2) options.height = 1 + below(shape.height);
    if (i % 3 == 0 && has_simt()) options.workers = {{.backend = Backend::simt}};
    const TiledHistogram tiled(shape, Type::u8, binning, {}, options);
    EXPECT_EQ(tiled.grid().bins, options.bins);
    EXPECT_EQ(tiled.grid().columns, (shape.width + options.width - 1) / options.width);
    for (int call = 0; call < 2; ++call)
      EXPECT_EQ(answers_of(tiled, of, 7), of.expected) << "seed " << seed << " " << i;
  }
  EXPECT_THROW(TiledHistogram({4, 4}, Type::u8, Binning::uniform(2, 0, 256), {}, {.height = -1}), InvalidArgument);
  EXPECT_THROW(TiledHistogram({4, 4}, Type::u8, Binning::uniform(2, 0, 256), {}, {.piece_bytes = 0}), InvalidArgument);
}

TEST(TiledHistogram, WhatIsRefused) {
  const Binning binning = Binning::uniform(5, 0, 256);
  const Shape shape{20, 30};
  Case of(shape, Type::u8, binning);
  const TiledHistogram tiled(shape, Type::u8, binning);
  std::vector<std::uint64_t> counts(5);
  const auto asked = [&](const ImageReader& read, const Region& region) { tiled.answers(read, {region}, counts); };
  EXPECT_THROW(asked(of.read(), {15, 0, 6, 1}), InvalidArgument);
  EXPECT_THROW(tiled.answers(of.read(), {{0, 0, 1, 1}, {1, 1, 1, 1}}, counts), InvalidArgument);
  Array other(Shape{21, 30}, Type::u8);
  EXPECT_THROW(
      asked([&](std::int64_t, std::int64_t, const View&) { return std::as_const(other).view(); }, {0, 0, 5, 5}),
      InvalidArgument);
  struct Planted : std::runtime_error {
    Planted() : std::runtime_error("planted") {}
  };
  EXPECT_THROW(asked([](std::int64_t, std::int64_t, const View&) -> ConstView { throw Planted(); }, {0, 0, 5, 5}),
               Planted);
  EXPECT_THROW(TiledHistogram({20, 30, 3}, Type::u8, binning), InvalidArgument);
  EXPECT_THROW(TiledHistogram(shape, Type::u8, binning, {}, {.workers = {{.threads = -1}}}), InvalidArgument);
  // Clipped where that was asked for.
  const TiledHistogram clipping(shape, Type::u8, binning, {}, {.outside = Outside::clip});
  clipping.answers(of.read(), {Region{15, 0, 6, 1}}, counts);
  std::uint64_t pixels = 0;
  for (const std::uint64_t n : counts) pixels += n;
  EXPECT_EQ(pixels, 5u);
}

}  // namespace
}  // namespace areal
