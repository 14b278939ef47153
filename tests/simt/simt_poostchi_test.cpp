// The integral histograms of Poostchi 2017 on the simulated machine: correct tensors; and launches, reads, writes and
// barriers equal the paper's formulas, with the lower-order terms, for any schedule, side of the tiles and threads of a
// block.
#include <gtest/gtest.h>
#include <bit>
#include <numeric>
#include "histogram_request.hpp"
#include "kernels/histogram/registry.hpp"

namespace areal::simt {
namespace {

template <class T, template <class> class Algorithm>
Ran run(const Asked& asked, const Options& options = {}) {
  return run<T>(kernels::PlainHistogram<Launcher, T, Algorithm>::kernels(), asked, options);
}
/// Blocks of at most 64 threads: rows of several pieces that are not long.
template <class T>
using SmallBaseline = kernels::CrossWeaveBaseline<T, 64>;
template <class T>
using SmallScanTransposeScan = kernels::ScanTransposeScan<T, 64>;
template <class T>
using CwTis = kernels::CrossWeaveTiled<T>;
template <class T>
using WfTis = kernels::WavefrontTiled<T>;

constexpr Border borders[] = {Border::none, Border::zero, Border::exclusive};

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void expect(const Counts& c, std::int64_t reads, std::int64_t writes, std::int64_t launches, std::int64_t barriers,
            const std::string& what) {
  EXPECT_EQ(c.reads.elements, static_cast<std::uint64_t>(reads)) << what;
  EXPECT_EQ(c.writes.elements, static_cast<std::uint64_t>(writes)) << what;
  EXPECT_EQ(c.launches, static_cast<std::uint64_t>(launches)) << what;
  EXPECT_EQ(c.deepest_barriers, static_cast<std::uint64_t>(barriers)) << what;
}

/// The barriers of a block that scans a row with at most `most` threads.
std::int64_t scan_barriers(std::int64_t length, std::int64_t most) {
  const auto piece = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(length, 2 * most))));
  const std::int64_t pieces = up(length, piece), levels = std::bit_width(static_cast<std::uint64_t>(piece)) - 1;
  return pieces * (2 * levels + 1) + pieces - 1;
}

/// Sizes of one and of several blocks, tiles and pieces; primes; single rows and columns.
const std::vector<Asked>& sizes() {
  static const std::vector<Asked> all = {{1, 1, 1},   {1, 1, 5},   {1, 131, 2},  {131, 1, 2}, {2, 3, 32},   {7, 13, 5},
                                         {16, 16, 2}, {17, 33, 2}, {64, 64, 1},  {65, 31, 2}, {32, 129, 1}, {70, 45, 5},
                                         {5, 300, 1}, {257, 3, 1}, {37, 41, 32}, {1, 5000, 1}};
  return all;
}

/// Also for blocks with other numbers of threads: several tiles in both directions, in seconds.
bool is_small(const Asked& s) { return s.width < 1000 && s.height * s.width * s.bins < 16000; }

/// Every tile with every number of threads that its blocks may have.
std::vector<std::pair<int, int>> blocks_on_tiles() {
  std::vector<std::pair<int, int>> all;
  for (const int tile : {16, 32, 64})
    for (const int threads : formulas::tile_threads(tile)) all.emplace_back(tile, threads);
  return all;
}

TEST(Poostchi, AFlippedElementIsFound) {
  const Asked asked{9, 8, 3};
  std::vector<std::uint64_t> tensor = run<std::uint32_t, SmallScanTransposeScan>(asked).tensor;
  EXPECT_EQ(tensor, expected_tensor(asked));
  ++tensor[100];
  EXPECT_NE(tensor, expected_tensor(asked));
}

TEST(Poostchi, CwBHasALaunchForEachRowTransposeAndColumn) {
  for (const Asked& s : sizes()) {
    if (s.bins * (s.height + s.width) > 2000) continue;  // launches
    const std::int64_t b = s.bins, h = s.height, w = s.width, n = h * w, all = n * b;
    const Ran ran = run<std::uint32_t, SmallBaseline>(s);
    const std::int64_t barriers = b * h * scan_barriers(w, 64) + b + b * w * scan_barriers(h, 64) + 1;
    expect(ran.counts, 2 * n + 4 * all, 5 * all, 1 + b * h + b + b * w + 1, barriers, s.words());
    EXPECT_EQ(ran.by_kernel(),
              (std::map<std::string, std::int64_t>{
                  {"InitialiseTensor", 1}, {"Prescan", b * h + b * w}, {"TransposePlanes", b}, {"TransposeBack", 1}}))
        << s.words();
    for (const LaunchCounts& launch : ran.launches)
      EXPECT_TRUE(launch.kernel != "Prescan" || launch.blocks == 1) << s.words();
  }
}

