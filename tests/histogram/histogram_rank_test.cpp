// The rank store on the CPU: its bytes, and ranks of rectangles compared with sorted pixels.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include "cpu/histogram/rank.hpp"
#include "cpu/simd.hpp"
#include "guarded_store.hpp"
#include "histogram_oracle.hpp"

namespace areal {
namespace {

using formulas::Rank;
using formulas::RankLine;
using formulas::RankPanel;
using oracle::Guarded;

const bool is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;

using Made = oracle::GuardedStore<Rank>;

Made made(const ConstView& image, int planes, int threads, unsigned char poison = 0xa5) {
  Made m;
  const Shape& s = image.shape;
  m.layout = Rank::of(s.width, s.height, s.channels * s.batch, planes);
  m.allocate(poison);
  cpu::build_rank(m.layout, image, m.data(), threads);
  return m;
}

/// Of unsigned pixels, which are their own keys.
std::vector<std::uint64_t> sorted(const ConstView& image, const Region& r, std::int64_t channel = 0,
                                  std::int64_t n = 0) {
  std::vector<std::uint64_t> values;
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x)
      values.push_back(static_cast<std::uint64_t>(oracle::value_at(image, x, y, channel, n)));
  std::sort(values.begin(), values.end());
  return values;
}

/// Describes the first region for which a selected key or a count of pixels below a key is wrong; empty if all are
/// right. `all` checks every rank, else about six ranks of each region.
std::string difference(Made& m, const ConstView& image, const std::vector<Region>& regions, bool all,
                       std::int64_t channel = 0, std::int64_t n = 0) {
  const std::int64_t matrix = n * image.shape.channels + channel;
  for (const Region& r : regions) {
    const std::vector<std::uint64_t> expected = sorted(image, r, channel, n);
    std::vector<std::uint64_t> ranks;
    for (std::uint64_t i = 0; i < expected.size(); i += all ? 1 : 1 + expected.size() / 5) ranks.push_back(i);
    if (ranks.back() + 1 != expected.size()) ranks.push_back(expected.size() - 1);
    std::vector<std::uint64_t> keys(ranks.size());
    cpu::rank_select(m.layout, m.data(), matrix, r, ranks, keys.data());
    const auto where = [&] {
      return "region " + std::to_string(r.x) + " " + std::to_string(r.y) + " " + std::to_string(r.width) + " " +
             std::to_string(r.height);
    };
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (keys[i] != expected[ranks[i]]) return where() + ", rank " + std::to_string(ranks[i]);
    const std::uint64_t key = expected[expected.size() / 2];
    const auto below =
        static_cast<std::uint64_t>(std::lower_bound(expected.begin(), expected.end(), key) - expected.begin());
    if (cpu::rank_below(m.layout, m.data(), matrix, r, key) != below) return where() + ", below";
  }
  return {};
}

std::vector<Region> all_regions(std::int64_t w, std::int64_t h) {
  std::vector<Region> regions;
  for (std::int64_t y0 = 0; y0 < h; ++y0)
    for (std::int64_t y1 = y0 + 1; y1 <= h; ++y1)
      for (std::int64_t x0 = 0; x0 < w; ++x0)
        for (std::int64_t x1 = x0 + 1; x1 <= w; ++x1) regions.push_back({x0, y0, x1 - x0, y1 - y0});
  return regions;
}

std::vector<Region> some_regions(std::mt19937_64& random, int count, std::int64_t w, std::int64_t h) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Region> regions = {{0, 0, w, h}, {w - 1, h - 1, 1, 1}, {0, 0, 1, h}, {0, h - 1, w, 1}};
  while (static_cast<int>(regions.size()) < count) {
    const std::int64_t x = below(w), y = below(h);
    regions.push_back({x, y, 1 + below(w - x), 1 + below(h - y)});
  }
  return regions;
}

