// blocks on the simulated machine: the CPU's bits, and the predicted reads, writes and bank conflicts.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "device_filter_cases.hpp"
#include "device_filter_request.hpp"
#include "kernels/filter/blocks/blocks.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using device_filters::Case;
using device_filters::Pixels;
using device_filters::rows_read;
using device_filters::Scene;

kernels::FilterRequest request_of(const Case& c) { return device_filters::request_of(c, "blocks"); }

std::vector<LaunchCounts> run(const Case& c, Scene& scene, simt::Options options = {}) {
  options.seed = c.seed;
  const kernels::FilterRequest request = request_of(c);
  std::vector<char> workspace(kernels::blocks_workspace_bytes(request));
  return simt::execute<kernels::FilterSubject>(request, scene.arguments(c, scene.out.view), workspace.data(), options);
}
std::string fault(const Case& c, const simt::Options& options = {}) {
  Scene scene(c);
  run(c, scene, options);
  return scene.fault(c);
}

TEST(SimtFilterBlocks, TheTestCanFail) {
  Case c{{30, 20}};
  c.options.window = {5, 11};
  Scene scene(c);
  run(c, scene);
  scene.out.at(7, 7, 0, 0)[0] ^= 1;
  EXPECT_NE(scene.fault(c), "");
  run(c, scene);
  EXPECT_EQ(scene.fault(c), "");
}

TEST(SimtFilterBlocks, EveryTypeAndStatistic) {
  for (const Case& c : device_filters::random_cases(6, 70, 40, 20261126)) EXPECT_EQ(fault(c), "");
}

TEST(SimtFilterBlocks, EverySquareWindow) {
  for (std::int64_t k = 1; k <= 42; ++k)
    for (const Pixels pixels : {Pixels::plain, Pixels::wild}) {
      Case c{{48, 50}};
      c.options.window = {.width = k, .height = k};
      c.options.window.edge = device_filters::edges[1 + k % 7];
      c.pixels = pixels, c.seed = static_cast<unsigned>(k);
      EXPECT_EQ(fault(c), "");
    }
}

// Totals of blocks of rows wait in shared memory or in the workspace.
TEST(SimtFilterBlocks, HighAndWideWindows) {
  for (const Window& window : {Window{9, 40},
                               {3, 41},
                               {64, 72},
                               {65, 72},
                               {64, 73},
                               {5, 130},
                               {1, 512},
                               {255, 20},
                               {384, 9},
                               {383, 3},
                               {250, 250},
                               {7, 511}})
    for (const Filter& filter : {Filter(filter::Mean{}), Filter(filter::StandardDeviation{})})
      for (const Type in : {Type::f32, Type::f64}) {
        Case c{{200, 60}, in, in, filter};
        c.options.window = window, c.options.window.edge = device_filters::edges[1 + window.height % 7];
        c.options.mask = window.height == 130;
        EXPECT_EQ(fault(c), "");
      }
}

// Strips of many blocks, and segments that begin at every row of a block.
TEST(SimtFilterBlocks, StripsAndSegments) {
  for (const std::int64_t height : {3, 8, 9, 16, 17, 31, 47})
    for (const int together : {1, 7, 40}) {
      Case c{{1500, 70}};
      c.options.window = {.width = 15, .height = height};
      c.options.window.edge = device_filters::edges[height % 8];
      simt::Options options;
      options.together = together;
      EXPECT_EQ(fault(c, options), "");
    }
  Case high{{40, 1000}};  // segments of more than one round
  high.options.window = {.width = 5, .height = 20};
  simt::Options options;
  options.together = 2;
  EXPECT_EQ(fault(high, options), "");
}

TEST(SimtFilterBlocks, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : device_filters::edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}})
      for (const std::int64_t k : {1, 7, 19}) {
        Case c{shape};
        c.options.window = {.width = k, .height = k}, c.options.window.edge = edge;
        EXPECT_EQ(fault(c), "");
      }
}

// Every address of outputs, whose warps store vectors of aligned addresses.
TEST(SimtFilterBlocks, EveryAddress) {
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t anchor = 0; anchor < 5; ++anchor) {
      Case c{{700 + i, 4}};
      c.options.window = {.width = 13, .height = 10}, c.options.window.anchor_x = anchor;
      c.out_offset = 4 * i, c.out_gap = 4 * (anchor % 3), c.gap = 4 * (i % 2), c.offset = i;
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterBlocks, MeansOfEveryWindowEdgeAndAddress) {
  for (const Case& c : device_filters::mean_cases(120, 600, 90, 20261129)) EXPECT_EQ(fault(c), "");
}

// Rows of outputs from the middle of an image, as a part of it has them.
TEST(SimtFilterBlocks, MeansOfPartsOfAnImage) {
  for (const Edge edge : device_filters::edges) {
    if (edge == Edge::valid) continue;
    for (const std::int64_t k : {4, 15, 30, 64})
      for (const std::int64_t begin : {1, 13, 40}) {
        Case c{{300, 50}};
        c.options.window = {.width = 15, .height = k, .edge = edge};
        Scene scene(c);
        kernels::FilterRequest part = request_of(c);
        part.rows.before -= begin, part.rows.outputs -= begin;
        FilterArguments views = scene.arguments(c, scene.out.view);
        views.out.data = scene.out.view.row(begin), views.out.shape.height -= begin;
        std::vector<char> workspace(kernels::blocks_workspace_bytes(part));
        simt::execute<kernels::FilterSubject>(part, views, workspace.data());
        for (std::int64_t y = 0; y < begin; ++y) std::memcpy(scene.out.view.row(y), scene.expected.view.row(y), 1200);
        EXPECT_EQ(scene.fault(c), "") << begin;
      }
  }
}