TEST(Poostchi, CwStsHasThreeLaunches) {
  for (const Asked& s : sizes()) {
    const std::int64_t b = s.bins, h = s.height, w = s.width, n = h * w, all = n * b;
    const Ran ran = run<std::uint32_t, SmallScanTransposeScan>(s);
    expect(ran.counts, 2 * n + 4 * all, 5 * all, 1 + 3 + 1, scan_barriers(w, 64) + 1 + scan_barriers(h, 64) + 1,
           s.words());
    ASSERT_EQ(ran.launches.size(), 5u);
    const char* const kernels[] = {"InitialiseTensor", "Prescan", "TransposePlanes", "Prescan", "TransposeBack"};
    const std::int64_t tiles = up(h, 32) * up(w, 32) * b, blocks[] = {up(n, 256), b * h, tiles, b * w, tiles};
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(ran.launches[i].kernel, kernels[i]) << s.words();
      EXPECT_EQ(ran.launches[i].blocks, blocks[i]) << s.words();
    }
    // A scan keeps its elements: each goes through shared memory, and is not read again.
    EXPECT_EQ(ran.launches[1].counts.reads.elements, static_cast<std::uint64_t>(all)) << s.words();
    EXPECT_EQ(ran.launches[1].counts.writes.elements, static_cast<std::uint64_t>(all)) << s.words();
  }
}

TEST(Poostchi, ScansHaveFewerThreadsForShortRows) {
  // In the paper's order: 64, 256, 512 and 1024, and pieces of 2048.
  for (const auto& [width, threads] :
       {std::pair{128, 64}, {129, 256}, {512, 256}, {513, 512}, {1025, 1024}, {2048, 1024}}) {
    const Ran ran = run<std::uint32_t, kernels::CwSts>({1, width, 1});
    EXPECT_EQ(ran.launches[1].threads, threads) << width;
    EXPECT_EQ(ran.launches[1].counts.deepest_barriers, static_cast<std::uint64_t>(scan_barriers(width, 1024))) << width;
  }
  const Ran ran = run<std::uint32_t, kernels::CwSts>({1, 5000, 1});
  EXPECT_EQ(ran.launches[1].blocks, 1);
  EXPECT_EQ(ran.launches[1].counts.deepest_barriers, 3u * 23 + 2);
}

TEST(Poostchi, TransposesMeetNoBankTwiceAndAreCoalesced) {
  const Ran ran = run<std::uint32_t, kernels::CwSts>({96, 64, 2});
  for (const int i : {2, 4}) {
    const Counts& c = ran.launches[i].counts;
    EXPECT_EQ(c.shared_reads.conflicts + c.shared_writes.conflicts, 0u);
    EXPECT_EQ(c.reads.strided + c.writes.strided, 0u);
    EXPECT_EQ(c.shared_reads.elements, 96u * 64 * 2);
  }
}

TEST(Poostchi, CwTisHasALaunchForEachStrip) {
  for (const auto& [tile, threads] : blocks_on_tiles())
    for (Asked s : sizes()) {
      if (threads != formulas::default_tile_threads(tile) && !is_small(s)) continue;
      s.tile = tile, s.tile_threads = threads;
      const std::int64_t b = s.bins, h = s.height, w = s.width, n = h * w, all = n * b;
      const std::int64_t across = up(w, tile), down = up(h, tile);
      const Ran ran = run<std::uint32_t, CwTis>(s);
      expect(ran.counts, 2 * n + b * (2 * n + (across - 1) * h + (down - 1) * w), 3 * all, 1 + across + down,
             2 * (across + down), s.words());
      std::map<std::string, std::int64_t> kernels = ran.by_kernel();
      EXPECT_EQ(kernels["TiledHorizontalScan"], across) << s.words();
      EXPECT_EQ(kernels["TiledVerticalScan"], down) << s.words();
      for (const LaunchCounts& launch : ran.launches) {
        EXPECT_TRUE(launch.kernel != "TiledHorizontalScan" || launch.blocks == b * down) << s.words();
        EXPECT_TRUE(launch.kernel != "TiledVerticalScan" || launch.blocks == b * across) << s.words();
        EXPECT_TRUE(launch.kernel == "InitialiseTensor" || launch.threads == s.tile_threads) << s.words();
      }
    }
}

