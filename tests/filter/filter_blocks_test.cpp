// Floats by blocks, minima and maxima, compared with the pixels of every window.
#include "filter_cases.hpp"

namespace {

using namespace filter_cases;
using areal::Window;

constexpr Type floats[] = {Type::f16, Type::f32, Type::f64};
constexpr Type all_types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                              Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};

Case of(const Filter& filter, Type in, Type out, std::int64_t width, std::int64_t height, const Window& window) {
  Case c;
  c.filter = filter;
  c.in = in, c.out = out;
  c.shape = {width, height};
  c.options.window = window;
  c.least = areal::is_float(in) || areal::is_signed_integer(in) ? -100 : 0;
  c.most = 120;
  return c;
}

TEST(FilterBlocks, TheOracleCatchesOneChangedPixel) {
  for (const Filter& filter : {Filter{filter::Mean{}}, Filter{filter::Maximum{}}}) {
    const Case c = of(filter, Type::f32, Type::f32, 33, 21, {5, 3});
    Memory memory(c);
    run(c, memory);
    EXPECT_EQ(differences(c, memory), "");
    memory.image.set(memory.image.get<float>(7, 9) + 300, 7, 9);
    EXPECT_NE(differences(c, memory), "");
  }
}

TEST(FilterBlocks, WindowsAtEveryEdge) {
  std::uint64_t seed = 2000;
  for (const Filter& filter : {Filter{filter::Mean{}}, Filter{filter::Minimum{}}, Filter{filter::Maximum{}}})
    for (const Edge edge : oracle::edges)
      for (const auto& [w, h] : {std::pair{1, 1}, {3, 3}, {8, 9}, {9, 8}, {2, 4}, {17, 5}, {1, 7}, {40, 25}, {101, 77}})
        for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {67, 35}}) {
          if (w * h * width * height > most_reads()) continue;
          Window window{w, h};
          window.edge = edge;
          window.value = 50;
          Case c = of(filter, Type::f32, Type::f32, width, height, window);
          c.seed = ++seed;
          expect_right(c);
        }
}

TEST(FilterBlocks, WindowsOfBlocksOf64) {
  std::uint64_t seed = 2500;
  for (const Edge edge : {Edge::shrink, Edge::reflect, Edge::constant, Edge::valid})
    for (const auto& [w, h] : {std::pair{513, 1}, {1, 515}, {600, 3}, {512, 2}}) {
      Window window{w, h};
      window.edge = edge;
      window.value = -3;
      Case c = of(filter::Sum{}, Type::f64, Type::f64, w > h ? 700 : 6, w > h ? 5 : 700, window);
      c.seed = ++seed;
      expect_right(c);
      c.filter = filter::Maximum{};
      expect_right(c);
    }
}

TEST(FilterBlocks, EveryStatisticTypeAndOutput) {
  const Filter filters[] = {filter::Sum{},
                            filter::Mean{},
                            filter::Count{},
                            filter::Variance{},
                            filter::Variance{2},
                            filter::StandardDeviation{},
                            filter::StandardDeviation{1}};
  std::uint64_t seed = 3000;
  for (const Filter& filter : filters)
    for (const Type in : floats)
      for (const Type out : {Type::u8, Type::s16, Type::s32, Type::f32, Type::f64})
        for (const Edge edge : {Edge::shrink, Edge::reflect, Edge::constant, Edge::zero, Edge::valid})
          for (const bool omit : {false, true}) {
            Window window{7, 5};
            window.edge = edge;
            window.value = 30;
            Case c = of(filter, in, out, 41, 17, window);
            c.options.nan = omit ? areal::Missing::omit : areal::Missing::propagate;
            c.nan_share = 0.01;
            c.seed = ++seed;
            expect_right(c);
          }
}

TEST(FilterBlocks, ExtremesOfEveryType) {
  std::uint64_t seed = 3500;
  for (const Filter& filter : {Filter{filter::Minimum{}}, Filter{filter::Maximum{}}})
    for (const Type type : all_types)
      for (const Edge edge : oracle::edges)
        for (const bool mask : {false, true}) {
          Window window{9, 4, 2, 3};
          window.edge = edge;
          window.value = 60;
          Case c = of(filter, type, type, 29, 22, window);
          c.options.mask = mask;
          c.options.min_count = mask ? 20 : 1;
          c.nan_share = areal::is_float(type) ? 0.02 : 0;
          if (areal::is_float(type) && mask) c.options.nan = areal::Missing::omit;
          if (mask) c.options.fill = 7;
          c.seed = ++seed;
          expect_right(c);
        }
}

