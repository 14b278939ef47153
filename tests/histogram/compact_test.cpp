// The compact store on the CPU: its bytes, and every rectangle compared with counting.
#include "cpu/histogram/compact.hpp"
#include <gtest/gtest.h>
#include <areal/histogram_store.hpp>
#include <array>
#include <cstdlib>
#include "api/core/pixel_rule.hpp"
#include "cpu/simd.hpp"
#include "guarded_store.hpp"
#include "histogram_oracle.hpp"
#include "random_regions.hpp"

namespace areal {
namespace {

using formulas::Compact;
using oracle::Guarded;
using oracle::Rule;

const bool is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;

using Made = oracle::GuardedStore<Compact>;

Made made(const Rule& rule, const ConstView& image, int block, int threads, const ConstView& mask = {},
          bool wide_anchors = false) {
  const cpu::PixelBins bins = pixel_bins(rule.binning, image.type, image.shape.channels);
  Made m;
  const bool has_none = mask.data != nullptr || cpu::has_no_bin(bins);
  m.layout = Compact::of(image.shape.width, image.shape.height, bins.bins, image.shape.batch, has_none, block);
  if (wide_anchors) m.layout.anchor_bytes = 8;
  m.allocate();
  cpu::build_compact(m.layout, bins, image, mask, m.data(), threads);
  return m;
}

template <class Out = std::uint64_t>
std::vector<Out> answer(Made& m, const Region& region, std::int64_t image = 0) {
  std::vector<Out> out(static_cast<std::size_t>(m.layout.bins) + 1, Out{77});
  std::vector<std::uint64_t> scratch(cpu::compact_scratch_bytes(m.layout) / 8 + 1);
  cpu::compact_counts(m.layout, m.data(), image, region, reinterpret_cast<std::byte*>(scratch.data()), out.data());
  EXPECT_EQ(out.back(), Out{77});  // not a bin more
  out.pop_back();
  return out;
}

/// The histograms of all rectangles with a corner at the origin, by counting: [y][x][bin].
class Counted {
 public:
  Counted(const Rule& rule, const ConstView& image, std::int64_t n, const ConstView* mask = nullptr)
      : width_(image.shape.width),
        bins_(rule.binning.bins()),
        sums_(static_cast<std::size_t>((image.shape.height + 1) * (width_ + 1) * bins_)) {
    for (std::int64_t y = 0; y < image.shape.height; ++y)
      for (std::int64_t x = 0; x < width_; ++x) {
        const bool kept = mask == nullptr || oracle::value_at(*mask, x, y, 0, n) != 0;
        const std::int64_t bin = kept ? oracle::bin_at(rule, image, x, y, n) : -1;
        for (std::int64_t k = 0; k < bins_; ++k)
          at(y + 1, x + 1)[k] = at(y, x + 1)[k] + at(y + 1, x)[k] - at(y, x)[k] + (k == bin ? 1 : 0);
      }
  }
  std::vector<std::uint64_t> of(const Region& r) {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins_));
    const auto *a = at(r.y + r.height, r.x + r.width), *b = at(r.y, r.x + r.width), *c = at(r.y + r.height, r.x),
               *d = at(r.y, r.x);
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] = a[k] - b[k] - c[k] + d[k];
    return counts;
  }

 private:
  std::uint64_t* at(std::int64_t y, std::int64_t x) {
    return sums_.data() + static_cast<std::size_t>((y * (width_ + 1) + x) * bins_);
  }
  std::int64_t width_, bins_;
  std::vector<std::uint64_t> sums_;
};

/// Empty, whole, single pixels, rows and columns at every edge, and random ones.
std::vector<Region> regions_of(std::int64_t w, std::int64_t h, int count, std::mt19937_64& random) {
  std::vector<Region> all = {{0, 0, w, h}, {0, 0, 0, 0}, {w, h, 0, 0}, {0, 0, w, 0}, {w, 0, 0, h}};
  if (w > 0 && h > 0)
    for (const std::int64_t x : {std::int64_t{0}, w - 1, w / 2})
      for (const std::int64_t y : {std::int64_t{0}, h - 1, h / 2}) {
        all.push_back({x, y, 1, 1});
        all.push_back({x, 0, 1, h});
        all.push_back({0, y, w, 1});
        all.push_back({x, y, w - x, h - y});
        all.push_back({0, 0, x, y});
      }
  for (int i = 0; i < count; ++i) all.push_back(random_region(random, w, h));
  return all;
}

