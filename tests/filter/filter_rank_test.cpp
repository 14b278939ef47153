// Percentiles of windows, compared with the sorted pixels of every window, for each structure that takes the request.
#include <array>
#include "filter_cases.hpp"

namespace {

using namespace filter_cases;
using areal::Window;

constexpr Type all_types[] = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                              Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};
constexpr const char* structures[] = {"network", "column-counts", "classes"};

Case of(double percent, Type type, std::int64_t width, std::int64_t height, const Window& window) {
  Case c;
  c.filter = filter::Percentile{percent};
  c.in = c.out = type;
  c.shape = {width, height};
  c.options.window = window;
  c.least = areal::is_float(type) || areal::is_signed_integer(type) ? -100 : 0;
  c.most = areal::size_of(type) == 1 ? 120 : 1500;
  return c;
}

/// The structures that take a case.
std::vector<std::string> structures_of(Case c) {
  std::vector<std::string> found;
  for (const char* const id : structures) {
    c.options.algorithm = id;
    try {
      const areal::FilterPlan plan(c.shape, c.in, c.out, c.filter, c.options, c.execution);
      found.emplace_back(id);
    } catch (const areal::InvalidArgument&) {
    }
  }
  return found;
}

void expect_right_by_all(Case c) {
  const auto found = structures_of(c);
  EXPECT_FALSE(found.empty()) << c.words();
  for (const std::string& id : found) {
    SCOPED_TRACE(id);
    c.options.algorithm = id;
    expect_right(c);
  }
}

TEST(FilterRank, TheOracleCatchesOneChangedPixel) {
  for (const char* const id : structures) {
    Case c = of(100, Type::u8, 33, 21, {3, 3});
    if (std::string(id) == "network") c.filter = filter::Percentile{50};
    c.options.algorithm = id;
    Memory memory(c);
    run(c, memory);
    EXPECT_EQ(differences(c, memory), "");
    // The greatest pixel of its window, so that a maximum changes; a median only by several.
    const std::int64_t several = std::string(id) == "network" ? 3 : 1;
    for (std::int64_t y = 8; y < 8 + several; ++y)
      for (std::int64_t x = 6; x < 6 + several; ++x) memory.image.set(std::uint8_t{255}, x, y);
    EXPECT_NE(differences(c, memory), "") << id;
  }
}

TEST(FilterRank, WindowsAtEveryEdge) {
  std::uint64_t seed = 7000;
  for (const Edge edge : oracle::edges)
    for (const auto& [w, h] :
         {std::pair{1, 1}, {3, 3}, {5, 5}, {8, 9}, {9, 8}, {2, 4}, {17, 5}, {1, 7}, {40, 25}, {101, 77}})
      for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {67, 35}})
        for (const double percent : {50.0, 0.0, 100.0, 12.5}) {
          if (w * h * width * height > most_reads() / 4) continue;
          Window window{w, h};
          window.edge = edge;
          window.value = 50;
          Case c = of(percent, seed % 2 == 0 ? Type::u8 : Type::f32, width, height, window);
          c.seed = ++seed;
          expect_right_by_all(c);
        }
}

TEST(FilterRank, EveryTypeAnchorAndMask) {
  std::uint64_t seed = 7500;
  for (const Type type : all_types)
    for (const Edge edge : oracle::edges)
      for (const bool mask : {false, true})
        for (const auto& [w, h] : {std::pair{3, 3}, {5, 5}, {9, 4}}) {
          Window window{w, h, 2, h - 1};
          window.edge = edge;
          window.value = 60;
          Case c = of(mask ? 30 : 50, type, 37, 22, window);
          c.options.mask = mask;
          c.options.min_count = mask ? w * h / 2 : 1;
          c.nan_share = areal::is_float(type) ? 0.02 : 0;
          if (areal::is_float(type) && mask) c.options.nan = areal::Missing::omit;
          if (mask) c.options.fill = 7;
          c.seed = ++seed;
          expect_right_by_all(c);
          if (areal::is_float(type)) {
            c.options.nan = areal::Missing::propagate;
            expect_right_by_all(c);
          }
        }
}

// Values at the limits of each type, which a pixel beyond the edge may have, too.
TEST(FilterRank, ValuesAtTheLimits) {
  std::uint64_t seed = 7700;
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32}) {
    const int bits = static_cast<int>(8 * areal::size_of(type));
    const bool is_signed = areal::is_signed_integer(type);
    for (const auto& [w, h] : {std::pair{3, 3}, {5, 5}, {6, 11}}) {
      Window window{w, h};
      window.edge = Edge::constant;
      window.value = std::ldexp(1, is_signed ? bits - 1 : bits) - 1;
      Case c = of(50, type, 40, 30, window);
      c.least = is_signed ? -std::ldexp(1, bits - 1) : 0;
      c.most = window.value;
      c.seed = ++seed;
      expect_right_by_all(c);
    }
  }
}