/// The number of image rows that a strip of BlockMeans reads if its segments are one round of blocks of `strips`
/// strips.
std::int64_t rows_of_means(const kernels::FilterRequest& r, std::int64_t strips, std::int64_t held) {
  const auto block_of = [&](std::int64_t y) { return formulas::floor_div(y - r.rows.before + r.rows.size - 1, 8); };
  const std::int64_t first = block_of(0), end = block_of(r.rows.outputs - 1) + 1;
  const std::int64_t segments = std::clamp<std::int64_t>(held / strips, 1, end - first);
  const std::int64_t each = (end - first + segments - 1) / segments;
  std::int64_t rows = 0;
  for (std::int64_t step = first; step < end; step += each)
    for (std::int64_t v = 8 * (step - (r.rows.size - 1) / 8 - 1); v < 8 * std::min(step + each, end); ++v)
      rows += v >= 0 && v < r.rows.extent;
  return rows;
}

/// The counts of the only launch of a case whose outputs are right.
Counts counts_of(const Case& c) {
  Scene scene(c);
  const auto launches = run(c, scene);
  EXPECT_EQ(scene.fault(c), "");
  EXPECT_EQ(launches.size(), 1u);
  return launches.empty() ? Counts() : launches[0].counts;
}

TEST(SimtFilterBlocks, ReadsAndWritesAreThePredictedOnes) {
  for (const std::int64_t height : {5, 8, 9, 15, 33, 47}) {
    Case c{{960, 90}, Type::f32, Type::f64};
    c.options.window = {.width = 15, .height = height, .edge = Edge::zero};
    const Counts counts = counts_of(c);
    const kernels::FilterRequest r = request_of(c);
    ASSERT_EQ(kernels::block_strips(r.columns, kernels::block_strip_columns(r.columns.size, 512)),
              2);  // of 496 outputs
    const int each = kernels::segment_rows(90, kernels::block_begin_rows(height), 2, simt::Options().together);
    // The first strip begins 8 columns before the image.
    const auto columns = static_cast<std::uint64_t>(504 + (960 - 488));
    std::uint64_t totals = 0;
    if (height > 40)  // in the workspace
      totals = counts.reads.bytes - static_cast<std::uint64_t>(rows_read(r, each)) * columns * 4;
    EXPECT_EQ(counts.reads.bytes, static_cast<std::uint64_t>(rows_read(r, each)) * columns * 4 + totals) << height;
    EXPECT_EQ(totals % (512 * 8), 0u);
    if (height <= 40) {
      EXPECT_EQ(counts.writes.bytes, 960u * 90u * 8u) << height;
    }
    EXPECT_EQ(counts.shared_reads.conflicts, 0u) << height;
    EXPECT_EQ(counts.shared_writes.conflicts, 0u) << height;
  }
}

TEST(SimtFilterBlocks, MeansReadAndWriteThePredicted) {
  for (const std::int64_t height : {5, 8, 9, 15, 33, 47, 72}) {
    Case c{{960, 90}};
    c.options.window = {.width = 15, .height = height, .edge = Edge::zero};
    const Counts counts = counts_of(c);
    const kernels::FilterRequest r = request_of(c);
    // Strips of 240 outputs read 256 columns; the first begins 8 columns before the image, the last one ends 8 after
    // it.
    const std::int64_t rows = rows_of_means(r, 4, simt::Options().together);
    EXPECT_EQ(counts.reads.bytes, static_cast<std::uint64_t>(rows * (2 * 248 + 2 * 256) * 4)) << height;
    EXPECT_EQ(counts.writes.bytes, 960u * 90u * 4u) << height;
    EXPECT_EQ(counts.shared_reads.conflicts, 0u) << height;
    EXPECT_EQ(counts.shared_writes.conflicts, 0u) << height;
  }
}

/// Means in the middle of two floats, and next to it; tiny ones; zeros of both signs.
TEST(SimtFilterBlocks, MeansAreRoundedAsQuotients) {
  for (const std::int64_t k : {1, 2, 3, 5, 16, 31})
    for (const Pixels pixels : {Pixels::plain, Pixels::wild, Pixels::middles}) {
      Case c{{300, 40}};
      c.options.window = {.width = k, .height = k, .edge = Edge::replicate};
      c.pixels = pixels, c.seed = static_cast<unsigned>(k);
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterBlocks, RefusesWhatItHasNoKernelFor) {
  const auto why = [](auto change) {
    kernels::FilterRequest request = request_of({{40, 30}});
    change(request);
    return simt::refusal_of<kernels::FilterSubject>(request).why;
  };
  EXPECT_EQ(why([](auto&) {}), "");
  EXPECT_NE(why([](auto& r) { r.columns.size = 385; }), "");
  EXPECT_NE(why([](auto& r) { r.rows.size = 513; }), "");
  EXPECT_NE(why([](auto& r) { r.in = Type::u8; }), "");
  EXPECT_NE(why([](auto& r) { r.filter = filter::Minimum{}; }), "");
  EXPECT_NE(why([](auto& r) { r.filter = filter::Threshold{filter::Local::wolf}; }), "");
}

}  // namespace
}  // namespace areal
