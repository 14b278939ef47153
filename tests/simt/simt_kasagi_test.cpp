// The algorithms of Kasagi 2014 on the simulated machine: reads, writes and launches equal the paper's formulas, with
// the lower-order terms, for any schedule and side of the tiles. kasagi_cost.hpp has the work of tiles.
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>
#include "kasagi_cost.hpp"
#include "kernels/sat/registry.hpp"
#include "research/cost_names.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {
namespace {

using kasagi::Cost;
using kernels::Plain;

/// The cost of a table of random 16-bit pixels in T, border none. The workspace is poisoned.
template <class Algorithm, class T = std::uint64_t>
Counts run(std::int64_t height, std::int64_t width, const Options& options = {}, double r = 0.25) {
  std::mt19937 random(7);
  std::vector<std::uint16_t> image(static_cast<std::size_t>(height * width));
  for (std::uint16_t& pixel : image) pixel = static_cast<std::uint16_t>(random());
  std::vector<T> table(image.size());
  const TypePair types{Type::u16, sizeof(T) == 4 ? Type::u32 : Type::u64};
  kernels::TableRequest request{"", kernels::TableKind::pixels, types, {width, height}, Border::none, {}, r};
  std::vector<char> workspace(Algorithm::template workspace_bytes<T>(request));
  const Plain plain{{reinterpret_cast<char*>(image.data()), width * 2, true},
                    {reinterpret_cast<char*>(table.data()), width * static_cast<std::int64_t>(sizeof(T)), true},
                    width,
                    height};
  Launcher launcher(options);
  launcher.add({"the image", image.data(), image.size() * 2, true, false});
  launcher.add({"the table", table.data(), table.size() * sizeof(T), false});
  if (!workspace.empty()) launcher.add({"the workspace", workspace.data(), workspace.size(), false});
  Algorithm::template sums<std::uint16_t, T>(launcher, request, plain, workspace.data());

  std::vector<T> expected(image.begin(), image.end());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 1; x < width; ++x) expected[y * width + x] += expected[y * width + x - 1];
  for (std::int64_t i = width; i < height * width; ++i) expected[i] += expected[i - width];
  EXPECT_EQ(table, expected) << height << "x" << width << ", seed " << options.seed << ", r " << r;
  return launcher.total();
}

struct Size {
  std::int64_t h, w;
};
constexpr Size sizes[] = {{64, 64}, {96, 32}, {32, 160}, {64, 1}, {1, 64}, {70, 45}, {33, 97}, {130, 131}};

std::string words(const Size& s) { return std::to_string(s.h) + "x" + std::to_string(s.w); }

void expect_cost(const Counts& c, const Cost& cost, const std::string& what) {
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  EXPECT_EQ(number(c.reads.elements), cost.reads) << what;
  EXPECT_EQ(number(c.writes.elements), cost.writes) << what;
  EXPECT_EQ(number(c.launches), cost.launches) << what;
  EXPECT_EQ(number(c.shared_reads.elements), cost.shared_reads) << what;
  EXPECT_EQ(number(c.shared_writes.elements), cost.shared_writes) << what;
}
/// A warp's lanes have parts of several rows if tiles are less than 32 wide.
void expect_coalesced(const Counts& c, int w, const std::string& what) {
  if (w < 32) return;
  EXPECT_EQ(c.reads.strided, 0u) << what;
  EXPECT_EQ(c.writes.strided, 0u) << what;
}
std::uint64_t conflicts(const Counts& c) { return c.shared_reads.conflicts + c.shared_writes.conflicts; }

