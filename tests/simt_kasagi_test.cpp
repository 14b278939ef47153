// The algorithms of Kasagi 2014 on the simulated machine: they read, write and launch what the paper's formulas say,
// the lower-order terms included; whatever the schedule and the tiles' side.
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>
#include "kernels/sat/paper_entries.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {
namespace {

using kernels::Plain;

/// What a run gave.
struct Run {
  std::vector<std::uint64_t> table;
  Counts counts;
};

/// The table of random 16-bit pixels in 64 bits, border none. The workspace is poisoned.
template <class Algorithm>
Run run(std::int64_t height, std::int64_t width, const Options& options = {}, double r = 0.25) {
  std::mt19937 random(7);
  std::vector<std::uint16_t> image(static_cast<std::size_t>(height * width));
  for (std::uint16_t& pixel : image) pixel = static_cast<std::uint16_t>(random());
  Run result;
  result.table.resize(image.size());
  kernels::TableRequest request{"", kernels::Summed::pixels, {Type::u16, Type::u64}, {width, height}, Border::none, {},
                                r};
  std::vector<char> workspace(Algorithm::template workspace_bytes<std::uint64_t>(request));
  const Plain plain{{reinterpret_cast<char*>(image.data()), width * 2, true},
                    {reinterpret_cast<char*>(result.table.data()), width * 8, true},
                    width,
                    height};
  Launcher launcher(options);
  launcher.add({"the image", image.data(), image.size() * 2, true, false});
  launcher.add({"the table", result.table.data(), result.table.size() * 8, false});
  if (!workspace.empty()) launcher.add({"the workspace", workspace.data(), workspace.size(), false});
  Algorithm::template sums<std::uint16_t, std::uint64_t>(launcher, request, plain, workspace.data());
  result.counts = launcher.total();

  std::vector<std::uint64_t> expected(image.begin(), image.end());
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 1; x < width; ++x) expected[y * width + x] += expected[y * width + x - 1];
  for (std::int64_t i = width; i < height * width; ++i) expected[i] += expected[i - width];
  EXPECT_EQ(result.table, expected) << height << "x" << width << ", seed " << options.seed << ", r " << r;
  return result;
}

struct Size {
  std::int64_t h, w;
};
constexpr Size sizes[] = {{64, 64}, {96, 32}, {32, 160}, {64, 1}, {1, 64}, {70, 45}, {33, 97}, {130, 131}};

std::string words(const Size& s) { return std::to_string(s.h) + "x" + std::to_string(s.w); }

void expect_elements(const Counts& c, std::int64_t reads, std::int64_t writes, std::int64_t launches,
                     const std::string& what) {
  EXPECT_EQ(c.reads.elements, static_cast<std::uint64_t>(reads)) << what;
  EXPECT_EQ(c.writes.elements, static_cast<std::uint64_t>(writes)) << what;
  EXPECT_EQ(c.launches, static_cast<std::uint64_t>(launches)) << what;
}

TEST(Kasagi, Lemma1RowsAndColumnsOfTheDiagonalArrangementMeetNoBankTwice) {
  static kernels::DiagonalTile<std::uint32_t, 32> tile;
  for (int k = 0; k < 32; ++k) {
    std::set<std::ptrdiff_t> row, column;
    for (int i = 0; i < 32; ++i) {
      row.insert((&tile.at(k, i) - &tile.cell[0][0]) % 32);
      column.insert((&tile.at(i, k) - &tile.cell[0][0]) % 32);
    }
    EXPECT_EQ(row.size(), 32u) << k;
    EXPECT_EQ(column.size(), 32u) << k;
  }
}

TEST(Kasagi, TwoReadTwoWrite) {
  for (const Size& s : sizes) {
    const std::int64_t n = s.h * s.w;
    expect_elements(run<kernels::TwoReadTwoWrite>(s.h, s.w).counts, 2 * n, 2 * n - s.h, 2, words(s));
  }
  // Half of it is strided: a warp's accesses along the rows are in 32 address groups.
  const Counts c = run<kernels::TwoReadTwoWrite>(64, 64).counts;
  EXPECT_EQ(c.reads.coalesced, 64u * 64);
  EXPECT_EQ(c.reads.strided, 64u * 64);
  EXPECT_EQ(c.writes.coalesced, 64u * 64);
  EXPECT_EQ(c.writes.strided, 64u * 63);
}