TEST(HistogramRank, TheCheckCatchesOneFlippedBit) {
  constexpr std::uint64_t seed = 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Guarded image({9, 30}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 7);
  Made m = made(image.view, 3, 1);
  const std::vector<Region> regions = all_regions(9, 30);
  ASSERT_EQ(difference(m, image.view, regions, true), "");
  // Each level and plane: a bit of the first and of the last pixel of a panel, and the lowest bit of a number of zeros.
  const auto flip = [&](std::uint32_t& word, std::uint32_t bit) {
    word ^= bit;
    EXPECT_NE(difference(m, image.view, regions, true), "");
    word ^= bit;
  };
  for (int level = 0; level < m.layout.levels; ++level)
    for (int plane = 0; plane < 3; ++plane) {
      SCOPED_TRACE("level " + std::to_string(level) + ", plane " + std::to_string(plane));
      const std::int64_t panel = m.layout.panels_at(level) / 2, last = m.layout.columns(level, panel) * 30 - 1;
      auto* const line = reinterpret_cast<RankLine*>(m.data()) + m.layout.line(0, plane, level, panel);
      flip(line->bits[0], 1);
      flip(line[last / 224].bits[last % 224 / 32], std::uint32_t{1} << last % 32);
      if (last >= 224) flip(line[1].zeros, 1);
      auto* const zeros = reinterpret_cast<std::uint32_t*>(m.data() + m.layout.zeros_at());
      if (plane < 2) flip(zeros[m.layout.zeros(0, level, panel) + plane], 1);  // no plane follows the last one
    }
  EXPECT_EQ(difference(m, image.view, regions, true), "");
}

TEST(HistogramRank, TakesTheBytesOfItsLayout) {
  EXPECT_EQ(Rank::of(4096, 4096, 1, 16).bytes(), 270'820'160);
  // One pixel: a line for each plane, and its zeros.
  EXPECT_EQ(Rank::of(1, 1, 1, 8).bytes(), 8 * (32 + 4));
  // 5 x 224: 5 columns of 2 lines, panels of 4 and 1 columns with 5 and 2, and one of 5 with 6; of 2 images.
  EXPECT_EQ(Rank::of(5, 224, 2, 3).bytes(), 2 * 3 * ((10 + 7 + 6) * 32 + (5 + 2 + 1) * 4));
  EXPECT_EQ(Rank::of(0, 7, 1, 8).bytes(), 0);
  EXPECT_EQ(Rank::of(7, 0, 1, 8).bytes(), 0);
  EXPECT_TRUE(Rank::fits(65536, 65535) && !Rank::fits(65536, 65536) && Rank::fits(0, 1 << 30));
  EXPECT_TRUE(Rank::fits((std::int64_t{1} << 32) - 1, 1) && !Rank::fits(std::int64_t{1} << 32, 1));
  EXPECT_EQ(Rank::of((std::int64_t{1} << 32) - 1, 1, 1, 1).levels, Rank::most_levels);
}

TEST(HistogramRank, PanelsCoverTheirColumns) {
  for (const std::int64_t width : {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 20, 21, 63, 64, 65, 84, 85}) {
    const Rank r = Rank::of(width, 3, 1, 1);
    for (std::int64_t x0 = 0; x0 < width; ++x0)
      for (std::int64_t x1 = x0 + 1; x1 <= width; ++x1) {
        RankPanel panels[Rank::most_panels];
        std::vector<int> covered(static_cast<std::size_t>(width));
        std::vector<int> at_level(Rank::most_levels);
        const int count = r.cover(x0, x1, panels);
        for (int i = 0; i < count; ++i) {
          ASSERT_LT(panels[i].level, r.levels);
          ASSERT_LE(++at_level[static_cast<std::size_t>(panels[i].level)], 6);
          const std::int64_t first = r.column(panels[i].level, panels[i].panel);
          for (std::int64_t x = first; x < first + r.columns(panels[i].level, panels[i].panel); ++x)
            ++covered[static_cast<std::size_t>(x)];
        }
        for (std::int64_t x = 0; x < width; ++x)
          ASSERT_EQ(covered[static_cast<std::size_t>(x)], x >= x0 && x < x1 ? 1 : 0)
              << width << " " << x0 << " " << x1 << " " << x;
      }
  }
}

TEST(HistogramRank, EveryRectangleOfSmallImages) {
  std::mt19937_64 random(2);
  for (const auto& [w, h] : {std::pair{1, 1}, {1, 13}, {13, 1}, {5, 9}, {17, 5}})
    for (const int most : {0, 1, 255}) {
      SCOPED_TRACE("seed 2, " + std::to_string(w) + "x" + std::to_string(h) + " up to " + std::to_string(most));
      const Guarded image({w, h}, Type::u8, 1, 3);
      oracle::fill_random(image.view, random, 0, most);
      Made m = made(image.view, 8, 2);
      EXPECT_TRUE(m.guards_hold());
      EXPECT_EQ(difference(m, image.view, all_regions(w, h), true), "");
    }
}

