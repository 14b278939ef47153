// Tensors in pieces, and answers from parts, on CUDA devices: against the untiled tensor of the CPU. All is skipped
// without a GPU.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/region_histogram.hpp>
#include <areal/tiled.hpp>
#include <cstring>
#include <random>
#include <set>

namespace areal {
namespace {

class CudaTiledHistogram : public testing::Test {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no GPU";
  }
  /// Every CUDA device.
  std::vector<Worker> gpus() const { return workers_named("all"); }
};

struct Case {
  Shape shape;
  Binning binning;
  Array image;
  Array expected;

  Case(const Shape& shape_, std::int64_t bins, std::uint64_t seed, Type counter = Type::u32)
      : shape(shape_), binning(Binning::uniform(bins, 0, 256)), image(shape, Type::u8) {
    std::mt19937_64 random(seed);
    auto* const pixels = image.as<std::uint8_t>();
    for (std::size_t i = 0; i < image.bytes(); ++i) pixels[i] = static_cast<std::uint8_t>(random() >> 40);
    const HistogramPlan plan(shape, Type::u8, binning, {.counter = counter}, {.backend = Backend::cpu});
    expected = Array(plan.tensor_shape(), counter);
    Workspace workspace(plan);
    plan.execute({std::as_const(image).view(), expected.view()}, workspace);
  }
  ImageReader read() const { return image_in_memory(image.view()); }
};

/// Entries that differ, that are missing or came twice; and who worked.
struct Checked {
  std::int64_t wrong = 0, entries = 0;
  std::set<int> workers;
};
Checked check(const TiledHistogram& tiled, Case& of) {
  Checked checked;
  tiled.pieces(of.read(), [&](const Piece& piece) {
    const ConstView& got = piece.values;
    const View all = of.expected.view();
    for (std::int64_t b = 0; b < got.shape.channels; ++b)
      for (std::int64_t y = 0; y < got.shape.height; ++y) {
        auto* const wanted =
            static_cast<char*>(all.row(piece.y + y, piece.first_bin + b)) + piece.x * all.column_pitch();
        const auto bytes = static_cast<std::size_t>(got.shape.width * got.column_pitch());
        checked.wrong += std::memcmp(got.row(y, b), wanted, bytes) != 0;
        std::memset(wanted, 0xEE, bytes);  // so that it is not right a second time
      }
    checked.entries += got.shape.width * got.shape.height * got.shape.channels;
    checked.workers.insert(piece.worker);
    return true;
  });
  return checked;
}

TEST_F(CudaTiledHistogram, PiecesAreTheUntiledTensor) {
  const std::uint64_t seed = 20261126;
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int i = 0; i < 60; ++i) {
    const Type counter = below(3) ? Type::u32 : Type::u64;
    Case of({1 + below(700), 1 + below(700)}, 1 + below(12), random(), counter);
    PieceOptions options{.workers = gpus(), .piece_bytes = 1 + static_cast<std::uint64_t>(below(200000))};
    if (below(3)) options.width = 1 + below(of.shape.width);
    if (below(3)) options.height = 1 + below(of.shape.height);
    if (options.width > 0 && options.width < 20) options.width = 20;
    if (options.height > 0 && options.height < 20) options.height = 20;
    if (below(2)) options.bins = 1 + below(of.binning.bins());
    if (below(4) == 0) options.workers.push_back({.threads = 2});
    const TiledHistogram tiled(of.shape, Type::u8, of.binning, {.counter = counter}, options);
    const Checked checked = check(tiled, of);
    ASSERT_EQ(checked.wrong, 0) << "seed " << seed << " case " << i;
    ASSERT_EQ(checked.entries, of.shape.width * of.shape.height * of.binning.bins())
        << "seed " << seed << " case " << i;
  }
}

TEST_F(CudaTiledHistogram, ASpoiltEntryIsFound) {
  Case of({200, 100}, 3, 1);
  of.expected.as<std::uint32_t>()[12345] ^= 1;
  EXPECT_EQ(check(TiledHistogram(of.shape, Type::u8, of.binning, {}, {.workers = gpus()}), of).wrong, 1);
}

// Groups of bins in a gigabyte, then tiles; the second call has the buffers of the first.
TEST_F(CudaTiledHistogram, MemoryDecides) {
  Case of({4096, 2048}, 32, 7);
  const TiledHistogram groups(of.shape, Type::u8, of.binning, {}, {.workers = gpus(), .memory = 256u << 20});
  EXPECT_GT(groups.piece_grid().groups, 1);
  EXPECT_EQ(groups.piece_grid().rows, 1);
  EXPECT_EQ(check(groups, of).wrong, 0);
  Case again({4096, 2048}, 32, 7);
  EXPECT_EQ(check(groups, again).wrong, 0);
  Case once_more({4096, 2048}, 32, 7);
  const TiledHistogram tiles(of.shape, Type::u8, of.binning, {}, {.workers = gpus(), .memory = 48u << 20});
  EXPECT_EQ(tiles.piece_grid().groups, 1);
  EXPECT_GT(tiles.piece_grid().rows, 1);
  EXPECT_EQ(check(tiles, once_more).wrong, 0);
}

TEST_F(CudaTiledHistogram, AnswersAreTheCpus) {
  Case of({3000, 2000}, 16, 9);
  std::mt19937_64 random(11);
  std::vector<Region> regions{{0, 0, 3000, 2000}};
  for (int i = 0; i < 300; ++i) {
    const auto x = static_cast<std::int64_t>(random() % 3000), y = static_cast<std::int64_t>(random() % 2000);
    regions.push_back({x, y, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(3001 - x)),
                       static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2001 - y))});
  }
  const auto expected =
      region_histograms(std::as_const(of.image).view(), of.binning, regions, {.execution = {.backend = Backend::cpu}});
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{64} << 20})
    for (const std::int64_t bins : {0, 5}) {
      const TiledHistogram tiled(of.shape, Type::u8, of.binning, {},
                                 {.workers = gpus(), .memory = bytes, .bins = bins});
      for (int call = 0; call < 2; ++call) {
        std::vector<std::uint64_t> counts(regions.size() * 16, 5);
        tiled.answers(of.read(), regions, counts);
        EXPECT_EQ(counts, expected) << bytes << " bytes, " << bins << " bins";
      }
    }
}

TEST_F(CudaTiledHistogram, WhatEndsACall) {
  Case of({1000, 1000}, 8, 3);
  const TiledHistogram tiled(of.shape, Type::u8, of.binning, {}, {.workers = gpus(), .piece_bytes = 100000});
  int pieces = 0;
  tiled.pieces(of.read(), [&](const Piece&) { return ++pieces < 5; });
  EXPECT_EQ(pieces, 5);
  EXPECT_THROW(tiled.pieces(of.read(), [](const Piece&) -> bool { throw std::runtime_error("planted"); }),
               std::runtime_error);
  EXPECT_EQ(check(tiled, of).wrong, 0);
}

}  // namespace
}  // namespace areal
