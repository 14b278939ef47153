// Bilateral, compared with the pixels of every window.
#include <array>
#include <bit>
#include "filter_cases.hpp"

namespace {

using namespace filter_cases;
using areal::Window;

constexpr double sigmas[] = {0.3, 1, 4.5, 25, 80, 1e9};
constexpr Type outputs[] = {Type::u8, Type::f32, Type::f64};

Case of(double sigma, Type out, std::int64_t width, std::int64_t height, const Window& window) {
  Case c;
  c.filter = filter::Bilateral{sigma};
  c.out = out;
  c.shape = {width, height};
  c.options.window = window;
  c.least = 0;
  return c;
}

/// All levels or some of them, so that means are far from ties or near them.
void use_levels(Case& c, std::uint64_t seed) {
  constexpr double most[] = {1, 5, 40, 255};
  c.most = most[seed % 4];
  c.least = seed % 8 < 4 ? 0 : std::floor(c.most / 2);
  if (c.out == Type::u8 && c.most < 40) c.most = 255;  // too many windows would be too close to call
  c.seed = seed;
}

TEST(FilterBilateral, TheOracleCatchesOneChangedPixel) {
  for (const Type out : outputs) {
    Case c = of(25, out, 33, 21, {3, 3});
    c.least = 10, c.most = 60;
    Memory memory(c);
    run(c, memory);
    EXPECT_EQ(differences(c, memory), "");
    memory.image.set(std::uint8_t{99}, 6, 8);
    EXPECT_NE(differences(c, memory), "") << c.words();
  }
}

TEST(FilterBilateral, WindowsAtEveryEdge) {
  std::uint64_t seed = 7000;
  for (const Edge edge : oracle::edges)
    for (const auto& [w, h] : {std::pair{1, 1}, {3, 3}, {8, 9}, {2, 4}, {17, 5}, {1, 7}, {40, 25}, {101, 77}})
      for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {67, 35}})
        for (const double sigma : sigmas) {
          ++seed;
          if (w * h * width * height > most_reads() / 8) continue;
          if (std::getenv("AREAL_TEST_SHORT") != nullptr && seed % 3 != 0) continue;
          Window window{w, h};
          window.edge = edge;
          window.value = 200;
          Case c = of(sigma, outputs[seed % 3], width, height, window);
          use_levels(c, seed);
          if (sigma > 1e6 && c.out == Type::u8) c.out = Type::f64;  // means, which tie
          expect_right(c);
        }
}

// With sigma 0.3 a masked pixel gives no weight to most others.
TEST(FilterBilateral, AnchorsMasksAndFill) {
  std::uint64_t seed = 7500;
  for (const Type out : outputs)
    for (const Edge edge : oracle::edges)
      for (const double sigma : {0.3, 4.5, 25.0})
        for (const auto& [w, h] : {std::pair{3, 3}, {9, 4}}) {
          Window window{w, h, 2, h - 1};
          window.edge = edge;
          window.value = 60;
          Case c = of(sigma, out, 37, 22, window);
          use_levels(c, ++seed);
          check_with_masks(c, w * h / 2 + 2, expect_right);
        }
}

TEST(FilterBilateral, ChannelsAndBatches) {
  std::uint64_t seed = 7800;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const Type type : outputs) {
        Case c = of(25, type, 23, 13, {5, 4});
        c.shape.channels = 3, c.shape.batch = 2, c.shape.layout = in;
        c.out_layout = out;
        use_levels(c, ++seed);
        expect_right(c);
        c.options.mask = true;
        expect_right(c);
      }
}

// Several panels and strips; one thread and all.
TEST(FilterBilateral, WideAndTallImages) {
  std::uint64_t seed = 7900;
  for (const auto& [width, height, w, h] :
       {std::array{2600, 5, 7, 3}, {1300, 4, 31, 3}, {5, 900, 3, 7}, {300, 3, 290, 3}})
    for (const Type type : outputs) {
      Case c = of(25, type, width, height, {w, h});
      use_levels(c, ++seed);
      c.execution.threads = static_cast<int>(seed / 2 % 2);
      expect_right(c);
    }
}

// Windows of 2^16 - 1 and more pixels: the counts' 16 bits end there. Flat images fill one level.
TEST(FilterBilateral, CountsOf16And32Bits) {
  for (const auto& [w, h] : {std::pair{255, 257}, {256, 256}, {300, 301}}) {
    Window window{w, h};
    window.edge = Edge::valid;
    for (const double levels : {1, 121}) {
      Case c = of(25, Type::f64, w + 1, h + 1, window);
      c.least = 100, c.most = 100 + levels - 1;
      c.seed = 7950;
      expect_right(c);
    }
  }
}

