// Windows of a size per pixel, compared with the pixels of every window.
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#include "filter_cases.hpp"

namespace {

using namespace filter_cases;
using areal::Window;

const std::vector<Filter>& filters() {
  static const std::vector<Filter> all{filter::Sum{},
                                       filter::Mean{},
                                       filter::Count{},
                                       filter::Variance{},
                                       filter::StandardDeviation{.ddof = 1},
                                       filter::Threshold{.r = 90},
                                       filter::Threshold{.method = filter::Local::nick},
                                       filter::Threshold{.method = filter::Local::mean, .inverted = true}};
  return all;
}

struct Sizes {
  Type type = Type::s32;
  std::int64_t channels = 2;
  std::int64_t least = 0, most = 20;
  Layout layout = Layout::interleaved;
};

struct Asked : Case {
  Sizes sizes;
};

Asked of(const Filter& filter, Type in, Type out, std::int64_t width, std::int64_t height, const Sizes& sizes = {}) {
  Asked c;
  c.filter = filter;
  c.in = in, c.out = out;
  c.shape = {width, height};
  c.options.sizes = true;
  c.least = areal::is_float(in) || areal::is_signed_integer(in) ? -100 : 0;
  c.most = areal::size_of(in) == 1 ? 120 : 1000;
  c.sizes = sizes;
  return c;
}

/// A case's memory with sizes, each the least, the most or between.
struct SizedMemory : Memory {
  oracle::Padded sizes;
  explicit SizedMemory(const Asked& c)
      : Memory(c),
        sizes(c.sizes.type, {c.shape.width, c.shape.height, c.sizes.channels, c.shape.batch, c.sizes.layout}) {
    std::mt19937_64 random(c.seed + 1);
    std::uniform_int_distribution<std::int64_t> pick(c.sizes.least, c.sizes.most), way(0, 9);
    for (std::int64_t n = 0; n < c.shape.batch; ++n)
      for (std::int64_t y = 0; y < c.shape.height; ++y)
        for (std::int64_t x = 0; x < c.shape.width; ++x)
          for (std::int64_t channel = 0; channel < c.sizes.channels; ++channel) {
            const std::int64_t how = way(random);
            const std::int64_t size = how == 0 ? c.sizes.least : how == 1 ? c.sizes.most : pick(random);
            if (c.sizes.type == Type::u16)
              sizes.set(static_cast<std::uint16_t>(size), x, y, channel, n);
            else
              sizes.set(static_cast<std::int32_t>(size), x, y, channel, n);
          }
    arguments.sizes = sizes.view();
  }
};

/// The outputs that differ, as `differences` of windows of one size.
std::string wrong_of(const Asked& c, const SizedMemory& memory) {
  Tally tally(memory.out);
  const Shape& s = memory.out.view().shape;
  oracle::Question question{
      memory.arguments.image, memory.arguments.mask, {}, c.options.nan == areal::Missing::omit, true};
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t channel = 0; channel < s.channels; ++channel)
      for (std::int64_t y = 0; y < s.height; ++y)
        for (std::int64_t x = 0; x < s.width; ++x) {
          const auto size = [&](std::int64_t axis) {
            return static_cast<std::int64_t>(oracle::element(memory.arguments.sizes, x, y, axis, n));
          };
          const std::int64_t h = size(0), w = size(c.sizes.channels - 1);
          oracle::Seen seen;
          if (h > 0 && w > 0) {
            // Of longer windows the oracle need not visit what lies outside.
            question.window = {std::min(w, 2 * s.width + w % 2), std::min(h, 2 * s.height + h % 2)};
            seen = look(question, x, y, channel, n);
          }
          seen.centre = oracle::element(memory.arguments.image, x, y, channel, n);
          const double got = oracle::element(memory.out.view(), x, y, channel, n);
          tally.compare(expected(c, seen, {}), got, x, y, channel, n,
                        [&](std::ostream& text) { text << seen.n << " pixels in " << w << "x" << h; });
        }
  return tally.words();
}

void expect_right_sizes(const Asked& c) {
  const SizedMemory memory(c);
  run(c, memory);
  EXPECT_EQ(wrong_of(c, memory), "") << c.words() << " sizes " << c.sizes.least << " to " << c.sizes.most;
}

