// Equalize, Otsu, Entropy and Modal, compared with the pixels of every window, by both algorithms.
#include <array>
#include <bit>
#include "filter_cases.hpp"

namespace {

using namespace filter_cases;
using areal::Window;

constexpr const char* algorithms[] = {"column-counts", "sliding-counts"};

const std::vector<Filter>& filters() {
  static const std::vector<Filter> all{filter::Equalize{}, filter::Otsu{}, filter::Otsu{.zeros_alone = false},
                                       filter::Entropy{}, filter::Modal{}};
  return all;
}
bool is_entropy(const Filter& filter) { return std::holds_alternative<filter::Entropy>(filter); }

Case of(const Filter& filter, Type type, std::int64_t width, std::int64_t height, const Window& window) {
  Case c;
  c.filter = filter;
  c.in = type;
  c.out = is_entropy(filter) ? Type::f64 : type;
  c.shape = {width, height};
  c.options.window = window;
  c.least = 0;
  return c;
}

void expect_right_by_all(Case c) {
  int found = 0;
  for (const char* const id : algorithms) {
    c.options.algorithm = id;
    if (!refusal(c).empty()) continue;
    ++found;
    SCOPED_TRACE(id);
    expect_right(c);
  }
  EXPECT_EQ(found, c.in == Type::u8 ? 2 : 1) << c.words() << " " << refusal(c);
}

/// Few levels, so that some are frequent, or many.
void use_levels(Case& c, std::uint64_t seed) {
  constexpr double most_8[] = {1, 5, 40, 255}, most_16[] = {2, 9, 900, 65535};
  c.most = (c.in == Type::u8 ? most_8 : most_16)[seed % 4];
  c.least = seed % 8 < 4 ? 0 : std::floor(c.most / 2);
  c.seed = seed;
}

TEST(FilterLevels, TheOracleCatchesOneChangedPixel) {
  for (const Filter& filter : filters())
    for (const char* const id : algorithms) {
      Case c = of(filter, Type::u8, 33, 21, {3, 3});
      c.least = 10, c.most = 20;
      c.options.algorithm = id;
      Memory memory(c);
      run(c, memory);
      EXPECT_EQ(differences(c, memory), "");
      memory.image.set(std::uint8_t{255}, 6, 8);
      if (std::holds_alternative<filter::Modal>(filter))
        for (std::int64_t x = 4; x < 8; ++x) memory.image.set(std::uint8_t{5}, x, 9);
      EXPECT_NE(differences(c, memory), "") << id << " " << c.words();
    }
}

TEST(FilterLevels, WindowsAtEveryEdge) {
  std::uint64_t seed = 9000;
  for (const Edge edge : oracle::edges)
    for (const auto& [w, h] : {std::pair{1, 1}, {3, 3}, {8, 9}, {2, 4}, {17, 5}, {1, 7}, {40, 25}, {101, 77}})
      for (const auto& [width, height] : {std::pair{31, 29}, {1, 23}, {23, 1}, {2, 3}, {1, 1}, {67, 35}})
        for (const Filter& filter : filters()) {
          ++seed;
          if (w * h * width * height > most_reads() / 8) continue;
          if (extent() == Extent::few && seed % 3 != 0) continue;
          Window window{w, h};
          window.edge = edge;
          window.value = 200;
          Case c = of(filter, seed % 2 == 0 ? Type::u8 : Type::u16, width, height, window);
          use_levels(c, seed / 2);
          expect_right_by_all(c);
        }
}

TEST(FilterLevels, AnchorsMasksAndFill) {
  std::uint64_t seed = 9500;
  for (const Type type : {Type::u8, Type::u16})
    for (const Edge edge : oracle::edges)
      for (const Filter& filter : filters())
        for (const auto& [w, h] : {std::pair{3, 3}, {9, 4}}) {
          Window window{w, h, 2, h - 1};
          window.edge = edge;
          window.value = 60;
          Case c = of(filter, type, 37, 22, window);
          use_levels(c, ++seed);
          check_with_masks(c, w * h / 2 + 2, expect_right_by_all);
        }
}

TEST(FilterLevels, ChannelsAndBatches) {
  std::uint64_t seed = 9800;
  for (const Layout in : {Layout::interleaved, Layout::planar})
    for (const Layout out : {Layout::interleaved, Layout::planar})
      for (const Type type : {Type::u8, Type::u16})
        for (const Filter& filter : filters()) {
          Case c = of(filter, type, 23, 13, {5, 4});
          c.shape.channels = 3, c.shape.batch = 2, c.shape.layout = in;
          c.out_layout = out;
          use_levels(c, ++seed);
          if (is_entropy(filter)) c.out = seed % 2 == 0 ? Type::f32 : Type::f64;
          expect_right_by_all(c);
          c.options.mask = true;
          expect_right_by_all(c);
        }
}

// Several panels and strips; one thread and all.
TEST(FilterLevels, WideAndTallImages) {
  std::uint64_t seed = 9900;
  for (const auto& [width, height, w, h] :
       {std::array{2600, 5, 7, 3}, {1300, 4, 31, 3}, {5, 900, 3, 7}, {300, 3, 290, 3}})
    for (const Type type : {Type::u8, Type::u16})
      for (const Filter& filter : filters()) {
        Case c = of(filter, type, width, height, {w, h});
        use_levels(c, ++seed);
        c.execution.threads = static_cast<int>(seed / 2 % 2);
        expect_right_by_all(c);
      }
}

// Windows of 2^16 - 1 and more pixels: the counts' 16 bits end there. Flat images fill one level.
TEST(FilterLevels, CountsOf16And32Bits) {
  for (const auto& [w, h] : {std::pair{255, 257}, {256, 256}, {300, 301}})
    for (const Type type : {Type::u8, Type::u16})
      for (const Filter& filter : filters()) {
        if (w == 300 && std::holds_alternative<filter::Otsu>(filter)) continue;  // beyond the oracle's integers
        Window window{w, h};
        window.edge = Edge::valid;
        Case c = of(filter, type, w + 1, h + 1, window);
        Memory memory(c);
        for (const int levels : {1, 121}) {
          std::mt19937_64 random(9950);
          for (std::int64_t y = 0; y < h + 1; ++y)
            for (std::int64_t x = 0; x < w + 1; ++x) {
              const auto value = 100 + random() % static_cast<std::uint64_t>(levels);
              if (type == Type::u8)
                memory.image.set(static_cast<std::uint8_t>(value), x, y);
              else
                memory.image.set(static_cast<std::uint16_t>(value), x, y);
            }
          for (const char* const id : algorithms) {
            c.options.algorithm = id;
            if (!refusal(c).empty()) continue;
            run(c, memory);
            EXPECT_EQ(differences(c, memory), "") << c.words() << " " << id << " levels " << levels;
          }
        }
      }
}

TEST(FilterLevels, BothAlgorithmsHaveTheSameBits) {
  for (const Filter& filter : filters())
    for (const auto& [w, h] : {std::pair{21, 15}, {260, 270}}) {
      const std::int64_t width = w == 21 ? 150 : 290, height = w == 21 ? 90 : 280;
      Case c = of(filter, Type::u8, width, height, {w, h});
      c.seed = 9960;
      c.options.algorithm = algorithms[0];
      const Memory one(c), other(c);
      run(c, one);
      c.options.algorithm = algorithms[1];
      run(c, other);
      std::int64_t wrong = 0;
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
          wrong += std::bit_cast<std::uint64_t>(oracle::element(one.out.view(), x, y, 0, 0)) !=
                           std::bit_cast<std::uint64_t>(oracle::element(other.out.view(), x, y, 0, 0))
                       ? 1
                       : 0;
      EXPECT_EQ(wrong, 0) << c.words();
    }
}

/// One row of pixels, in one window.
double of_pixels(const Filter& filter, const std::vector<int>& pixels, Type type = Type::u8) {
  const auto n = static_cast<std::int64_t>(pixels.size());
  Window window{n, 1};
  window.edge = Edge::valid;
  Case c = of(filter, type, n, 1, window);
  Memory memory(c);
  for (std::int64_t x = 0; x < n; ++x)
    if (type == Type::u8)
      memory.image.set(static_cast<std::uint8_t>(pixels[static_cast<std::size_t>(x)]), x, 0);
    else
      memory.image.set(static_cast<std::uint16_t>(pixels[static_cast<std::size_t>(x)]), x, 0);
  run(c, memory);
  return oracle::element(memory.out.view(), 0, 0, 0, 0);
}

TEST(FilterLevels, KnownWindows) {
  EXPECT_EQ(of_pixels(filter::Entropy{}, {1, 2, 3, 4}), 2);
  EXPECT_EQ(of_pixels(filter::Entropy{}, {7, 7, 7}), 0);
  EXPECT_EQ(of_pixels(filter::Entropy{}, {0, 65535}, Type::u16), 1);
  EXPECT_EQ(of_pixels(filter::Modal{}, {9, 3, 9, 3, 255}), 3);
  EXPECT_EQ(of_pixels(filter::Otsu{}, {1, 2, 3}), 1);  // both thresholds are as good
  EXPECT_EQ(of_pixels(filter::Otsu{}, {7, 7, 7}), 0);
  EXPECT_EQ(of_pixels(filter::Otsu{}, {0, 0, 0, 0, 100, 110}), 0);
  EXPECT_EQ(of_pixels(filter::Otsu{.zeros_alone = false}, {0, 0, 0, 0, 100, 110}), 100);
  EXPECT_EQ(of_pixels(filter::Otsu{.zeros_alone = false}, {0, 0, 5}), 0);
  EXPECT_EQ(of_pixels(filter::Equalize{}, {10, 20, 5, 30}), 255 / 4);    // p is 5
  EXPECT_EQ(of_pixels(filter::Equalize{}, {1, 0, 2, 0}, Type::u16), 3);  // 4 bins at least
  EXPECT_EQ(of_pixels(filter::Equalize{}, {8, 0, 1, 9}, Type::u16), 4);  // p is 1
}

// Thresholds whose variances differ by less than double can tell: both halves of a window and its mirror image.
TEST(FilterLevels, OtsuDecidesTiesExactly) {
  std::mt19937_64 random(9970);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> pixels;
    for (int i = 0; i < 25; ++i) pixels.push_back(static_cast<int>(random() % 30000));
    for (std::size_t i = 0; i < 25; ++i) pixels.push_back(65535 - pixels[i]);
    oracle::Seen seen;
    for (const int p : pixels) {
      seen.pixels.push_back(p);
      ++seen.n, seen.sum += p;
    }
    ASSERT_EQ(of_pixels(filter::Otsu{}, pixels, Type::u16), oracle::of_levels(filter::Otsu{}, seen, 0))
        << "seed 9970 round " << round;
  }
}

