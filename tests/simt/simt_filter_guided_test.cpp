// guided-walk on the simulated machine: the CPU's bits, and the predicted reads, writes and bank conflicts.
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "device_filter_cases.hpp"
#include "device_filter_request.hpp"
#include "kernels/filter/guided/guided-walk.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "simt/plan.hpp"

namespace areal {
namespace {

using device_filters::Case;
using device_filters::Pixels;
using device_filters::rows_read;
using device_filters::Scene;

kernels::FilterRequest request_of(const Case& c) { return device_filters::request_of(c, "guided-walk"); }

std::vector<LaunchCounts> run(const Case& c, Scene& scene, simt::Options options = {}) {
  options.seed = c.seed;
  const kernels::FilterRequest request = request_of(c);
  std::vector<char> workspace(kernels::guided_workspace_bytes(request));
  return simt::execute<kernels::FilterSubject>(request, scene.arguments(c, scene.out.view), workspace.data(), options);
}
std::string fault(const Case& c, const simt::Options& options = {}) {
  Scene scene(c);
  run(c, scene, options);
  return scene.fault(c);
}
Case guided(const Shape& image, Type type, const Window& window, std::int64_t channels) {
  Case c{image, type, type, filter::Guided{0.3}};
  c.options.window = window, c.options.guide = channels;
  return c;
}

TEST(SimtFilterGuided, TheTestCanFail) {
  const Case c = guided({30, 20}, Type::u8, {5, 11}, 1);
  Scene scene(c);
  run(c, scene);
  scene.out.at(7, 7, 0, 0)[0] ^= 1;
  EXPECT_NE(scene.fault(c), "");
  run(c, scene);
  EXPECT_EQ(scene.fault(c), "");
}

TEST(SimtFilterGuided, EveryTypeGuideAndEdge) {
  for (const Case& c : device_filters::random_guided_cases(150, 900, 60, 20261128)) EXPECT_EQ(fault(c), "");
}

TEST(SimtFilterGuided, EverySquareWindow) {
  for (std::int64_t k = 1; k <= 42; ++k)
    for (const Type type : {Type::u8, Type::f32}) {
      Case c = guided({48, 50}, type, {.width = k, .height = k}, k % 2);
      c.options.window.edge = device_filters::edges[type == Type::u8 ? 1 + k % 2 : 1 + k % 7];
      c.pixels = type == Type::u8 ? Pixels::plain : Pixels::wild, c.seed = static_cast<unsigned>(k);
      EXPECT_EQ(fault(c), "");
    }
}

// Squares of floats have 48 bits, so that the sums of more than 32 rows depend on their order.
TEST(SimtFilterGuided, EveryEdgeInTheOrderOfAdditions) {
  for (const Edge edge : device_filters::edges)
    for (const std::int64_t channels : {0, 1}) {
      if (edge == Edge::valid) continue;
      Case c = guided({43, 77}, Type::f32, {.width = 5, .height = 65, .edge = edge}, channels);
      c.filter = filter::Guided{1e-9}, c.pixels = Pixels::flat;
      EXPECT_EQ(fault(c), "");
    }
}

// Every first byte of the words that windows begin in, and of those that they end in.
TEST(SimtFilterGuided, EveryAnchor) {
  for (std::int64_t k = 1; k <= 12; ++k)
    for (std::int64_t anchor = 0; anchor < k; ++anchor) {
      Case c = guided({832, 5}, Type::u8, {.width = k, .height = 3}, 1);
      c.options.window.anchor_x = anchor;
      EXPECT_EQ(fault(c), "");
    }
}

// Windows whose sums of products leave 31 bits, and those of more than 65 columns, take two passes.
TEST(SimtFilterGuided, HighAndWideWindows) {
  for (const Window& window : {Window{17, 17}, {17, 18}, {65, 40}, {66, 9}, {9, 130}, {3, 512}, {384, 9}, {200, 200}})
    for (const Type type : {Type::u8, Type::f32}) {
      Case c = guided({200, 60}, type, window, 1);
      c.options.window.edge = Edge::shrink;
      c.pixels = Pixels::outliers;
      EXPECT_EQ(fault(c), "");
    }
}

TEST(SimtFilterGuided, StripsAndSegments) {
  for (const std::int64_t height : {3, 8, 9, 16, 17, 31})
    for (const int together : {1, 7, 40})
      for (const Type type : {Type::u8, Type::f32}) {
        Case c = guided({1800, 70}, type, {.width = 15, .height = height}, 1);
        simt::Options options;
        options.together = together;
        EXPECT_EQ(fault(c, options), "");
      }
}

TEST(SimtFilterGuided, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Edge edge : device_filters::edges)
    for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}})
      for (const Type type : {Type::u8, Type::f32})
        for (const std::int64_t k : {1, 7, 19}) {
          if (edge == Edge::valid) continue;
          EXPECT_EQ(fault(guided(shape, type, {.width = k, .height = k, .edge = edge}, 1)), "");
        }
}