TEST(FilterRank, ZerosOfBothSignsAndInfinities) {
  for (const auto& [w, h] : {std::pair{3, 3}, {5, 5}, {7, 9}})
    for (const char* const id : structures) {
      Case c = of(50, Type::f32, 40, 30, {w, h});
      c.options.algorithm = id;
      if (!refusal(c).empty()) continue;
      Memory memory(c);
      std::mt19937_64 random(7800);
      const float values[] = {-0.0f, 0.0f, std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()};
      for (std::int64_t y = 0; y < 30; ++y)
        for (std::int64_t x = 0; x < 40; ++x) memory.image.set(values[random() % 4], x, y);
      run(c, memory);
      EXPECT_EQ(differences(c, memory), "") << id << " seed 7800";
      for (std::int64_t y = h / 2; y < 30 - h / 2; ++y)
        for (std::int64_t x = w / 2; x < 40 - w / 2; ++x) {
          int below = 0;
          for (std::int64_t j = 0; j < h; ++j)
            for (std::int64_t i = 0; i < w; ++i) {
              const float p = memory.image.get<float>(x - w / 2 + i, y - h / 2 + j);
              below += p < 0 || (p == 0 && std::signbit(p)) ? 1 : 0;
            }
          ASSERT_EQ(std::signbit(memory.out.get<float>(x, y)), below > w * h / 2) << id << " at " << x << "," << y;
        }
    }
}

TEST(FilterRank, ChannelsAndBatches) {
  std::uint64_t seed = 8000;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const Type type : {Type::u8, Type::f32})
        for (const auto& [w, h] : {std::pair{3, 3}, {5, 4}}) {
          Case c = of(50, type, 23, 13, {w, h});
          c.shape.channels = 3, c.shape.batch = 2, c.shape.layout = in;
          c.out_layout = out;
          c.seed = ++seed;
          expect_right_by_all(c);
          c.options.mask = true;
          expect_right_by_all(c);
        }
}

// Interleaved channels that are sorted as one row, and more than that takes, at every edge.
TEST(FilterRank, InterleavedMedians) {
  std::uint64_t seed = 8100;
  for (const Edge edge : {Edge::valid, Edge::shrink, Edge::zero, Edge::replicate, Edge::reflect, Edge::symmetric,
                          Edge::wrap, Edge::constant})
    for (const std::int64_t channels : {2, 3, 4, 16, 17})
      for (const Type type : {Type::u8, Type::s16, Type::f32})
        for (const std::int64_t size : {3, 5}) {
          Window window{size, size};
          window.edge = edge, window.value = 7;
          Case c = of(50, type, channels > 4 ? 9 : 83, 7, window);
          c.shape.channels = channels, c.shape.layout = c.out_layout = Layout::interleaved;
          c.options.algorithm = "network";
          c.seed = ++seed;
          expect_right(c);
        }
}

// Several panels, strips and tiles; counts of 16 and of 32 bits; one thread and all.
TEST(FilterRank, WideAndTallImages) {
  std::uint64_t seed = 8200;
  for (const auto& [width, height, w, h] : {std::array{4500, 7, 5, 5},
                                            {2600, 9, 7, 3},
                                            {1300, 5, 31, 3},
                                            {5, 1500, 3, 7},
                                            {200, 190, 3, 3},
                                            {300, 3, 290, 3}})
    for (const Type type : {Type::u8, Type::s16, Type::f64})
      for (const int threads : {1, 0}) {
        if (threads == 1 && std::getenv("AREAL_TEST_SHORT") != nullptr) continue;
        Case c = of(50, type, width, height, {w, h});
        c.execution.threads = threads;
        c.seed = ++seed;
        expect_right_by_all(c);
      }
}

// Windows of 2^16 - 1 and more pixels: the counts' 16 bits end there. Flat images fill one level.
TEST(FilterRank, CountsOf16And32Bits) {
  for (const auto& [w, h] : {std::pair{255, 257}, {256, 256}, {300, 301}})
    for (const Type type : {Type::u8, Type::u16}) {
      Window window{w, h};
      window.edge = Edge::valid;
      Case c = of(100, type, w + 1, h + 1, window);
      Memory memory(c);
      std::mt19937_64 random(8300);
      for (const double percent : {40.0, 100.0})
        for (const bool flat : {false, true}) {
          c.filter = filter::Percentile{percent};
          for (std::int64_t y = 0; y < h + 1; ++y)
            for (std::int64_t x = 0; x < w + 1; ++x) {
              const auto value = flat ? std::uint64_t{120} : random() % 121;
              if (type == Type::u8)
                memory.image.set(static_cast<std::uint8_t>(value), x, y);
              else
                memory.image.set(static_cast<std::uint16_t>(value), x, y);
            }
          for (const std::string& id : structures_of(c)) {
            c.options.algorithm = id;
            run(c, memory);
            EXPECT_EQ(differences(c, memory), "") << c.words() << " " << id << " percent " << percent;
          }
          c.options.algorithm = "auto";
        }
    }
}