TEST(Poostchi, WfTisHasALaunchForEachDiagonal) {
  for (const auto& [tile, threads] : blocks_on_tiles())
    for (Asked s : sizes()) {
      if (threads != formulas::default_tile_threads(tile) && !is_small(s)) continue;
      s.tile = tile, s.tile_threads = threads;
      const std::int64_t b = s.bins, h = s.height, w = s.width, n = h * w, all = n * b;
      const std::int64_t across = up(w, tile), down = up(h, tile);
      const Ran ran = run<std::uint32_t, WfTis>(s);
      expect(ran.counts, 2 * n + b * (n + (across - 1) * h + (down - 1) * w), 2 * all + b * (across - 1) * h,
             1 + across + down - 1, 3 * (across + down - 1), s.words());
      std::int64_t tiles = 0;
      for (const LaunchCounts& launch : ran.launches)
        if (launch.kernel == "TiledWavefrontScan") {
          tiles += launch.blocks;
          EXPECT_EQ(launch.threads, s.tile_threads) << s.words();
        }
      EXPECT_EQ(tiles, b * across * down) << s.words();
    }
}

template <class T>
void expect_free_of_conflicts(int tile, int threads) {
  Asked asked{128, 192, 2, Border::none, tile};
  asked.tile_threads = threads;
  for (const Ran& ran : {run<T, CwTis>(asked), run<T, WfTis>(asked)})
    for (const LaunchCounts& launch : ran.launches) {
      const Counts& c = launch.counts;
      EXPECT_EQ(c.shared_reads.conflicts + c.shared_writes.conflicts, 0u) << launch.kernel << " " << asked.words();
      // Only the sums of the strip to the left, one for each row, and the look-up table of the bins are strided.
      const bool strided = launch.kernel == "TiledHorizontalScan" || launch.kernel == "InitialiseTensor";
      EXPECT_TRUE(strided || c.reads.strided == 0) << launch.kernel;
      EXPECT_EQ(c.writes.strided, 0u) << launch.kernel;
    }
}
TEST(Poostchi, TilesMeetNoBankTwiceAndAreCoalesced) {
  // A warp that moves two rows of a tile of 16 is in two runs of neighbours.
  for (const auto& [tile, threads] : blocks_on_tiles())
    if (tile != 16) expect_free_of_conflicts<std::uint32_t>(tile, threads);
  for (const int tile : {32, 64}) expect_free_of_conflicts<std::uint64_t>(tile, 0);
}

/// The default numbers of threads; and how 512 threads process 64 rows.
TEST(Poostchi, BlocksAndTiles) {
  EXPECT_EQ((run<std::uint32_t, WfTis>({64, 64, 1, Border::none, 16}).launches.back().threads), 256);
  EXPECT_EQ((run<std::uint32_t, WfTis>({64, 64, 1, Border::none, 32}).launches.back().threads), 512);
  const Ran ran = run<std::uint32_t, WfTis>({64, 64, 1, Border::none, 64});
  ASSERT_EQ(ran.launches.size(), 2u);
  const Counts& c = ran.launches[1].counts;
  EXPECT_EQ(ran.launches[1].threads, 512);
  // 8 rounds of 16 warps, each moving half a row; then two warps take 64 steps along the rows, and down the columns.
  EXPECT_EQ(c.reads.requests, 8u * 16);
  EXPECT_EQ(c.shared_writes.requests, 8u * 16 + 2 * 2 * 64);
  EXPECT_EQ(c.shared_reads.requests, 2u * 2 * 64 + 8 * 16);
}

/// For one whole tile: T T / threads rounds, and warps for `side` threads that take T steps each way. The requests of
/// the warps are the same for all numbers of threads; only more of them come at a time.
TEST(Poostchi, EveryBlockMovesAndScansItsTile) {
  std::size_t tried = 0;
  for (const auto& [tile, threads] : blocks_on_tiles()) {
    Asked asked{tile, tile, 1, Border::none, tile};
    asked.tile_threads = threads;
    const auto side = static_cast<std::uint64_t>(tile);
    const std::uint64_t rounds = side * side / static_cast<std::uint64_t>(threads), moves = rounds * threads / 32;
    const std::uint64_t steps = side * ((side + 31) / 32);
    const Ran wave = run<std::uint32_t, WfTis>(asked), cross = run<std::uint32_t, CwTis>(asked);
    ASSERT_EQ(wave.launches.size(), 2u);
    ASSERT_EQ(cross.launches.size(), 3u);
    for (const Ran& ran : {wave, cross})
      for (std::size_t i = 1; i < ran.launches.size(); ++i) {
        const Counts& c = ran.launches[i].counts;
        const std::uint64_t scans = ran.launches.size() == 2 ? 2 : 1;
        EXPECT_EQ(ran.launches[i].threads, threads) << asked.words();
        EXPECT_EQ(c.reads.requests, moves) << asked.words();
        EXPECT_EQ(c.writes.requests, moves) << asked.words();
        EXPECT_EQ(c.shared_writes.requests, moves + scans * steps) << asked.words();
        EXPECT_EQ(c.shared_reads.requests, scans * steps + moves) << asked.words();
      }
    ++tried;
  }
  EXPECT_EQ(tried, 3u + 4 + 4);
}