Type output_of(const Filter& filter, std::uint64_t seed) {
  if (std::holds_alternative<filter::Threshold>(filter)) return seed % 2 == 0 ? Type::u8 : Type::f64;
  constexpr Type all[] = {Type::f64, Type::f32, Type::s32, Type::u8, Type::s16};
  return all[seed % 5];
}

TEST(FilterSizes, TheOracleCatchesOneChangedPixelAndOneChangedSize) {
  for (const Filter& filter : filters()) {
    const Asked c = of(filter, Type::u8, Type::f64, 33, 21, {Type::s32, 2, 3, 5});
    SizedMemory memory(c);
    run(c, memory);
    EXPECT_EQ(wrong_of(c, memory), "");
    if (!std::holds_alternative<filter::Count>(filter)) {
      memory.image.set(std::uint8_t{255}, 6, 8);
      EXPECT_NE(wrong_of(c, memory), "") << c.words();
      run(c, memory);
    }
    memory.sizes.set(std::int32_t{11}, 6, 8);
    EXPECT_NE(wrong_of(c, memory), "") << c.words();
  }
}

TEST(FilterSizes, EveryTypeAndShape) {
  std::uint64_t seed = 5000;
  for (const Type in :
       {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::f16, Type::f32, Type::f64})
    for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {13, 41}})
      for (const Filter& filter : filters()) {
        ++seed;
        if (std::getenv("AREAL_TEST_SHORT") != nullptr && seed % 3 != 0) continue;
        Sizes sizes;
        sizes.type = seed % 2 == 0 ? Type::u16 : Type::s32;
        sizes.channels = 1 + static_cast<std::int64_t>(seed / 2 % 2);
        sizes.layout = seed % 3 == 0 ? Layout::planar : Layout::interleaved;
        Asked c = of(filter, in, output_of(filter, seed), width, height, sizes);
        if (areal::is_float(in)) c.options.nan = seed % 2 == 0 ? areal::Missing::omit : areal::Missing::propagate;
        if (areal::is_float(in) && seed % 4 < 2) c.nan_share = 0.01;
        c.seed = seed;
        expect_right_sizes(c);
      }
}

TEST(FilterSizes, MasksMinCountAndFill) {
  std::uint64_t seed = 5300;
  for (const Type in : {Type::u8, Type::s16, Type::u32, Type::f32, Type::f64})
    for (const Filter& filter : filters()) {
      Asked c = of(filter, in, output_of(filter, ++seed), 37, 22);
      c.seed = seed;
      check_with_masks(c, 9, expect_right_sizes);
    }
}

TEST(FilterSizes, ChannelsAndBatches) {
  std::uint64_t seed = 5500;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const Type type : {Type::u8, Type::f32})
        for (const Filter& filter : filters()) {
          Asked c = of(filter, type, output_of(filter, ++seed), 23, 13, {Type::u16, 2, 0, 9, out});
          c.shape.channels = 3, c.shape.batch = 2, c.shape.layout = in;
          c.out_layout = out;
          c.seed = seed;
          c.options.mask = seed % 2 == 0;
          expect_right_sizes(c);
        }
}

// Sizes at the limits of their types, and negative ones.
TEST(FilterSizes, LargeAndNegativeSizes) {
  for (const Filter& filter : filters())
    for (const auto& [type, least, most] :
         {std::tuple{Type::u16, 60000, 65535}, {Type::s32, 2147483600, 2147483647}, {Type::s32, -2147483647 - 1, 3}}) {
      Asked c = of(filter, Type::u8, Type::f64, 19, 17, {type, 2, least, most});
      c.seed = 5700;
      expect_right_sizes(c);
    }
}

TEST(FilterSizes, PixelsAtTheLimitsOfTheirTypes) {
  for (const auto& [type, least, most] : {std::tuple{Type::u8, 255.0, 255.0},
                                          {Type::u16, 65534.0, 65535.0},
                                          {Type::s16, -32768.0, -32767.0},
                                          {Type::u32, 4294967290.0, 4294967295.0},
                                          {Type::s32, -2147483648.0, -2147483640.0}})
    for (const Filter& filter : {Filter(filter::Sum{}), Filter(filter::Mean{}), Filter(filter::Variance{})}) {
      Asked c = of(filter, type, Type::f64, 45, 31, {Type::s32, 2, 0, 60});
      c.least = least, c.most = most, c.seed = 5800;
      expect_right_sizes(c);
    }
}