TEST(FilterBlocks, ThresholdsOfFloats) {
  using filter::Local;
  std::uint64_t seed = 4000;
  for (const Local method : {Local::mean, Local::bradley, Local::niblack, Local::sauvola, Local::wolf, Local::nick})
    for (const Type in : floats)
      for (const Type out : {Type::u8, Type::f64})
        for (const bool mask : {false, true}) {
          filter::Threshold t;
          t.method = method;
          t.r = 64;
          Window window{9, 5, 2, 4};
          window.edge = mask ? Edge::symmetric : Edge::shrink;
          Case c = of(t, in, out, 29, 31, window);
          c.options.mask = mask;
          c.seed = ++seed;
          expect_right(c);
        }
}

TEST(FilterBlocks, ChannelsAndBatches) {
  std::uint64_t seed = 4500;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const Filter& filter : {Filter{filter::Mean{}}, Filter{filter::Maximum{}}}) {
        Case c = of(filter, Type::f32, Type::f32, 23, 13, {5, 4});
        c.shape.channels = 3, c.shape.batch = 2, c.shape.layout = in;
        c.out_layout = out;
        c.options.mask = true;
        c.seed = ++seed;
        expect_right(c);
      }
}

// Infinities and outliers change exactly the windows that hold them.
TEST(FilterBlocks, OutliersStayLocal) {
  for (const double outlier : {1e20, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    for (const Filter& filter : {Filter{filter::Mean{}}, Filter{filter::Variance{}}, Filter{filter::Minimum{}}})
      for (const Type type : {Type::f32, Type::f64}) {
        const Case c = of(filter, type, type, 60, 40, {7, 5});
        Memory before(c), after(c);
        run(c, before);
        if (type == Type::f32)
          after.image.set(static_cast<float>(outlier), 30, 20);
        else
          after.image.set(outlier, 30, 20);
        run(c, after);
        for (std::int64_t y = 0; y < 40; ++y)
          for (std::int64_t x = 0; x < 60; ++x) {
            const bool holds = std::abs(x - 30) <= 3 && std::abs(y - 20) <= 2;
            const double was = oracle::element(before.out.view(), x, y, 0, 0),
                         is = oracle::element(after.out.view(), x, y, 0, 0);
            if (!holds) {
              ASSERT_EQ(was, is) << x << "," << y;
            } else if (std::isnan(outlier)) {
              ASSERT_TRUE(std::isnan(is)) << x << "," << y;
            }
          }
      }
}

// 64f deviations far from zero.
TEST(FilterBlocks, DeviationsDoNotCancel) {
  Case c = of(filter::StandardDeviation{}, Type::f64, Type::f64, 50, 30, {9, 9});
  Memory memory(c);
  for (std::int64_t y = 0; y < 30; ++y)
    for (std::int64_t x = 0; x < 50; ++x) memory.image.set(1e9 + static_cast<double>((x + y) % 2), x, y);
  run(c, memory);
  const oracle::Question question{memory.arguments.image, {}, c.options.window};
  for (std::int64_t y = 0; y < 30; ++y)
    for (std::int64_t x = 0; x < 50; ++x) {
      const oracle::Seen seen = look(question, x, y, 0, 0);
      const auto want = static_cast<double>(std::sqrt(seen.squared_differences() / static_cast<long double>(seen.n)));
      ASSERT_NEAR(memory.out.get<double>(x, y), want, 1e-6) << x << "," << y;
    }
}

// Outputs move with the image by whole blocks, bit for bit.
TEST(FilterBlocks, CommutesWithShiftsBy64) {
  Case c = of(filter::Mean{}, Type::f32, Type::f64, 300, 40, {21, 17});
  c.options.window.edge = Edge::valid;
  const Memory memory(c);
  run(c, memory);
  Case part = c;
  part.shape.width -= 64;
  Memory moved(part);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < part.shape.width; ++x) moved.image.set(memory.image.get<float>(x + 64, y), x, y);
  run(part, moved);
  for (std::int64_t y = 0; y < moved.out.view().shape.height; ++y)
    for (std::int64_t x = 0; x < moved.out.view().shape.width; ++x)
      ASSERT_EQ(moved.out.get<double>(x, y), memory.out.get<double>(x + 64, y)) << x << "," << y;
}

}  // namespace