std::string words(const Region& r) {
  return std::to_string(r.x) + "," + std::to_string(r.y) + " " + std::to_string(r.width) + "x" +
         std::to_string(r.height);
}

/// The first region whose counts differ.
std::string difference(Made& m, Counted& counted, const std::vector<Region>& regions, std::int64_t image = 0) {
  for (const Region& r : regions)
    if (answer(m, r, image) != counted.of(r)) return words(r);
  return {};
}

TEST(Compact, TakesItsBytes) {
  EXPECT_EQ(Compact::of(1920, 1080, 32, 1, false).bytes(), 10'870'144);
  EXPECT_EQ(Compact::of(1920, 1080, 32, 1, true).bytes(), 273'280 + 4'220'224 + 4'303'040 + 2'073'600);
  EXPECT_EQ(Compact::of(8192, 8192, 128, 1, true).bytes(), 616'760'320);
  EXPECT_EQ(Compact::of(16384, 16384, 256, 1, false).bytes(), 2'449'868'800);
  EXPECT_EQ(Compact::of(0, 0, 1, 1, true).bytes(), 16 * (4 + 2 + 2));
  EXPECT_EQ(Compact::of(5, 5, 255, 1, true).label_bytes, 1);
  EXPECT_EQ(Compact::of(5, 5, 256, 1, false).label_bytes, 1);
  EXPECT_EQ(Compact::of(5, 5, 256, 1, true).label_bytes, 2);
  EXPECT_EQ(Compact::of(5, 5, 257, 1, false).label_bytes, 2);
  for (const int bins : {1, 16, 17, 64, 65, 128, 129, 65535})
    EXPECT_EQ(Compact::of(100, 90, bins, 2, true).block, bins <= 64 ? 32 : bins <= 128 ? 64 : 128) << bins;
}

// Every array, entry by entry, from its definition.
TEST(Compact, HasTheBytesOfItsDefinition) {
  std::mt19937_64 random(3);
  const Rule rule = oracle::uniform(5, 10, 200);
  for (const auto& [w, h] : {std::pair{75, 50}, {48, 33}, {16, 15}, {100, 47}}) {
    const Guarded image({w, h, 1, 2}, Type::u8, 1, 7);
    oracle::fill_random(image.view, random, 0, 255);
    Made m = made(rule, image.view, 32, 1);
    const Compact& c = m.layout;
    for (std::int64_t n = 0; n < 2; ++n) {
      Counted counted(rule, image.view, n);
      const auto sums = [&, w = w, h = h](std::int64_t y, std::int64_t x) {
        return counted.of({0, 0, std::min<std::int64_t>(x, w), std::min<std::int64_t>(y, h)});
      };
      const auto* const anchors = reinterpret_cast<const std::uint32_t*>(m.data());
      const auto* const rows = reinterpret_cast<const std::uint16_t*>(m.data() + c.row_strips_at());
      const auto* const columns = reinterpret_cast<const std::uint16_t*>(m.data() + c.column_strips_at());
      const auto* const labels = reinterpret_cast<const std::uint8_t*>(m.data() + c.labels_at());
      const auto line = [](std::int64_t v) { return (v + 16) / 32; };
      for (std::int64_t k = 0; k < 16; ++k) {
        const auto of = [&](std::int64_t y, std::int64_t x) {
          return k < 5 ? sums(y, x)[static_cast<std::size_t>(k)] : 0;
        };
        for (std::int64_t a = 0; a <= line(h); ++a)
          for (std::int64_t b = 0; b <= line(w); ++b) ASSERT_EQ(anchors[c.anchor(n, a, b) + k], of(32 * a, 32 * b));
        for (std::int64_t y = 0; y <= h; ++y)
          for (std::int64_t b = 0; b <= line(w); ++b)
            ASSERT_EQ(rows[c.row_strip(n, y, b) + k],
                      static_cast<std::uint16_t>(of(y, 32 * b) - of(32 * line(y), 32 * b)))
                << y << " " << b;
        for (std::int64_t a = 0; a <= line(h); ++a)
          for (std::int64_t x = 0; x <= w; ++x)
            ASSERT_EQ(columns[c.column_strip(n, a, x) + k],
                      static_cast<std::uint16_t>(of(32 * a, x) - of(32 * a, 32 * line(x))));
      }
      for (std::int64_t y = 0; y < (h + 3) / 4 * 4; ++y)
        for (std::int64_t x = 0; x < (w + 31) / 32 * 32; ++x) {
          const std::int64_t bin = x < w && y < h ? oracle::bin_at(rule, image.view, x, y, n) : -1;
          ASSERT_EQ(labels[c.label(n, y, x)], bin < 0 ? 255 : bin) << x << "," << y;
        }
    }
    EXPECT_TRUE(m.guards_hold());
  }
}

TEST(Compact, TheCheckCatchesOneFlippedBitOfEachArray) {
  std::mt19937_64 random(4);
  const Rule rule = oracle::uniform(8, 0, 256);
  const Guarded image({100, 90}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  Counted counted(rule, image.view, 0);
  const auto regions = regions_of(100, 90, 400, random);
  Made m = made(rule, image.view, 32, 1);
  ASSERT_EQ(difference(m, counted, regions), "");
  const Compact& c = m.layout;
  for (const std::int64_t at :
       {c.anchor(0, 1, 1) * 4, c.row_strips_at() + 2 * (c.row_strip(0, 40, 1) + 3),
        c.column_strips_at() + 2 * (c.column_strip(0, 1, 41) + 7), c.labels_at() + c.label(0, 9, 9)}) {
    m.data()[at] ^= std::byte{1};
    EXPECT_NE(difference(m, counted, regions), "") << at;
    m.data()[at] ^= std::byte{1};
  }
  EXPECT_EQ(difference(m, counted, regions), "");
}

// Sides around the squares, the blocks and their halves; pitches, batches, threads.
TEST(Compact, EqualsCountingForEverySide) {
  std::mt19937_64 random(5);
  const std::int64_t sides[] = {0,  1,  3,  4,  5,  15, 16, 17,  31,  32,  33, 47,
                                48, 49, 63, 64, 65, 95, 97, 127, 129, 191, 193};
  const Rule rule = oracle::uniform(3, 10, 200);
  int turn = 0;
  for (const std::int64_t w : sides)
    for (const std::int64_t h : sides) {
      if (is_short && ++turn % 5 != 0) continue;
      SCOPED_TRACE(std::to_string(w) + "x" + std::to_string(h) + " seed 5");
      const Guarded image({w, h, 1, 2}, Type::u8, 3, 5);
      oracle::fill_random(image.view, random, 0, 255);
      Made m = made(rule, image.view, turn % 3 == 0 ? 32 : turn % 3 == 1 ? 64 : 128, turn % 2 + 1);
      for (std::int64_t n = 0; n < 2; ++n) {
        Counted counted(rule, image.view, n);
        ASSERT_EQ(difference(m, counted, regions_of(w, h, 40, random), n), "");
      }
      EXPECT_TRUE(m.guards_hold());
    }
}

// All rules, types, channels and layouts; NaN, infinities and both zeros among the floats.
TEST(Compact, EqualsCountingForEveryRule) {
  std::mt19937_64 random(6);
  struct Case {
    Rule rule;
    Type type;
    std::int64_t channels;
    int lo, hi;
  };
  std::vector<std::int32_t> table(256);
  for (std::size_t v = 0; v < 256; ++v) table[v] = v % 7 == 0 ? -1 : static_cast<std::int32_t>(v * v % 9);
  std::vector<Case> cases = {
      {oracle::uniform(1, 0, 256), Type::u8, 1, 0, 255},
      {oracle::uniform(15, 3, 250), Type::s8, 1, -128, 127},
      {oracle::uniform(16, 0, 256), Type::u8, 1, 0, 255},
      {oracle::uniform(17, 30, 120, true), Type::u8, 1, 0, 255},
      {oracle::edges({-3, 0, 0.5, 9, 200}), Type::f32, 1, -5, 220},
      {oracle::edges({-3, 0, 0.5, 9, 200}, true), Type::f64, 1, -5, 220},
      {oracle::uniform(32, -1000, 1000), Type::f16, 1, -900, 900},
      {oracle::uniform(33, -1000, 1000), Type::s16, 1, -1000, 1000},
      {oracle::uniform(64, 0, 65536), Type::u16, 1, 0, 65535},
      {oracle::uniform(65, 0, 100000), Type::u32, 1, 0, 100000},
      {oracle::uniform(128, -100, 100), Type::s32, 1, -120, 120},
      {oracle::lookup(table), Type::u8, 1, 0, 255},
      {oracle::labels(129, 7), Type::s64, 1, -2, 140},
      {oracle::labels(30, -1), Type::u64, 1, 0, 31},
      {oracle::uniform(255, 0, 255), Type::u8, 1, 0, 255},
      {oracle::uniform(256, 0, 256), Type::u8, 1, 0, 255},
      {oracle::uniform(256, 1, 257), Type::u8, 1, 0, 255},
      {oracle::uniform(257, 0, 300), Type::u16, 1, 0, 310},
      {oracle::joint({oracle::uniform(5, 0, 256), oracle::uniform(6, 10, 200)}), Type::u8, 2, 0, 255},
      {oracle::joint({oracle::uniform(4, 0, 256), oracle::uniform(8, 0, 256), oracle::uniform(8, 0, 256)}), Type::u8, 3,
       0, 255},
      {oracle::joint({oracle::uniform(3, 0, 9), oracle::edges({0, 2, 5}), oracle::uniform(2, 0, 9)}), Type::f32, 3, -1,
       10}};
  for (const Case& one : cases)
    for (const Layout layout : {Layout::interleaved, Layout::planar}) {
      if (layout == Layout::planar && one.channels == 1) continue;
      SCOPED_TRACE(one.rule.name + " " + std::string(name_of(one.type)) + " seed 6");
      const Guarded image({70, 53, one.channels, 1, layout}, one.type, 1, 3);
      oracle::fill_random(image.view, random, one.lo, one.hi);
      Counted counted(one.rule, image.view, 0);
      for (const int block : {32, 64, 128}) {
        Made m = made(one.rule, image.view, block, 2);
        ASSERT_EQ(difference(m, counted, regions_of(70, 53, 60, random)), "") << "block " << block;
        EXPECT_TRUE(m.guards_hold());
      }
    }
}

// Labels of 16 bits up to the last.
TEST(Compact, CountsTheMostBins) {
  std::mt19937_64 random(7);
  for (const std::int64_t bins : {65534, 65535}) {
    const Rule rule = oracle::labels(bins, -1);
    const Guarded image({41, 39}, Type::u16, 1, 2);
    oracle::fill_random(image.view, random, 65500, 65535);
    Made m = made(rule, image.view, 0, 2);
    for (const Region& r : regions_of(41, 39, 6, random)) {
      std::vector<std::uint64_t> expected(static_cast<std::size_t>(bins));
      for (std::int64_t y = r.y; y < r.y + r.height; ++y)
        for (std::int64_t x = r.x; x < r.x + r.width; ++x)
          if (const std::int64_t bin = oracle::bin_at(rule, image.view, x, y, 0); bin >= 0)
            ++expected[static_cast<std::size_t>(bin)];
      ASSERT_EQ(answer(m, r), expected) << words(r);
    }
  }
}

TEST(Compact, MasksLeaveOutPixels) {
  std::mt19937_64 random(8);
  for (const Rule& rule : {oracle::uniform(16, 0, 256), oracle::uniform(256, 0, 256)}) {
    const Guarded image({90, 70, 1, 2}, Type::u8, 1, 3), mask({90, 70, 1, 2}, Type::u8, 2, 5);
    oracle::fill_random(image.view, random, 0, 255);
    oracle::fill_random(mask.view, random, 0, 2);
    Made m = made(rule, image.view, 32, 2, mask.view);
    const ConstView as_const = mask.view;
    for (std::int64_t n = 0; n < 2; ++n) {
      Counted counted(rule, image.view, n, &as_const);
      ASSERT_EQ(difference(m, counted, regions_of(90, 70, 80, random), n), "") << rule.name;
    }
  }
}

// Every offset of both corners modulo two blocks.
TEST(Compact, AnswersEveryOffset) {
  std::mt19937_64 random(9);
  const Rule rule = oracle::uniform(4, 0, 256);
  const Guarded image({150, 140}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 0, 255);
  Counted counted(rule, image.view, 0);
  Made m = made(rule, image.view, 32, 1);
  for (std::int64_t i = 0; i < 64; ++i)
    for (std::int64_t j = 0; j < 64; ++j) {
      const Region regions[] = {{i, j, 64, 64}, {i, 3, 80 - i, 40 + j}, {7, i, 40 + j, 70 - i}};
      for (const Region& r : regions) ASSERT_EQ(answer(m, r), counted.of(r)) << words(r);
    }
}

// Strips of a single value: pairs that count 65,535 and 65,536, and rows of which several pairs are read.
TEST(Compact, WideBoxesAreExact) {
  const Rule rule = oracle::uniform(2, 0, 256);
  for (const auto& [w, h] : {std::pair{65535, 40}, {65536, 40}, {65537, 40}, {70000, 64}, {40, 65536}, {64, 70000}}) {
    const Guarded image({w, h}, Type::u8, 0, 0);
    for (std::int64_t y = 0; y < h; ++y) std::memset(image.view.row(y), 200, static_cast<std::size_t>(w));
    Made m = made(rule, image.view, 32, 2);
    std::mt19937_64 random(10);
    auto regions = regions_of(w, h, 300, random);
    // Edges 1 and 16 pixels from their line, over widths at which a pair counts 65,535, 65,536 and more.
    for (const std::int64_t t : {1, 15, 16, 17, 31})
      for (const std::int64_t size : {65504, 65535, 65536, 65537, 4095, 4096, 4097, 4353, 70000}) {
        if (t < h && size <= w) regions.push_back({0, t, size, h - t});
        if (t < w && size <= h) regions.push_back({t, 0, w - t, size});
      }
    for (const Region& r : regions) {
      const auto pixels = static_cast<std::uint64_t>(r.width * r.height);
      ASSERT_EQ(answer(m, r), (std::vector<std::uint64_t>{0, pixels})) << words(r) << " of " << w << "x" << h;
      ASSERT_EQ(answer<double>(m, r)[1], static_cast<double>(pixels));
    }
  }
}

// The formulas with strips of 10 bits, so that small images need many pairs: read entry by entry.
TEST(Compact, PairsAreExactAtASmallerModulus) {
  constexpr std::int64_t most = 1023;
  std::mt19937_64 random(11);
  const Rule rule = oracle::uniform(2, 0, 256);
  const Guarded image({700, 420}, Type::u8, 0, 0);
  oracle::fill_random(image.view, random, 100, 140);
  Counted counted(rule, image.view, 0);
  Made m = made(rule, image.view, 32, 2);
  const Compact& c = m.layout;
  const auto* const anchors = reinterpret_cast<const std::uint32_t*>(m.data());
  const auto* const rows = reinterpret_cast<const std::uint16_t*>(m.data() + c.row_strips_at());
  const auto* const columns = reinterpret_cast<const std::uint16_t*>(m.data() + c.column_strips_at());
  const auto* const labels = reinterpret_cast<const std::uint8_t*>(m.data() + c.labels_at());
  int several = 0;
  for (const Region& r : regions_of(700, 420, 2000, random)) {
    const std::int64_t y[] = {r.y, r.y + r.height}, x[] = {r.x, r.x + r.width};
    std::vector<std::uint64_t> counts(2);
    for (std::int64_t k = 0; k < 2; ++k) {
      std::uint32_t sum = 0;
      for (const int i : {0, 1})
        for (const int j : {0, 1}) {
          const int sign = i == j ? 1 : -1;
          sum += static_cast<std::uint32_t>(sign) * anchors[c.anchor(0, c.line(y[i]), c.line(x[j])) + k];
          const formulas::CompactRest rest = formulas::compact_rest(c, y[i], x[j], sign);
          for (std::int64_t yy = rest.y0; yy < rest.y1; ++yy)
            for (std::int64_t xx = rest.x0; xx < rest.x1; ++xx)
              if (labels[c.label(0, yy, xx)] == k) sum += static_cast<std::uint32_t>(rest.sign);
        }
      for (const int edge : {0, 1}) {
        const auto add = [&](std::int64_t v, std::int64_t first, std::int64_t last, const auto& at) {
          const std::int64_t t = c.offset(v);
          if (t == 0) return;
          const std::int64_t step = formulas::compact_pair(t, c.block, most);
          several += last - first > step;
          for (std::int64_t from = first; from < last; from += step) {
            const auto less = at(from), more = at(std::min(from + step, last));
            const std::uint32_t count = static_cast<std::uint32_t>(t > 0 ? more - less : less - more) & most;
            sum += (t > 0) == (edge == 1) ? count : -count;
          }
        };
        add(y[edge], c.line(x[0]), c.line(x[1]),
            [&](std::int64_t b) { return rows[c.row_strip(0, y[edge], b) + k] & most; });
        add(x[edge], c.line(y[0]), c.line(y[1]),
            [&](std::int64_t a) { return columns[c.column_strip(0, a, x[edge]) + k] & most; });
      }
      counts[static_cast<std::size_t>(k)] = sum;
    }
    ASSERT_EQ(counts, counted.of(r)) << words(r);
  }
  EXPECT_GT(several, 1000);  // edges with several pairs
}

// Anchors cancel modulo their width: near 2^32, and with 64 bits.
TEST(Compact, AnchorsCancel) {
  std::mt19937_64 random(12);
  const Rule rule = oracle::uniform(20, 0, 256);
  const Guarded image({200, 170}, Type::u8, 0, 3);
  oracle::fill_random(image.view, random, 0, 255);
  Counted counted(rule, image.view, 0);
  const auto regions = regions_of(200, 170, 300, random);
  Made m = made(rule, image.view, 32, 1);
  auto* const anchors = reinterpret_cast<std::uint32_t*>(m.data());
  for (std::int64_t i = 0; i < m.layout.anchors(); ++i) anchors[i] += 0xfffffff0;
  EXPECT_EQ(difference(m, counted, regions), "");
  Made wide = made(rule, image.view, 32, 2, {}, true);
  EXPECT_EQ(difference(wide, counted, regions), "");
  auto* const wide_anchors = reinterpret_cast<std::uint64_t*>(wide.data());
  for (std::int64_t i = 0; i < m.layout.anchors(); ++i) wide_anchors[i] += 0xfffffffffffffff0;
  EXPECT_EQ(difference(wide, counted, regions), "");
  // More further pairs than one part holds, of 64 bits.
  const Guarded one({9000, 40}, Type::u8, 0, 0);
  for (std::int64_t y = 0; y < 40; ++y) std::memset(one.view.row(y), 1, 9000);
  Made widest = made(oracle::uniform(1, 0, 256), one.view, 128, 1, {}, true);
  for (const Region& r : regions_of(9000, 40, 100, random))
    ASSERT_EQ(answer(widest, r)[0], static_cast<std::uint64_t>(r.width * r.height));
}

// The bytes do not depend on threads or SIMD, nor do answers.
TEST(Compact, TheSameBytesForAnyThreadsAndTarget) {
  struct All {
    ~All() { cpu::only_simd_target(""); }
  } all_targets_again;
  std::mt19937_64 random(13);
  // The last is large enough for stores that pass the caches.
  for (const auto& [bins, w, h, images] : {std::array<std::int64_t, 4>{32, 300, 200, 2},
                                           {48, 300, 200, 1},
                                           {300, 130, 140, 3},
                                           {16, 400, 200, 5},
                                           {32, 1000, 900, 1}}) {
    const Rule rule = oracle::uniform(bins, 0, 256);
    const Guarded image({w, h, 1, images}, Type::u8, 0, 1);
    oracle::fill_random(image.view, random, 0, 255);
    const auto regions = regions_of(w, h, 30, random);
    Made first = made(rule, image.view, 0, 1);
    const auto bytes = first.bytes();
    for (const int threads : {2, 3, 4, 0}) EXPECT_TRUE(made(rule, image.view, 0, threads).bytes() == bytes) << threads;
    for (const std::string& target : cpu::simd_targets()) {
      ASSERT_TRUE(cpu::only_simd_target(target));
      Made m = made(rule, image.view, 0, 2);
      EXPECT_TRUE(m.bytes() == bytes) << target;
      EXPECT_TRUE(m.guards_hold()) << target;
      for (const Region& r : regions) ASSERT_EQ(answer(m, r), answer(first, r)) << target;
      cpu::only_simd_target("");
    }
  }
}

}  // namespace
}  // namespace areal
