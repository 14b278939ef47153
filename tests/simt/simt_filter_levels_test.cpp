// Statistics of a window's counts by level on the simulated machine: the CPU's bits, and the reads and writes that the
// kernel's contract promises.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/areal.hpp>
#include <cstdint>
#include <string>
#include <vector>
#include "device_filter_cases.hpp"
#include "device_filter_request.hpp"
#include "kernels/filter/counts/window-counts.hpp"
#include "kernels/filter/segments.hpp"

namespace areal {
namespace {

using device_filters::Case;
using device_filters::Pixels;
using device_filters::Scene;

const std::vector<Filter>& filters() {
  static const std::vector<Filter> all{
      filter::Percentile{}, filter::Equalize{}, filter::Otsu{},       filter::Otsu{.zeros_alone = false},
      filter::Entropy{},    filter::Modal{},    filter::Bilateral{30}};
  return all;
}
Case of(const Filter& filter, const Shape& image, const Window& window) {
  Case c{image, Type::u8, std::holds_alternative<filter::Entropy>(filter) ? Type::f64 : Type::u8, filter};
  c.options.window = window;
  return c;
}

std::vector<LaunchCounts> run(const Case& c, Scene& scene) { return device_filters::run(c, scene, "window-counts"); }
std::string fault(const Case& c) {
  Scene scene(c);
  run(c, scene);
  return scene.fault(c);
}

TEST(SimtFilterLevels, TheTestCanFail) {
  for (const Filter& filter : filters()) {
    Case c = of(filter, {40, 9}, {5, 3});
    c.pixels = Pixels::few;
    Scene scene(c);
    for (std::int64_t y = 2; y < 7; ++y)
      for (std::int64_t x = 8; x < 14; ++x) *scene.image.at(x, y, 0, 0) = static_cast<char>(250 + (x + y) % 3);
    run(c, scene);
    EXPECT_NE(scene.fault(c), "") << device_filters::words(c);
    EXPECT_EQ(fault(c), "");
  }
}

TEST(SimtFilterLevels, RandomCases) {
  for (const Case& c : device_filters::random_level_cases(24, 150, 20, 20261128)) EXPECT_EQ(fault(c), "");
}

TEST(SimtFilterLevels, APlanChoosesWindowCounts) {
  for (const Filter& filter : filters()) {
    Case c = of(filter, {40, 9}, {7, 3});
    c.options.mask = true;
    EXPECT_EQ(FilterPlan(c.image, c.in, c.out, c.filter, c.options, {.backend = Backend::simt}).algorithm(),
              "window-counts");
    Scene scene(c);
    apply(c.filter, scene.arguments(c, scene.out.view), c.options, {.backend = Backend::simt});
    EXPECT_EQ(scene.fault(c), "");
  }
}

// Counts of 16 bits hold all pixels of a window: of one level, of two, or of all.
TEST(SimtFilterLevels, LargeWindows) {
  for (const Filter& filter : filters())
    for (const Pixels pixels : {Pixels::outliers, Pixels::wild, Pixels::plain})
      for (const Edge edge : {Edge::wrap, Edge::valid}) {
        if (edge == Edge::wrap && pixels != Pixels::plain) continue;
        Case c = of(filter, edge == Edge::wrap ? Shape{8, 2} : Shape{256, 258}, {255, 257});
        c.options.window.edge = edge, c.pixels = pixels;
        EXPECT_EQ(fault(c), "");
      }
}

TEST(SimtFilterLevels, ImagesOfOneRowOrColumnOrOfNone) {
  for (const Filter& filter : filters())
    for (const Edge edge : device_filters::edges)
      for (const Shape& shape : {Shape{1, 1}, {1, 40}, {40, 1}, {0, 5}, {5, 0}, {17, 3}, {150, 2}}) {
        Case c = of(filter, shape, {9, 7});
        c.options.window.edge = edge;
        EXPECT_EQ(fault(c), "");
      }
}

// Otsu's thresholds of which doubles cannot tell the better one: both halves of a window and its mirror image.
TEST(SimtFilterLevels, OtsuDecidesTiesExactly) {
  for (unsigned seed = 1; seed < 16; ++seed) {
    Case c = of(filter::Otsu{}, {64, 9}, {64, 9});
    c.options.window.edge = Edge::valid, c.seed = seed;
    Scene scene(c);
    for (std::int64_t y = 0; y < 9; ++y)
      for (std::int64_t x = 0; x < 32; ++x)
        *scene.image.at(63 - x, y, 0, 0) = static_cast<char>(255 - *scene.image.at(x, y, 0, 0));
    apply(c.filter, scene.image.view, scene.expected.view, c.options, {.backend = Backend::cpu});
    run(c, scene);
    EXPECT_EQ(scene.fault(c), "");
  }
}

TEST(SimtFilterLevels, ReadsWritesAndBankConflicts) {
  for (const Filter& filter : filters()) {
    Case c = of(filter, {64 + 14, 40}, {15, 15});
    c.options.window.edge = Edge::valid, c.pixels = Pixels::outliers;
    Scene scene(c);
    const std::vector<LaunchCounts> launches = run(c, scene);
    ASSERT_EQ(scene.fault(c), "");
    ASSERT_EQ(launches.size(), 1u);
    const Counts& counts = launches[0].counts;
    const int each = kernels::segment_rows(26, 2 + 0.4 * 15, 1, simt::Options().together);
    std::uint64_t rows = 0, table = 0;
    for (int y = 0; y < 26; y += each) rows += 2 * static_cast<std::uint64_t>(std::min(each, 26 - y)) + 13;
    // Of a flat image, counts change before the first output of a segment alone.
    if (std::holds_alternative<filter::Entropy>(filter))
      for (int y = 0; y < 26; y += each) table += (15 * 15 + 1) * 8;
    const std::uint64_t outputs = 64 * 26;
    std::uint64_t centres = 0;
    if (std::holds_alternative<filter::Equalize>(filter)) centres = outputs;
    if (std::holds_alternative<filter::Bilateral>(filter)) centres = outputs * (1 + sizeof(kernels::RangePair));
    EXPECT_EQ(counts.reads.bytes, (rows * 15 + table) * 64 + centres);
    EXPECT_EQ(counts.writes.bytes, outputs * size_of(c.out));
    EXPECT_EQ(counts.shared_reads.conflicts, 0u);
    EXPECT_EQ(counts.shared_writes.conflicts, 0u);
  }
}

}  // namespace
}  // namespace areal