template <int w>
void expect_lemma1() {
  static kernels::DiagonalTile<std::uint32_t, w> tile;
  for (int k = 0; k < w; ++k) {
    std::set<std::ptrdiff_t> row, column;
    for (int i = 0; i < w; ++i) {
      row.insert((&tile.at(k, i) - &tile.cell[0][0]) % w);
      column.insert((&tile.at(i, k) - &tile.cell[0][0]) % w);
    }
    EXPECT_EQ(row.size(), std::size_t{w}) << k;
    EXPECT_EQ(column.size(), std::size_t{w}) << k;
  }
}
/// On a machine of 32 banks of 4 bytes, which serves 8 bytes a lane in half-warps.
template <int w, class T>
void expect_no_conflict() {
  for (const Size& s : {Size{3 * w, 4 * w}, Size{3 * w - 1, 2 * w + 1}}) {
    const std::string what = words(s) + ", w " + std::to_string(w) + ", " + std::to_string(sizeof(T)) + " bytes";
    const auto expect = [&](const char* id, const Counts& c) {
      EXPECT_GT(c.shared_reads.elements, 0u) << id << ", " << what;
      EXPECT_EQ(conflicts(c), 0u) << id << ", " << what;
    };
    expect("4r4w", run<kernels::FourReadFourWrite<w>, T>(s.h, s.w));
    expect("2r1w", run<kernels::TwoReadOneWrite<w>, T>(s.h, s.w));
    expect("1r1w", run<kernels::OneReadOneWrite<w>, T>(s.h, s.w));
    for (const double r : {0.2, 0.9}) expect("hybrid-1r1w", run<kernels::HybridOneReadOneWrite<w>, T>(s.h, s.w, {}, r));
  }
}
template <int... w>
void no_bank_twice() {
  (expect_lemma1<w>(), ...);
  (expect_no_conflict<w, std::uint32_t>(), ...);
  (expect_no_conflict<w, std::uint64_t>(), ...);
}
TEST(Kasagi, Lemma1RowsAndColumnsOfTheDiagonalArrangementMeetNoBankTwice) { no_bank_twice<2, 4, 8, 16, 32, 64>(); }

/// True if `lanes` accesses, `stride` elements apart, touch more address groups than neighbours would.
bool is_strided(std::int64_t first, std::int64_t stride, std::int64_t pairs) {
  constexpr std::int64_t group = 32;
  std::set<std::int64_t> groups;
  for (std::int64_t i = 0; i < pairs; ++i) groups.insert((first + i * stride) / group);
  return static_cast<std::int64_t>(groups.size()) > (first + pairs - 1) / group - first / group + 1;
}

/// Strided accesses, of reads and of writes.
struct Strided {
  std::int64_t reads = 0, writes = 0;
};
void expect_strided(const Counts& c, const Strided& expected, const std::string& what) {
  EXPECT_EQ(static_cast<std::int64_t>(c.reads.strided), expected.reads) << what;
  EXPECT_EQ(static_cast<std::int64_t>(c.writes.strided), expected.writes) << what;
  EXPECT_EQ(c.reads.coalesced, c.reads.elements - c.reads.strided) << what;
  EXPECT_EQ(c.writes.coalesced, c.writes.elements - c.writes.strided) << what;
}

/// Along the rows a warp has one element of each of 32 rows; down the columns all is coalesced.
Strided strided_of_2r2w(const Size& s) {
  Strided sum;
  for (std::int64_t y = 0; y < s.h; y += 32)
    for (std::int64_t x = 0; x < s.w; ++x) {
      const std::int64_t pairs = std::min<std::int64_t>(32, s.h - y);
      if (is_strided(y * s.w + x, s.w, pairs)) sum.reads += pairs, sum.writes += x > 0 ? pairs : 0;
    }
  return sum;
}
TEST(Kasagi, TwoReadTwoWrite) {
  for (const Size& s : sizes) {
    const std::int64_t n = s.h * s.w;
    const Counts c = run<kernels::TwoReadTwoWrite>(s.h, s.w);
    expect_cost(c, {2 * n, 2 * n - s.h, 2}, words(s));
    expect_strided(c, strided_of_2r2w(s), words(s));
  }
  // Half of it.
  const Strided half = strided_of_2r2w({64, 64});
  EXPECT_EQ(half.reads, 64 * 64);
  EXPECT_EQ(half.writes, 64 * 63);
}

template <int w>
void four_read_four_write() {
  for (const Size& s : sizes) {
    const std::int64_t n = s.h * s.w;
    const Counts c = run<kernels::FourReadFourWrite<w>>(s.h, s.w);
    // Two transposes, each once through shared memory.
    expect_cost(c, {4 * n, 4 * n - s.h, 4, 2 * n, 2 * n}, words(s) + ", w " + std::to_string(w));
    expect_coalesced(c, w, words(s));
  }
}
TEST(Kasagi, FourReadFourWrite) {
  four_read_four_write<4>();
  four_read_four_write<16>();
  four_read_four_write<32>();
}