// Around the lines' 224 positions, words of 32 bits and panels of 4^j columns.
TEST(HistogramRank, SidesAroundTheLimits) {
  std::mt19937_64 random(3);
  for (const std::int64_t w : {1, 3, 4, 5, 7, 14, 15, 16, 17, 28, 63, 64, 65, 223, 224, 225, 255, 256, 257})
    for (const std::int64_t h : {1, 2, 8, 31, 32, 33, 55, 56, 57, 223, 224, 225, 449}) {
      if (is_short && (w + h) % 3 != 0) continue;
      SCOPED_TRACE("seed 3, " + std::to_string(w) + "x" + std::to_string(h));
      const Guarded image({w, h}, Type::u16, 1, 5);
      oracle::fill_random(image.view, random, 0, w % 2 == 0 ? 65535 : 12);
      Made m = made(image.view, 16, 2);
      EXPECT_TRUE(m.guards_hold());
      EXPECT_EQ(difference(m, image.view, some_regions(random, 12, w, h), false), "");
    }
}

TEST(HistogramRank, ValuesAndShapes) {
  std::mt19937_64 random(4);
  struct Case {
    const char* name;
    std::int64_t w, h;
    std::function<std::uint32_t(std::int64_t, std::int64_t)> value;
  };
  const Case cases[] = {{"one value", 70, 60, [](auto, auto) { return 0x80000000u; }},
                        {"checkerboard", 70, 60, [](auto x, auto y) { return (x + y) % 2 != 0 ? 0xffffffffu : 0u; }},
                        {"ramp", 300, 40, [](auto x, auto y) { return static_cast<std::uint32_t>(x * 16777619 + y); }},
                        {"noise", 100, 101, [&](auto, auto) { return static_cast<std::uint32_t>(random()); }},
                        {"tall", 2, 20000, [&](auto, auto) { return static_cast<std::uint32_t>(random() % 1000); }},
                        {"wide", 20000, 2, [&](auto, auto) { return static_cast<std::uint32_t>(random() % 1000); }}};
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.name) + ", seed 4");
    std::vector<std::uint32_t> pixels(static_cast<std::size_t>(one.w * one.h));
    for (std::int64_t i = 0; i < one.w * one.h; ++i)
      pixels[static_cast<std::size_t>(i)] = one.value(i % one.w, i / one.w);
    const ConstView image(pixels.data(), one.w, one.h);
    Made m = made(image, 32, 2);
    EXPECT_EQ(difference(m, image, some_regions(random, 60, one.w, one.h), false), "");
  }
}

// Each remainder of x and width among the panels of 16 columns.
TEST(HistogramRank, EveryOffset) {
  std::mt19937_64 random(5);
  const Guarded image({90, 20}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  Made m = made(image.view, 8, 1);
  std::vector<Region> regions;
  for (std::int64_t x = 0; x < 34; ++x)
    for (std::int64_t w = 1; w < 56; w += is_short ? 3 : 1) regions.push_back({x, x % 19, w, 1 + w % (20 - x % 19)});
  EXPECT_EQ(difference(m, image.view, regions, false), "");
}

TEST(HistogramRank, ChannelsAndBatch) {
  std::mt19937_64 random(6);
  for (const Layout layout : {Layout::interleaved, Layout::planar}) {
    const Guarded image({37, 41, 3, 2, layout}, Type::u16, 1, 3);
    oracle::fill_random(image.view, random, 0, 4095);
    Made m = made(image.view, 12, 2);
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t c = 0; c < 3; ++c)
        EXPECT_EQ(difference(m, image.view, some_regions(random, 20, 37, 41), false, c, n), "") << "seed 6";
  }
}

TEST(HistogramRank, SameBytesForThreadsTargetsAndMemory) {
  std::mt19937_64 random(7);
  for (const Type type : {Type::u8, Type::s16, Type::u32, Type::f32, Type::f64}) {
    const Guarded image({150, 97, 1, 2}, type, 3, 1);
    oracle::fill_random(image.view, random, 0, 300);
    const int planes = static_cast<int>(8 * size_of(type));
    Made first = made(image.view, planes, 1);
    const std::vector<std::byte> expected = first.bytes();
    EXPECT_TRUE(made(image.view, planes, 2, 0x5a).bytes() == expected);
    for (const std::string& target : cpu::simd_targets()) {
      ASSERT_TRUE(cpu::only_simd_target(target));
      Made other = made(image.view, planes, 2);
      EXPECT_TRUE(other.bytes() == expected) << target;
      EXPECT_TRUE(other.guards_hold());
      if (type == Type::u32) {
        EXPECT_EQ(difference(other, image.view, some_regions(random, 20, 150, 97), false), "") << target;
      }
    }
    cpu::only_simd_target("");
  }
}

}  // namespace
}  // namespace areal