// Threads sum rows, then columns: the bits are those of one thread.
TEST(FilterSizes, BitsDoNotDependOnThreads) {
  for (const Type in : {Type::u8, Type::f32, Type::f64})
    for (const Filter& filter : filters()) {
      Asked c = of(filter, in, Type::f64, 1500, 40, {Type::u16, 1, 0, 90});
      c.seed = 5900;
      const SizedMemory one(c), all(c);
      c.execution.threads = 1;
      run(c, one);
      c.execution.threads = 0;
      run(c, all);
      std::int64_t wrong = 0;
      for (std::int64_t y = 0; y < 40; ++y)
        for (std::int64_t x = 0; x < 1500; ++x)
          wrong += std::bit_cast<std::uint64_t>(oracle::element(one.out.view(), x, y, 0, 0)) !=
                           std::bit_cast<std::uint64_t>(oracle::element(all.out.view(), x, y, 0, 0))
                       ? 1
                       : 0;
      EXPECT_EQ(wrong, 0) << c.words();
    }
}

/// An image of one value less noise, with some pixels set.
template <class T>
double at_centre(const Filter& filter, Type type, T value, T noise, const std::vector<std::pair<int, T>>& set,
                 int size) {
  Asked c = of(filter, type, Type::f64, 201, 201, {Type::u16, 1, size, size});
  SizedMemory memory(c);
  for (std::int64_t y = 0; y < 201; ++y)
    for (std::int64_t x = 0; x < 201; ++x)
      memory.image.set(static_cast<T>(value + ((x + y) % 2 == 0 ? noise : -noise)), x, y);
  for (const auto& [at, pixel] : set) memory.image.set(pixel, at, at);
  run(c, memory);
  return oracle::element(memory.out.view(), 100, 100, 0, 0);
}

// The small deviations of large floats, and what an outlier, an infinity or a NaN elsewhere leaves behind.
TEST(FilterSizes, FloatsStayLocal) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), most = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(at_centre<double>(filter::StandardDeviation{}, Type::f64, 1e4, 3e-4, {}, 2), 3e-4, 1e-11);
  EXPECT_NEAR(at_centre<double>(filter::StandardDeviation{}, Type::f64, 1e4, 3e-4, {{3, 1e9}}, 2), 3e-4, 1e-11);
  for (const double spoiled : {1e20, most, -most, nan}) {
    EXPECT_NEAR(at_centre<double>(filter::Mean{}, Type::f64, 1, 0, {{3, spoiled}}, 9), 1, 1e-9) << spoiled;
    EXPECT_NEAR(at_centre<float>(filter::Sum{}, Type::f32, 1, 0, {{3, static_cast<float>(spoiled)}}, 9), 81, 1e-8);
    const double seen = at_centre<double>(filter::Sum{}, Type::f64, 1, 0, {{99, spoiled}}, 9);
    EXPECT_TRUE(seen == spoiled || (std::isnan(seen) && std::isnan(spoiled))) << seen;
    const double variance = at_centre<double>(filter::Variance{}, Type::f64, 1, 0, {{99, spoiled}}, 9);
    EXPECT_EQ(std::isnan(variance), !std::isfinite(spoiled));
  }
  EXPECT_TRUE(std::isnan(at_centre<double>(filter::Sum{}, Type::f64, 1, 0, {{99, most}, {101, -most}}, 9)));
  // Squares of the largest doubles overflow, those of their scaled windows do not.
  EXPECT_EQ(at_centre<double>(filter::Mean{}, Type::f64, 0x1p1000, 0, {{3, 0x1p1023}}, 9), 0x1p1000);
  EXPECT_EQ(at_centre<double>(filter::Variance{}, Type::f64, 0x1p500, 0, {}, 9), 0);
}