/// A warp has up to 32 elements of an anti-diagonal, a row each; it reads the pixels, the sums to the left, above and
/// above the left, and writes.
Strided strided_of_4r1w(const Size& s) {
  Strided sum;
  const auto count = [&](std::int64_t y, std::int64_t end, std::int64_t diagonal, std::int64_t up, std::int64_t left) {
    y = std::max(y, up), end = std::min(end, diagonal - left + 1);
    const std::int64_t pairs = end - y;
    return pairs > 0 && is_strided((y - up) * s.w + diagonal - y - left, s.w - 1, pairs) ? pairs : 0;
  };
  for (std::int64_t k = 0; k < s.h + s.w - 1; ++k) {
    const std::int64_t first = std::max<std::int64_t>(0, k - s.w + 1), end = std::min(k + 1, s.h);
    for (std::int64_t y = first; y < end; y += 32) {
      const std::int64_t to = std::min(end, y + 32);
      sum.reads += count(y, to, k, 0, 0) + count(y, to, k, 0, 1) + count(y, to, k, 1, 0) + count(y, to, k, 1, 1);
      sum.writes += count(y, to, k, 0, 0);
    }
  }
  return sum;
}
TEST(Kasagi, FourReadOneWrite) {
  for (const Size& s : sizes) {
    const std::int64_t n = s.h * s.w;
    const Counts c = run<kernels::FourReadOneWrite>(s.h, s.w);
    expect_cost(c, {4 * n - 2 * s.h - 2 * s.w + 1, n, s.h + s.w - 1}, words(s));
    expect_strided(c, strided_of_4r1w(s), words(s));
  }
  // All is strided, except for a lane that is alone in its warp, or two at the border of two address groups.
  EXPECT_GE(strided_of_4r1w({64, 64}).writes, 64 * 64 - 8);
}

template <int w>
void two_read_one_write() {
  for (const Size& s : sizes) {
    const Counts c = run<kernels::TwoReadOneWrite<w>>(s.h, s.w);
    expect_cost(c, kasagi::cost_of_2r1w(s.h, s.w, w), words(s) + ", w " + std::to_string(w));
    expect_coalesced(c, w, words(s));
  }
}
TEST(Kasagi, TwoReadOneWrite) {
  two_read_one_write<2>();
  two_read_one_write<4>();
  two_read_one_write<16>();
  two_read_one_write<32>();
  // 36 columns of tiles: a level of recursion, two more launches. 1056 elements a side need none.
  const Counts deep = run<kernels::TwoReadOneWrite<>>(70, 36 * 32);
  expect_cost(deep, kasagi::cost_of_2r1w(70, 36 * 32, 32), "36 columns of tiles");
  EXPECT_EQ(deep.launches, 5u);
  EXPECT_EQ(run<kernels::TwoReadOneWrite<>>(128, 96).launches, 3u);
  EXPECT_EQ(run<kernels::TwoReadOneWrite<4>>(4 * 5, 4 * 5).launches, 3u);
  EXPECT_EQ(run<kernels::TwoReadOneWrite<4>>(4 * 5, 4 * 6).launches, 5u);
}

template <int w>
void one_read_one_write() {
  for (const Size& s : sizes) {
    const Counts c = run<kernels::OneReadOneWrite<w>>(s.h, s.w);
    expect_cost(c, kasagi::cost_of_1r1w(s.h, s.w, w), words(s) + ", w " + std::to_string(w));
    expect_coalesced(c, w, words(s));
  }
}
TEST(Kasagi, OneReadOneWrite) {
  one_read_one_write<4>();
  one_read_one_write<16>();
  one_read_one_write<32>();
}