template <int w>
void four_read_four_write() {
  for (const Size& s : sizes) {
    const std::int64_t n = s.h * s.w;
    const Counts c = run<kernels::FourReadFourWrite<w>>(s.h, s.w).counts;
    expect_elements(c, 4 * n, 4 * n - s.h, 4, words(s));
    // Two transposes, each once through shared memory.
    EXPECT_EQ(c.shared_writes.elements, static_cast<std::uint64_t>(2 * n)) << words(s);
    EXPECT_EQ(c.shared_reads.elements, static_cast<std::uint64_t>(2 * n)) << words(s);
  }
}
TEST(Kasagi, FourReadFourWrite) {
  four_read_four_write<4>();
  four_read_four_write<16>();
  four_read_four_write<32>();
  const Counts c = run<kernels::FourReadFourWrite<>>(96, 64).counts;
  EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
  EXPECT_EQ(c.shared_reads.conflicts + c.shared_writes.conflicts, 0u);
}

TEST(Kasagi, FourReadOneWrite) {
  for (const Size& s : sizes) {
    const std::int64_t n = s.h * s.w;
    expect_elements(run<kernels::FourReadOneWrite>(s.h, s.w).counts, 4 * n - 2 * s.h - 2 * s.w + 1, n, s.h + s.w - 1,
                    words(s));
  }
  // But for a lane that is alone in its warp, or two at the border of two address groups, all is strided.
  const Counts c = run<kernels::FourReadOneWrite>(64, 64).counts;
  EXPECT_GE(c.writes.strided, 64u * 64 - 8);
}

/// Reads, writes and launches of 2R1W on h x w elements.
struct Cost {
  std::int64_t reads = 0, writes = 0, launches = 0;
};
Cost cost_of_2r1w(std::int64_t h, std::int64_t w, std::int64_t side) {
  const std::int64_t th = (h + side - 1) / side, tw = (w + side - 1) / side;
  const std::int64_t carries = (th - 1) * w + (tw - 1) * h, corners = (th - 1) * (tw - 1);
  const std::int64_t scanned = std::max<std::int64_t>(0, th - 2) * w + std::max<std::int64_t>(0, tw - 2) * h;
  Cost cost{2 * h * w + 2 * carries + corners, h * w + carries + corners + scanned, 3};
  if (corners == 0) {
    if (carries == 0) cost.launches = 2;
  } else if (th - 1 <= side && tw - 1 <= side) {  // one block makes their table
    cost.reads += corners, cost.writes += corners;
  } else {
    const Cost deeper = cost_of_2r1w(th - 1, tw - 1, side);
    cost.reads += deeper.reads, cost.writes += deeper.writes, cost.launches += deeper.launches - 1;
  }
  return cost;
}

template <int w>
void two_read_one_write() {
  for (const Size& s : sizes) {
    const Counts c = run<kernels::TwoReadOneWrite<w>>(s.h, s.w).counts;
    const Cost cost = cost_of_2r1w(s.h, s.w, w);
    expect_elements(c, cost.reads, cost.writes, cost.launches, words(s) + ", w " + std::to_string(w));
  }
}
TEST(Kasagi, TwoReadOneWrite) {
  two_read_one_write<2>();
  two_read_one_write<4>();
  two_read_one_write<16>();
  two_read_one_write<32>();
  const Counts c = run<kernels::TwoReadOneWrite<>>(128, 96).counts;
  EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
  EXPECT_EQ(c.launches, 3u);
  // 36 columns of tiles: a level of recursion, two more launches. 1056 elements a side need none.
  EXPECT_EQ(run<kernels::TwoReadOneWrite<>>(70, 36 * 32).counts.launches, 5u);
  EXPECT_EQ(run<kernels::TwoReadOneWrite<4>>(4 * 5, 4 * 5).counts.launches, 3u);
  EXPECT_EQ(run<kernels::TwoReadOneWrite<4>>(4 * 5, 4 * 6).counts.launches, 5u);
}

template <int w>
void one_read_one_write() {
  for (const Size& s : sizes) {
    const Counts c = run<kernels::OneReadOneWrite<w>>(s.h, s.w).counts;
    const std::int64_t n = s.h * s.w, th = (s.h + w - 1) / w, tw = (s.w + w - 1) / w;
    expect_elements(c, n + (th - 1) * s.w + (tw - 1) * s.h + (th - 1) * (tw - 1), n + (tw - 1) * s.h, th + tw - 1,
                    words(s) + ", w " + std::to_string(w));
  }
}
TEST(Kasagi, OneReadOneWrite) {
  one_read_one_write<4>();
  one_read_one_write<16>();
  one_read_one_write<32>();
  const Counts c = run<kernels::OneReadOneWrite<>>(128, 96).counts;
  EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
}