// Entries of wide floats round: the difference over a window of no valid pixel is not 0, but its sum is.
TEST(FilterSizes, WindowsWithoutAValidPixelHaveNoRest) {
  for (const Filter& filter : filters()) {
    Asked c = of(filter, Type::f64, Type::f64, 21, 6, {Type::u16, 1, 1, 2});
    c.options.mask = true;
    c.options.min_count = 0;
    SizedMemory memory(c);
    std::mt19937_64 random(5950);
    for (std::int64_t y = 0; y < 6; ++y)
      for (std::int64_t x = 0; x < 21; ++x) {
        memory.image.set(std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 300) - 150), x,
                         y);
        memory.mask.set(static_cast<std::uint8_t>(random() % 3 == 0 ? 0 : 1), x, y);
      }
    run(c, memory);
    for (std::int64_t y = 0; y < 6; ++y)
      for (std::int64_t x = 0; x < 21; ++x) {
        const bool is_one = oracle::element(memory.arguments.sizes, x, y, 0, 0) == 1;
        if (!is_one || oracle::element(memory.arguments.mask, x, y, 0, 0) != 0) continue;
        const double got = oracle::element(memory.out.view(), x, y, 0, 0);
        const auto* const threshold = std::get_if<filter::Threshold>(&filter);
        if (std::holds_alternative<filter::Sum>(filter) || std::holds_alternative<filter::Count>(filter)) {
          EXPECT_EQ(got, 0) << c.words();
        } else if (threshold == nullptr || !threshold->inverted) {
          EXPECT_TRUE(std::isnan(got)) << c.words() << ' ' << got;
        }
      }
  }
}

TEST(FilterSizes, EmptyImages) {
  for (const Filter& filter : filters())
    for (const auto& [width, height] : {std::pair{0, 0}, {0, 5}, {5, 0}})
      for (const Type in : {Type::u8, Type::f32}) expect_right_sizes(of(filter, in, Type::f64, width, height));
}

TEST(FilterSizes, RefusesInASentence) {
  const auto expect = [](const Case& c, const std::string& words) {
    EXPECT_NE(refusal(c).find(words), std::string::npos) << refusal(c);
  };
  Asked c = of(filter::Mean{}, Type::u8, Type::u8, 9, 9);
  EXPECT_EQ(areal::FilterPlan(c.shape, c.in, c.out, c.filter, c.options).algorithm(), "table");
  for (const Filter& other : {Filter(filter::Minimum{}), Filter(filter::Percentile{}), Filter(filter::Modal{}),
                              Filter(filter::Threshold{.method = filter::Local::wolf})}) {
    c.filter = other;
    expect(c, "windows of a size per pixel are for sums, means, counts");
  }
  c = of(filter::Mean{}, Type::u8, Type::u8, 9, 9);
  c.options.window = {3, 3};
  expect(c, "with sizes leave it at 1x1");
  c.options.window = {};
  c.options.window.edge = Edge::reflect;
  expect(c, "take edge shrink");
  c.options.window = {};
  c.options.algorithm = "walk";
  expect(c, "it takes windows of one size");
  c.options.algorithm = "table";
  EXPECT_EQ(refusal(c), "");
  c.options.sizes = false;
  expect(c, "it takes windows of a size per pixel");
  c = of(filter::Mean{}, Type::u8, Type::u8, 70000, 70000);
  expect(c, "take planes of up to");
  for (const areal::Backend backend : {areal::Backend::cuda, areal::Backend::simt}) {
    c = of(filter::Mean{}, Type::u8, Type::u8, 9, 9);
    c.execution.backend = backend;
    expect(c, "windows of a size per pixel run on the CPU");
  }
  const auto executed = [](const Asked& asked, const std::function<void(FilterArguments&)>& change) {
    SizedMemory memory(asked);
    change(memory.arguments);
    try {
      run(asked, memory);
    } catch (const areal::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect_words = [](const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  c = of(filter::Mean{}, Type::u8, Type::u8, 9, 9);
  expect_words(executed(c, [](FilterArguments& a) { a.sizes = a.image; }), "it may be 16u or 32s");
  expect_words(executed(c, [](FilterArguments& a) { a.sizes = {}; }), "sizes");
  expect_words(executed(c, [](FilterArguments& a) { a.sizes.shape.width = 8; }), "sizes");
  c.sizes.channels = 3;
  expect_words(executed(c, [](FilterArguments&) {}), "sizes of 3 channels");
  c.sizes.channels = 2;
  c.options.sizes = false;
  expect_words(executed(c, [](FilterArguments&) {}), "sizes were given, but the plan was not made for them");
}

}  // namespace