TEST(FilterLevels, EmptyImages) {
  for (const Filter& filter : filters()) {
    for (const auto& [width, height] : {std::pair{0, 0}, {0, 5}, {5, 0}})
      for (const Type type : {Type::u8, Type::u16}) expect_right_by_all(of(filter, type, width, height, {3, 3}));
    Window window{std::int64_t{1} << 28, 9};
    window.edge = Edge::valid;
    expect_right_by_all(of(filter, Type::u8, 5, 5, window));
  }
}

TEST(FilterLevels, Chooses) {
  const auto chosen = [](const Filter& filter, Type type, std::int64_t size) {
    Case c = of(filter, type, 20, 20, {size, size});
    if (std::holds_alternative<filter::Entropy>(filter)) c.out = Type::f32;
    return std::string(areal::FilterPlan(c.shape, c.in, c.out, c.filter, c.options).algorithm());
  };
  EXPECT_EQ(chosen(filter::Modal{}, Type::u8, 3), "column-counts");
  EXPECT_EQ(chosen(filter::Modal{}, Type::u16, 3), "sliding-counts");
  EXPECT_EQ(chosen(filter::Entropy{}, Type::u8, 63), "sliding-counts");
  EXPECT_EQ(chosen(filter::Entropy{}, Type::u8, 65), "column-counts");
  EXPECT_EQ(chosen(filter::Otsu{}, Type::u8, 31), "sliding-counts");
  EXPECT_EQ(chosen(filter::Otsu{}, Type::u8, 33), "column-counts");
}