/// (1+r)R1W on th x tw whole tiles.
Cost cost_of_hybrid(std::int64_t th, std::int64_t tw, std::int64_t w, std::int64_t k) {
  const auto triangle = [](std::int64_t side) { return side > 0 ? side * (side + 1) / 2 : 0; };
  const std::int64_t tiles = triangle(k);
  Cost cost{0, th * tw * w * w, th + tw - 1 - 2 * k};
  for (std::int64_t i = 0; i < th; ++i)
    for (std::int64_t j = 0; j < tw; ++j) {
      if (i + j < k || i + j > th + tw - 2 - k) continue;
      cost.reads += w * w + (i > 0 ? w : 0) + (j > 0 ? w : 0) + (i > 0 && j > 0 ? 1 : 0);
      if (j + 1 < tw) cost.writes += w;
    }
  if (k == 0) return cost;
  cost.launches += 6;
  // Upper: twice its tiles; the carries scanned and added; the corners' table.
  cost.reads += 2 * tiles * w * w + 4 * triangle(k - 1) * w + triangle(k - 2);
  if (k > 1) cost.reads += (k - 1) * (k - 1);
  // Tiles that have one below write its column sums, and so on; a scan writes all sums but the first of a line.
  std::int64_t below = 0;
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; i + j < k; ++j) below += i + 1 < k;
  cost.writes += 2 * below * w + 2 * (k - 1) * (k - 1) + 2 * triangle(k - 2) * w + k * w;
  // Lower: the same, but each line begins with a difference of finished sums, and two diagonals of corners with theirs.
  below = 0;
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = k - 1 - i; j < k; ++j) below += i + 1 < k;
  cost.reads += 2 * tiles * w * w + k + 3 * (k - 1) + 2 * (2 * k + triangle(k - 1)) * w + k * k + tiles * (2 * w + 1);
  cost.writes += 2 * below * w + 2 * k * k + 2 * (k + triangle(k - 1)) * w;
  return cost;
}

template <int w>
void hybrid() {
  for (const Size& tiles : {Size{6, 6}, Size{2, 2}, Size{5, 3}, Size{3, 7}, Size{1, 4}, Size{4, 1}})
    for (const double r : {0.01, 0.1, 0.25, 0.4, 0.7, 0.99}) {
      const Counts c = run<kernels::HybridOneReadOneWrite<w>>(tiles.h * w, tiles.w * w, {}, r).counts;
      const std::int64_t k = kernels::triangle_side(r, tiles.h, tiles.w);
      if (k > w) continue;  // a level of recursion
      const Cost cost = cost_of_hybrid(tiles.h, tiles.w, w, k);
      // One tile has no carries: the second launch of an upper triangle of one tile has no blocks.
      expect_elements(c, cost.reads, cost.writes, cost.launches - (k == 1),
                      words(tiles) + " tiles of " + std::to_string(w) + ", r " + std::to_string(r));
    }
}
TEST(Kasagi, Hybrid) {
  hybrid<4>();
  hybrid<8>();
  for (const Size& s : sizes)
    for (const double r : {0.05, 0.3, 0.9}) run<kernels::HybridOneReadOneWrite<8>>(s.h, s.w, {}, r);
  run<kernels::HybridOneReadOneWrite<4>>(4 * 14, 4 * 15 - 1, {}, 0.8);  // triangles with two levels
  const Counts c = run<kernels::HybridOneReadOneWrite<>>(160, 192, {}, 0.4).counts;
  EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
}

TEST(Kasagi, TrianglesAreMadeOfTiles) {
  using kernels::triangle_side;
  EXPECT_EQ(triangle_side(0.25, 1, 1), 0);
  EXPECT_EQ(triangle_side(0.99, 2, 2), 1);
  EXPECT_EQ(triangle_side(0.999, 32, 32), 31);
  EXPECT_EQ(triangle_side(1e-9, 32, 32), 0);
  EXPECT_EQ(triangle_side(0.25, 32, 32), 16);  // 16 * 17 = 272 of 1024 tiles; 15 * 16 = 240 is as near, less 16
  for (int t = 2; t < 40; ++t)
    for (double r = 0.01; r < 1; r += 0.017) {
      const std::int64_t side = triangle_side(r, t, t);
      for (std::int64_t other = 0; other < t; ++other)
        EXPECT_LE(std::abs(kernels::share_of(side, t, t) - r), std::abs(kernels::share_of(other, t, t) - r) + 1e-12);
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