/// The side of the triangles.
template <int w>
std::int64_t hybrid(const Size& s, double r) {
  const Counts c = run<kernels::HybridOneReadOneWrite<w>>(s.h, s.w, {}, r);
  const std::int64_t k = formulas::triangle_side(r, kasagi::tiles_of(s.h, w), kasagi::tiles_of(s.w, w));
  const std::string what = words(s) + ", w " + std::to_string(w) + ", r " + std::to_string(r);
  expect_cost(c, kasagi::cost_of_hybrid(s.h, s.w, w, k), what);
  expect_coalesced(c, w, what);
  CostNames names;
  names.h = static_cast<double>(s.h), names.w = static_cast<double>(s.w), names.T = w, names.k = static_cast<double>(k);
  names.d = static_cast<double>(triangle_levels(k, w));
  EXPECT_EQ(CostFormula::value(find_algorithm("sat", "hybrid-1r1w")->barrier_steps, names),
            static_cast<double>(c.launches) - 1)
      << what;
  return k;
}
template <int w>
void hybrids() {
  for (const Size& tiles : {Size{6, 6}, Size{2, 2}, Size{5, 3}, Size{3, 7}, Size{1, 4}, Size{4, 1}})
    for (const double r : {0.01, 0.1, 0.25, 0.4, 0.7, 0.99}) hybrid<w>({tiles.h * w, tiles.w * w}, r);
  for (const Size& s : sizes)  // partial tiles
    for (const double r : {0.05, 0.3, 0.9}) hybrid<w>(s, r);
}
TEST(Kasagi, Hybrid) {
  hybrids<4>();
  hybrids<8>();
  hybrids<32>();
  // Triangles of a side of 4 need no recursion, of 5 the lower one, then both, then two levels.
  EXPECT_EQ(hybrid<4>({4 * 6, 4 * 6 - 1}, 0.56), 4);
  EXPECT_EQ(hybrid<4>({4 * 6, 4 * 6 - 1}, 0.83), 5);
  EXPECT_EQ(hybrid<4>({4 * 7 - 2, 4 * 7}, 0.86), 6);
  EXPECT_EQ(hybrid<2>({2 * 10, 2 * 11 - 1}, 0.8), 9);
  EXPECT_GT(hybrid<4>({4 * 14, 4 * 15 - 1}, 0.8), 8);
  // Of the catalogue's tiles: d is 0, 1 and 2.
  for (const std::int64_t k : {32, 33, 34}) EXPECT_EQ(triangle_levels(k, 32), k - 32);
  EXPECT_EQ(hybrid<32>({33 * 32 + 1, 33 * 32 + 1}, 0.97), 33);
}

TEST(Kasagi, TrianglesAreMadeOfTiles) {
  using formulas::triangle_side;
  EXPECT_EQ(triangle_side(0.25, 1, 1), 0);
  EXPECT_EQ(triangle_side(0.99, 2, 2), 1);
  EXPECT_EQ(triangle_side(0.999, 32, 32), 31);
  EXPECT_EQ(triangle_side(1e-9, 32, 32), 0);
  EXPECT_EQ(triangle_side(0.25, 32, 32), 16);  // 16 * 17 = 272 of 1024 tiles; 15 * 16 = 240 is as near, less 16
  for (int t = 2; t < 40; ++t)
    for (double r = 0.01; r < 1; r += 0.017) {
      const std::int64_t side = triangle_side(r, t, t);
      for (std::int64_t other = 0; other < t; ++other)
        EXPECT_LE(std::abs(formulas::share_of(side, t, t) - r), std::abs(formulas::share_of(other, t, t) - r) + 1e-12);
    }
}

TEST(Kasagi, AnyScheduleGivesTheSameTable) {
  std::uint64_t seed = 2;
  for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
    for (const int residents : {1, 3, 64}) {
      Options options;
      options.seed = seed++, options.residents = residents, options.start = start;
      run<kernels::TwoReadTwoWrite>(70, 45, options);
      run<kernels::FourReadFourWrite<>>(70, 45, options);
      run<kernels::FourReadOneWrite>(70, 45, options);
      run<kernels::TwoReadOneWrite<>>(100, 70, options);
      run<kernels::OneReadOneWrite<>>(100, 70, options);
      run<kernels::HybridOneReadOneWrite<>>(130, 140, options, 0.4);
    }
}

}  // namespace
}  // namespace areal::simt