// The bits of a window do not depend on its way, of 16 or 32 bits of counts: an image of one window beside one of a
// larger window with a mask.
TEST(FilterBilateral, BitsDoNotDependOnTheCounts) {
  Case small = of(25, Type::f64, 300, 299, {21, 15}), large = small;
  small.seed = large.seed = 7960;
  small.options.window.edge = Edge::shrink;
  large.options.window = {600, 601};
  large.options.mask = true;
  const Memory one(small);
  Memory other(large);
  run(small, one);
  const areal::FilterPlan plan(large.shape, large.in, large.out, large.filter, large.options, large.execution);
  areal::Workspace workspace(plan);
  std::int64_t wrong = 0;
  for (const auto& [x, y] : {std::pair{0, 0}, {150, 20}, {299, 298}, {5, 137}}) {
    for (std::int64_t v = 0; v < 299; ++v)
      for (std::int64_t u = 0; u < 300; ++u)
        other.mask.set(static_cast<std::uint8_t>(u >= x - 10 && u <= x + 10 && v >= y - 7 && v <= y + 7 ? 1 : 0), u, v);
    plan.execute(other.arguments, workspace);
    wrong += std::bit_cast<std::uint64_t>(oracle::element(one.out.view(), x, y, 0, 0)) !=
                     std::bit_cast<std::uint64_t>(oracle::element(other.out.view(), x, y, 0, 0))
                 ? 1
                 : 0;
  }
  EXPECT_EQ(wrong, 0);
}

/// The last pixel of one row, in one window.
double of_pixels(double sigma, const std::vector<int>& pixels, Type out = Type::f64) {
  const auto n = static_cast<std::int64_t>(pixels.size());
  Window window{n, 1, n - 1, 0};
  window.edge = Edge::valid;
  const Case c = of(sigma, out, n, 1, window);
  Memory memory(c);
  for (std::int64_t x = 0; x < n; ++x)
    memory.image.set(static_cast<std::uint8_t>(pixels[static_cast<std::size_t>(x)]), x, 0);
  run(c, memory);
  return oracle::element(memory.out.view(), 0, 0, 0, 0);
}

TEST(FilterBilateral, KnownWindows) {
  EXPECT_EQ(of_pixels(25, {7, 7, 7}), 7);
  EXPECT_EQ(of_pixels(9, {90, 110, 100}), 100);
  EXPECT_EQ(of_pixels(10, {0, 255, 0, 255}), 255);            // an edge stays
  EXPECT_EQ(of_pixels(1e300, {0, 255, 1, 100}), 89);          // the mean
  EXPECT_EQ(of_pixels(1e-300, {0, 255, 99, 101, 100}), 100);  // nothing else
  EXPECT_NEAR(of_pixels(1, {11, 10}), 10 + 1 / (1 + std::exp(0.5)), 1e-9);
  EXPECT_EQ(of_pixels(1e300, {1, 2}, Type::u8), 2);  // half to even
  EXPECT_EQ(of_pixels(1e300, {0, 1}, Type::u8), 0);
}

TEST(FilterBilateral, EmptyImages) {
  for (const auto& [width, height] : {std::pair{0, 0}, {0, 5}, {5, 0}})
    expect_right(of(25, Type::u8, width, height, {3, 3}));
  Window window{std::int64_t{1} << 28, 9};
  window.edge = Edge::valid;
  expect_right(of(25, Type::u8, 5, 5, window));
}

TEST(FilterBilateral, RefusesInASentence) {
  const auto expect = [](const Case& c, const std::string& words) {
    EXPECT_NE(refusal(c).find(words), std::string::npos) << refusal(c);
  };
  Case c = of(25, Type::u8, 9, 9, {3, 3});
  EXPECT_EQ(areal::FilterPlan(c.shape, c.in, c.out, c.filter, c.options).algorithm(), "column-counts");
  c.out = Type::u16;
  expect(c, "bilateral filters give 8u, 32f or 64f");
  for (const Type type : {Type::s8, Type::u16, Type::f32}) {
    c = of(25, Type::f32, 9, 9, {3, 3});
    c.in = type;
    expect(c, "bilateral filters take 8u");
  }
  for (const double sigma :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    expect(of(sigma, Type::u8, 9, 9, {3, 3}), "it may be any finite number above 0");
  c = of(25, Type::u8, 9, 9, {3, 3});
  c.options.algorithm = "sliding-counts";
  expect(c, "it takes equalize, otsu, entropy and modal");
  c = of(25, Type::u8, 20, 20, {3000, 3});
  c.options.window.edge = Edge::reflect;
  expect(c, "reaches more than 1024 pixels beyond the edge");
  c = of(25, Type::u8, 900, 9, {300, 3});
  c.execution.backend = areal::Backend::simt;
  expect(c, has_simt() ? "algorithm window-counts: it takes windows of up to 256 columns and 65535 pixels"
                       : "this build has no simulated machine");
}

}  // namespace