TEST(FilterLevels, RefusesInASentence) {
  const auto expect = [](const Case& c, const std::string& words) {
    EXPECT_NE(refusal(c).find(words), std::string::npos) << refusal(c);
  };
  for (const Filter& filter : filters()) {
    for (const Type type : {Type::s8, Type::s16, Type::u32, Type::f32, Type::f64})
      expect(of(filter, type, 9, 9, {3, 3}), "equalize, otsu, entropy and modal take 8u and 16u");
    Case c = of(filter, Type::u8, 9, 9, {3, 3});
    c.out = Type::u16;
    expect(c, is_entropy(filter) ? "entropies are 32f or 64f" : "equalize, otsu and modal give 8u");
    c = of(filter, Type::u16, 9, 9, {3, 3});
    c.options.algorithm = "column-counts";
    expect(c, "algorithm column-counts: it takes 8u");
    for (const char* const id : {"classes", "network"}) {
      c.options.algorithm = id;
      expect(c, "it takes percentiles");
    }
    c = of(filter, Type::u8, 20, 20, {3000, 3});
    c.options.window.edge = Edge::reflect;
    expect(c, "reaches more than 1024 pixels beyond the edge");
    c = of(filter, Type::u16, 9, 9, {3, 3});
    c.execution.backend = areal::Backend::simt;
    expect(c, has_simt() ? "algorithm window-counts: it takes 8u and 8s" : "this build has no simulated machine");
  }
  Case c = of(filter::Mean{}, Type::u8, 9, 9, {3, 3});
  c.out = Type::u8;
  c.options.algorithm = "sliding-counts";
  expect(c, "it takes equalize, otsu, entropy and modal");
  c = of(filter::Percentile{}, Type::u8, 9, 9, {3, 3});
  c.options.algorithm = "sliding-counts";
  expect(c, "it takes equalize, otsu, entropy and modal");
}

}  // namespace