// In two passes: image and guide as sums by blocks read rows, then the lines in the same way, and the guide once.
TEST(SimtFilterGuided, PassesReadAndWriteThePredicted) {
  for (const std::int64_t height : {5, 8, 9, 15}) {
    const Case c = guided({960, 90}, Type::f32, {.width = 15, .height = height, .edge = Edge::zero}, 1);
    Scene scene(c);
    const auto launches = run(c, scene);
    EXPECT_EQ(scene.fault(c), "");
    ASSERT_EQ(launches.size(), 2u);
    kernels::FilterRequest r = request_of(c);
    ASSERT_EQ(kernels::block_strips(r.columns, kernels::block_strip_columns(15, 512)), 2);  // of 496 outputs
    const int each = kernels::segment_rows(90, kernels::block_begin_rows(height), 2, simt::Options().together);
    const std::uint64_t columns = 2 * 512;  // threads whose columns lie beyond the image load others
    const Counts &lines = launches[0].counts, &means = launches[1].counts;
    EXPECT_EQ(lines.reads.bytes, static_cast<std::uint64_t>(rows_read(r, each)) * columns * 8) << height;
    EXPECT_EQ(lines.writes.bytes, 960u * 90u * 16u) << height;
    r.rows = kernels::reversed(r.rows);
    EXPECT_EQ(means.reads.bytes, static_cast<std::uint64_t>(rows_read(r, each)) * columns * 16 + 960 * 90 * 4)
        << height;
    EXPECT_EQ(means.writes.bytes, 960u * 90u * 4u) << height;
    for (const Counts& counts : {lines, means}) {
      EXPECT_EQ(counts.shared_reads.conflicts, 0u) << height;
      EXPECT_EQ(counts.shared_writes.conflicts, 0u) << height;
    }
  }
}

// Bytes to bytes of every edge, strips and segments included; eps so small that many outputs are computed again.
TEST(SimtFilterGuided, StepsOfEveryEdge) {
  for (const Edge edge : device_filters::edges)
    for (const Window& window : {Window{5, 5}, {9, 17}, {33, 25}})
      for (const std::int64_t channels : {0, 1}) {
        if (edge == Edge::valid) continue;
        Case c = guided({430, 110}, Type::u8, window, channels);
        c.options.window.edge = edge, c.options.window.value = 99, c.filter = filter::Guided{2.5e-4};
        EXPECT_EQ(kernels::guided_by_steps(request_of(c)), edge != Edge::replicate) << static_cast<int>(edge);
        EXPECT_EQ(fault(c), "");
      }
}

// Windows of as many ones as zeros, and a guide that is the same everywhere: every output is 1/2, which is rounded to
// 0.
TEST(SimtFilterGuided, OutputsInTheMiddleAreRoundedToEven) {
  Case c = guided({300, 40}, Type::u8, {.width = 6, .height = 10, .edge = Edge::shrink}, 1);
  Scene scene(c);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 300; ++x)
      *scene.image.at(x, y, 0, 0) = x % 2 == 0 ? 0 : 1, *scene.guide.at(x, y, 0, 0) = 7;
  apply(c.filter, scene.arguments(c, scene.expected.view), c.options, {.backend = Backend::cpu});
  ASSERT_EQ(*scene.expected.at(150, 20, 0, 0), 0);
  ASSERT_TRUE(kernels::guided_by_steps(request_of(c)));
  run(c, scene);
  EXPECT_EQ(scene.fault(c), "");
}

// One launch, which reads image and guide by the byte. The lines that windows leave are in shared memory up to 19 rows.
TEST(SimtFilterGuided, StepsWriteThePredicted) {
  for (const std::int64_t height : {5, 9, 19, 20}) {
    Case c = guided({448, 60}, Type::u8, {.width = 17, .height = height, .edge = Edge::zero}, 1);
    c.filter = filter::Guided{400};
    Scene scene(c);
    const auto launches = run(c, scene);
    EXPECT_EQ(scene.fault(c), "");
    ASSERT_EQ(launches.size(), 1u);
    const Counts& counts = launches[0].counts;
    EXPECT_EQ(counts.shared_reads.conflicts, 0u) << height;
    EXPECT_EQ(counts.shared_writes.conflicts, 0u) << height;
    EXPECT_EQ(counts.writes.bytes > 448u * 60u, height == 20) << height;
  }
}

// Bytes to floats: one launch, which writes the rows of lines that wait, 16 bytes a column.
TEST(SimtFilterGuided, BytesWriteThePredicted) {
  for (const std::int64_t height : {5, 9, 16}) {
    Case c = guided({720, 60}, Type::u8, {.width = 17, .height = height}, 1);
    c.out = Type::f32;
    Scene scene(c);
    simt::Options options;
    options.together = 1;
    const auto launches = run(c, scene, options);
    EXPECT_EQ(scene.fault(c), "");
    ASSERT_EQ(launches.size(), 1u);
    const Counts& counts = launches[0].counts;
    const int each = kernels::segment_rows(60, kernels::guided_begin_rows(height), 2, 1);
    const std::int64_t rows = 60 + (59 / each + 1) * (height - 1);
    EXPECT_EQ(counts.writes.bytes, static_cast<std::uint64_t>(720 * 60 * 4 + 2 * rows * 512 * 16)) << height;
    EXPECT_EQ(counts.shared_reads.conflicts, 0u) << height;
    EXPECT_EQ(counts.shared_writes.conflicts, 0u) << height;
  }
}

TEST(SimtFilterGuided, RefusesWhatItHasNoKernelFor) {
  const auto why = [](auto change) {
    kernels::FilterRequest request = request_of(guided({40, 30}, Type::u8, {5, 5}, 1));
    change(request);
    return simt::refusal_of<kernels::FilterSubject>(request).why;
  };
  EXPECT_EQ(why([](auto&) {}), "");
  EXPECT_EQ(why([](auto& r) { r.guide = 3; }),
            "algorithm guided-walk: it takes guides of 1 channel; those of 3 run on the CPU");
  EXPECT_NE(why([](auto& r) { r.columns.size = 385; }), "");
  EXPECT_NE(why([](auto& r) { r.rows.size = 513; }), "");
  EXPECT_NE(why([](auto& r) { r.filter = filter::Mean{}; }), "");
}

}  // namespace
}  // namespace areal