TEST(Poostchi, OtherCountersHaveTheDefaultAlone) {
  Asked asked{64, 64, 1, Border::none, 64};
  asked.tile_threads = 128;
  EXPECT_EQ((run<std::uint32_t, WfTis>(asked).launches.back().threads), 128);
  EXPECT_EQ((run<std::uint16_t, WfTis>(asked).launches.back().threads), 512);
  EXPECT_EQ((run<std::uint64_t, CwTis>(asked).launches.back().threads), 512);
}

template <template <class> class Algorithm>
void every_counter_border_and_alignment() {
  for (const Border border : borders)
    for (const Asked& s : {Asked{0, 0, 3}, Asked{0, 5, 2}, Asked{5, 0, 2}, Asked{1, 1, 2}, Asked{2, 2, 1},
                           Asked{35, 40, 2}, Asked{1, 66, 5}, Asked{66, 1, 5}}) {
      Asked asked = s;
      asked.border = border;
      run<std::uint16_t, Algorithm>(asked);
      run<std::uint32_t, Algorithm>(asked);
      run<std::uint64_t, Algorithm>(asked);
      asked.misalign = 3, asked.gap = 5;
      run<std::uint16_t, Algorithm>(asked);
      run<std::uint64_t, Algorithm>(asked);
      asked.misalign = 4, asked.gap = 4, asked.tile = 16;
      run<std::uint32_t, Algorithm>(asked);
      run<std::uint64_t, Algorithm>(asked);
    }
}
TEST(Poostchi, EveryCounterBorderAndAlignment) {
  every_counter_border_and_alignment<kernels::CwB>();
  every_counter_border_and_alignment<kernels::CwSts>();
  every_counter_border_and_alignment<CwTis>();
  every_counter_border_and_alignment<WfTis>();
}

TEST(Poostchi, CountersOf16BitsWrap) {
  for (const Asked& asked : {Asked{260, 256, 1}, Asked{256, 260, 1, Border::zero, 64}}) {
    run<std::uint16_t, kernels::CwSts>(asked);
    run<std::uint16_t, CwTis>(asked);
    run<std::uint16_t, WfTis>(asked);
  }
}

TEST(Poostchi, AnyScheduleGivesTheSameTensor) {
  std::uint64_t seed = 2;
  for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
    for (const int residents : {1, 3, 64}) {
      Options options;
      options.seed = seed++, options.residents = residents, options.start = start;
      Asked asked{70, 45, 2, Border::none, 16 << seed % 3, seed};
      const auto threads = formulas::tile_threads(asked.tile);
      asked.tile_threads = threads[seed % threads.size()];
      run<std::uint32_t, SmallBaseline>(asked, options);
      run<std::uint32_t, SmallScanTransposeScan>({9, 300, 2, Border::none, 32, seed}, options);
      run<std::uint32_t, CwTis>(asked, options);
      run<std::uint32_t, WfTis>(asked, options);
    }
}

TEST(Poostchi, TheIdsAreTheirs) {
  using kernels::PaperTensors;
  using kernels::TypeGroup;
  for (const char* id : {"cw-b", "cw-sts", "cw-tis", "wf-tis"}) {
    for (const Type counter : {Type::u16, Type::u32})
      EXPECT_TRUE((PaperTensors::find<Launcher, TypeGroup::g32u>({id, counter}).execute)) << id;
    EXPECT_TRUE((PaperTensors::find<Launcher, TypeGroup::g64u>({id, Type::u64}).execute)) << id;
    EXPECT_FALSE((PaperTensors::find<Launcher, TypeGroup::g32f>({id, Type::f32}).execute)) << id;
    const auto kernels = PaperTensors::find<Launcher, TypeGroup::g32u>({id, Type::u32});
    const std::size_t launches = run<std::uint32_t>(kernels, {40, 70, 3}).launches.size();
    const std::map<std::string, std::size_t> expected{
        {"cw-b", 1 + 3 * 40 + 3 + 3 * 70 + 1}, {"cw-sts", 5}, {"cw-tis", 1 + 3 + 2}, {"wf-tis", 1 + 3 + 2 - 1}};
    EXPECT_EQ(launches, expected.at(id)) << id;
  }
  EXPECT_FALSE((PaperTensors::find<Launcher, TypeGroup::g32u>({"reduce-then-scan", Type::u32}).execute));
}

}  // namespace
}  // namespace areal::simt