TEST(FilterRank, PercentilesRise) {
  Case c = of(0, Type::u16, 90, 70, {11, 9});
  c.least = 0, c.most = 65535;
  Memory memory(c);
  std::vector<std::uint16_t> before(90 * 70, 0);
  for (const double percent : {0.0, 1.0, 10.0, 33.0, 50.0, 75.0, 99.0, 100.0}) {
    c.filter = filter::Percentile{percent};
    run(c, memory);
    for (std::int64_t y = 0; y < 70; ++y)
      for (std::int64_t x = 0; x < 90; ++x) {
        const auto now = memory.out.get<std::uint16_t>(x, y);
        auto& last = before[static_cast<std::size_t>(y * 90 + x)];
        ASSERT_GE(now, last) << percent << " at " << x << "," << y;
        last = now;
      }
  }
}

TEST(FilterRank, EmptyImages) {
  for (const auto& [width, height] : {std::pair{0, 0}, {0, 5}, {5, 0}})
    for (const Type type : {Type::u8, Type::f32}) expect_right_by_all(of(50, type, width, height, {3, 3}));
  Window window{9, 9};
  window.edge = Edge::valid;
  expect_right_by_all(of(50, Type::u8, 5, 5, window));
  window.width = std::int64_t{1} << 28;
  expect_right_by_all(of(50, Type::u8, 5, 5, window));
}

TEST(FilterRank, ChoosesTheFastest) {
  const auto chosen = [](const Case& c) {
    return std::string(areal::FilterPlan(c.shape, c.in, c.out, c.filter, c.options).algorithm());
  };
  EXPECT_EQ(chosen(of(50, Type::u8, 20, 20, {3, 3})), "network");
  EXPECT_EQ(chosen(of(50, Type::f32, 20, 20, {5, 5})), "network");
  EXPECT_EQ(chosen(of(50, Type::s8, 20, 20, {7, 7})), "column-counts");
  EXPECT_EQ(chosen(of(40, Type::u8, 20, 20, {3, 3})), "column-counts");
  EXPECT_EQ(chosen(of(50, Type::f64, 20, 20, {3, 3})), "classes");
  EXPECT_EQ(chosen(of(50, Type::u16, 20, 20, {7, 7})), "classes");
}

TEST(FilterRank, RefusesInASentence) {
  const auto expect = [](const Case& c, const std::string& words) {
    EXPECT_NE(refusal(c).find(words), std::string::npos) << refusal(c);
  };
  const Case good = of(50, Type::u8, 20, 20, {3, 3});
  for (const double percent : {-1.0, 100.5, std::numeric_limits<double>::quiet_NaN()})
    expect(of(percent, Type::u8, 20, 20, {3, 3}), "it may be 0 to 100");
  Case c = good;
  c.out = Type::f32;
  expect(c, "percentiles of 8u are 8u");
  c = good;
  c.options.algorithm = "walk";
  expect(c, "algorithm walk: it takes sums of integers");
  c.options.algorithm = "blocks";
  expect(c, "algorithm blocks: it takes floats, minimum and maximum");
  c = of(50, Type::u16, 20, 20, {3, 3});
  c.options.algorithm = "column-counts";
  expect(c, "it takes 8u and 8s");
  c = of(20, Type::u8, 20, 20, {3, 3});
  c.options.algorithm = "network";
  expect(c, "it takes medians of 3x3 and 5x5");
  c = good;
  c.filter = filter::Mean{};
  for (const char* const id : structures) {
    c.options.algorithm = id;
    expect(c, "it takes percentiles");
  }
  c = good;
  c.options.window = {3000, 3};
  c.options.window.edge = Edge::reflect;
  expect(c, "reaches more than 1024 pixels beyond the edge");
  c = of(50, Type::u16, 20, 20, {9, 3});
  c.execution.backend = areal::Backend::simt;
  expect(c, has_simt() ? "algorithm network: it takes windows of 3x3 and 5x5" : "this build has no simulated machine");
}

}  // namespace
