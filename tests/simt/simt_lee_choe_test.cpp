// The integral histograms of Lee and Choe 2014 on the simulated machine: the mappings to banks, the conflicts of the
// sweeps, scans of any operation; correct tensors, and launches, reads, writes and barriers by exact formulas.
#include <gtest/gtest.h>
#include <bit>
#include <numeric>
#include <set>
#include "histogram_request.hpp"
#include "kernels/histogram/registry.hpp"

namespace areal::simt {
namespace {

using kernels::PaddedBanks;
using kernels::RotatedBanks;

// ---------------------------------------------------------------- positions of elements

/// The cells of n elements, and how many of [0, n) hold none.
template <class Map>
std::set<int> cells_of(int n) {
  std::set<int> cells;
  for (int i = 0; i < n; ++i) cells.insert(Map::at(i));
  return cells;
}
template <class Map>
int holes(int n) {
  int holes = 0;
  const std::set<int> cells = cells_of<Map>(n);
  for (int cell = 0; cell < n; ++cell) holes += cells.count(cell) == 0;
  return holes;
}

TEST(LeeChoe, Figures1And2) {
  EXPECT_EQ(PaddedBanks<16>::at(26), 27);
  EXPECT_EQ(PaddedBanks<16>::cells(64), 64 + 3);  // 64 / 16 - 1 are never used
  for (const auto& [i, cell] : {std::pair{15, 15},
                                {16, 17},
                                {30, 31},
                                {31, 16},
                                {32, 34},
                                {45, 47},
                                {46, 32},
                                {47, 33},
                                {48, 51},
                                {60, 63},
                                {61, 48},
                                {63, 50}})
    EXPECT_EQ(RotatedBanks<16>::at(i), cell) << i;
}

template <int b>
void mapping() {
  for (int i = 0; i < 5000; ++i) {
    const int row = i / b;
    ASSERT_EQ(RotatedBanks<b>::at(i), b * row + (i % b + row) % b) << i;    // the diagonal arrangement
    ASSERT_EQ(RotatedBanks<b>::at(i) % b, PaddedBanks<b>::at(i) % b) << i;  // Harris' banks
    ASSERT_LT(RotatedBanks<b>::at(i), RotatedBanks<b>::cells(i + 1)) << i;
    ASSERT_LT(PaddedBanks<b>::at(i), PaddedBanks<b>::cells(i + 1)) << i;
  }
  for (int n = 0; n < 2 * b * b + 3 * b; n += n < 3 * b ? 1 : 7) {
    ASSERT_EQ(cells_of<RotatedBanks<b>>(n).size(), static_cast<std::size_t>(n));
    ASSERT_EQ(holes<RotatedBanks<b>>(n) == 0, n % b == 0 || n / b % b == 0) << n;
  }
}
TEST(LeeChoe, TheMappingIsTheDiagonalArrangementAndHasHolesUnlessTheBanksDivideTheLength) {
  mapping<4>();
  mapping<16>();
  mapping<32>();
  for (const int n : {1080, 2160}) {
    EXPECT_GT(holes<RotatedBanks<>>(n), 0) << n;
    EXPECT_EQ(RotatedBanks<>::cells(n) % 32, 0) << n;
  }
  for (const int n : {1920, 2560, 4096}) EXPECT_EQ(holes<RotatedBanks<>>(n), 0) << n;
}

// ---------------------------------------------------------------- sweeps

template <class Map_, class T_, int n_, int threads_>
struct SweepConfig {
  using Map = Map_;
  using T = T_;
  static constexpr int n = n_, threads = threads_;
};

/// One of the sweeps alone, over any cells.
template <class M, class C, bool up>
struct Sweep {
  using Args = kernels::NoConfig;
  struct Shared {
    std::uint32_t cell[C::Map::cells(C::n)];
  };
  static constexpr int threads = C::threads;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    for (int i = m.thread(); i < C::n; i += threads) m.put(s.cell[C::Map::at(i)], 1);
    if constexpr (up) kernels::up_sweep<typename C::Map, threads>(m, s.cell, C::n, kernels::Plus{});
    if constexpr (!up) kernels::down_sweep<typename C::Map, threads>(m, s.cell, C::n, kernels::Plus{});
  }
};
template <class M, class C>
struct UpSweep : Sweep<M, C, true> {};
template <class M, class C>
struct DownSweep : Sweep<M, C, false> {};

/// The cycles beyond one of each access of a warp to one child of the nodes, and the most that one takes.
struct Conflicts {
  int left = 0, right = 0, ways = 1;
};
template <class Map>
Conflicts conflicts_of(int n, int threads) {
  Conflicts found;
  for (int nodes = n / 2, stride = 1; nodes > 0; nodes /= 2, stride *= 2)
    for (int own = std::max(1, nodes / threads), turn = 0; turn < own; ++turn)
      for (int warp = 0; warp * 32 * own < nodes; ++warp)
        for (const bool right : {false, true}) {
          int in_bank[32] = {}, most = 1;
          for (int types = 0; types < 32; ++types) {
            const int node = (warp * 32 + types) * own + turn;
            if (node < nodes) most = std::max(most, ++in_bank[Map::at(stride * (2 * node + (right ? 2 : 1)) - 1) % 32]);
          }
          (right ? found.right : found.left) += most - 1;
          found.ways = std::max(found.ways, most);
        }
  return found;
}

template <class Map, int n, int threads>
void expect_conflicts(int ways) {
  SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(threads) + " threads");
  using C = SweepConfig<Map, std::uint32_t, n, threads>;
  Launcher launcher;
  launcher.launch<UpSweep, C>(1, {});
  launcher.launch<DownSweep, C>(1, {});
  const Counts up = launcher.launches()[0].counts, down = launcher.launches()[1].counts;
  const Conflicts expected = conflicts_of<Map>(n, threads);
  EXPECT_EQ(expected.ways, ways);
  // Both children are read; up, the right one is written, down, both.
  EXPECT_EQ(up.shared_reads.conflicts, static_cast<std::uint64_t>(expected.left + expected.right));
  EXPECT_EQ(up.shared_writes.conflicts, static_cast<std::uint64_t>(expected.right));
  EXPECT_EQ(down.shared_reads.conflicts, static_cast<std::uint64_t>(expected.left + expected.right));
  EXPECT_EQ(down.shared_writes.conflicts, static_cast<std::uint64_t>(expected.left + expected.right));
  EXPECT_EQ(up.shared_reads.conflicts == 0, ways == 1);
  const int levels = std::bit_width(static_cast<unsigned>(n)) - 1;
  EXPECT_EQ(up.block_barriers, static_cast<std::uint64_t>(levels));
  EXPECT_EQ(up.shared_reads.elements, 2u * (n - 1));  // one operation a node
  EXPECT_EQ(up.shared_writes.elements, static_cast<std::uint64_t>(n + n - 1));
  EXPECT_EQ(down.shared_writes.elements, static_cast<std::uint64_t>(n + 2 * (n - 1)));
}
template <class Map>
void sweeps() {
  expect_conflicts<Map, 32, 16>(1);
  expect_conflicts<Map, 64, 32>(1);
  expect_conflicts<Map, 512, 256>(1);
  expect_conflicts<Map, 1024, 512>(1);  // the banks' square
  expect_conflicts<Map, 2048, 1024>(2);
  // Four and eight elements a thread.
  expect_conflicts<Map, 4096, 1024>(4);
  expect_conflicts<Map, 8192, 1024>(8);
}
TEST(LeeChoe, SweepsAreFreeOfConflictsUpToTheBanksSquare) {
  sweeps<PaddedBanks<>>();
  sweeps<RotatedBanks<>>();
}
TEST(LeeChoe, WithoutAMappingThereWouldBeConflicts) {
  struct Plain {
    static constexpr int at(int i) { return i; }
  };
  EXPECT_EQ(conflicts_of<Plain>(64, 32).ways, 2);
  EXPECT_EQ(conflicts_of<Plain>(1024, 512).ways, 32);
}

/// x -> a x + b, in 32 bits each; first f, then g. It does not commute, and has no inverse.
struct Then {
  std::uint64_t operator()(std::uint64_t f, std::uint64_t g) const {
    const auto fa = static_cast<std::uint32_t>(f >> 32), fb = static_cast<std::uint32_t>(f);
    const auto ga = static_cast<std::uint32_t>(g >> 32), gb = static_cast<std::uint32_t>(g);
    return static_cast<std::uint64_t>(fa * ga) << 32 | static_cast<std::uint32_t>(ga * fb + gb);
  }
  static constexpr std::uint64_t identity = std::uint64_t{1} << 32;
};

template <class M, class C>
struct ScanThen {
  struct Args {
    std::uint64_t* cells;  // and the whole after them
  };
  struct Shared {
    std::uint64_t cell[C::Map::cells(C::n)], total;
  };
  static constexpr int threads = C::threads;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    for (int i = m.thread(); i < C::n; i += threads) m.put(s.cell[C::Map::at(i)], m.load(a.cells + i));
    kernels::exclusive_scan<typename C::Map, threads>(m, s.cell, C::n, s.total, Then::identity, Then{});
    for (int i = m.thread(); i < C::n; i += threads) m.store(a.cells + i, m.get(s.cell[C::Map::at(i)]));
    if (m.thread() == 0) m.store(a.cells + C::n, m.get(s.total));
  }
};
template <class Map, int n, int threads>
void scan_any_operation() {
  std::mt19937_64 random(n);
  std::vector<std::uint64_t> cells(n + 1), expected;
  for (int i = 0; i < n; ++i) cells[i] = random();
  std::uint64_t before = Then::identity;
  for (int i = 0; i <= n; ++i) {
    expected.push_back(before);
    if (i < n) before = Then{}(before, cells[i]);
  }
  Launcher launcher;
  launcher.add({"the cells", cells.data(), cells.size() * 8});
  launcher.launch<ScanThen, SweepConfig<Map, std::uint64_t, n, threads>>(1, {cells.data()});
  EXPECT_EQ(cells, expected) << n << ", seed " << n;
  EXPECT_EQ(launcher.total().block_barriers, 2u * (std::bit_width(static_cast<unsigned>(n)) - 1) + 1);
}
TEST(LeeChoe, ScansTakeAnyOperationAndAnyPowerOfTwo) {
  scan_any_operation<PaddedBanks<>, 1, 1>();
  scan_any_operation<RotatedBanks<>, 2, 1>();
  scan_any_operation<PaddedBanks<>, 4, 64>();
  scan_any_operation<RotatedBanks<>, 64, 32>();
  scan_any_operation<PaddedBanks<>, 512, 32>();
  scan_any_operation<RotatedBanks<>, 1024, 128>();
}

// ---------------------------------------------------------------- integral histograms

/// Like the four algorithms, but with blocks of at most 64 threads: lines of several blocks that are not long.
constexpr int most = 64;
template <class T>
using SmallHarris = kernels::ScanTranspose<T, PaddedBanks<>, false, most>;
template <class T>
using SmallMultiple = kernels::ScanTranspose<T, PaddedBanks<>, true, most>;
template <class T>
using SmallShared = kernels::ScanTranspose<T, RotatedBanks<>, false, most>;
template <class T>
using SmallLeeChoe = kernels::ScanTranspose<T, RotatedBanks<>, true, most>;

template <class T, template <class> class Algorithm>
Ran run(const Asked& asked, const Options& options = {}) {
  return run<T>(kernels::PlainHistogram<Launcher, T, Algorithm>::kernels(), asked, options);
}

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The cost of a scan of lines if a block holds so many elements.
struct Cost {
  std::int64_t reads = 0, writes = 0, launches = 0, barriers = 0;
};
Cost cost_of_scan(std::int64_t lines, std::int64_t length, std::int64_t capacity) {
  const std::int64_t blocks = up(length, capacity), elements = lines * length;
  const auto levels =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::min(length, capacity)) * 2 - 1)) - 1;
  Cost cost{elements, elements, 1, 2 * levels + 1};
  if (blocks == 1) return cost;
  const Cost sums = cost_of_scan(lines, blocks, capacity);
  cost.reads += sums.reads + lines * blocks + elements, cost.writes += lines * blocks + sums.writes + elements;
  cost.launches += sums.launches + 1, cost.barriers += sums.barriers + 1;
  return cost;
}

/// Of one block and of several in either direction; single rows and columns; primes.
const std::vector<Asked>& sizes() {
  static const std::vector<Asked> all = {{1, 1, 1},   {1, 1, 5},   {1, 131, 2}, {131, 1, 2}, {2, 3, 32},
                                         {7, 13, 5},  {64, 64, 1}, {8, 128, 2}, {129, 9, 2}, {37, 41, 32},
                                         {5, 300, 1}, {257, 3, 1}, {3, 512, 1}, {513, 2, 1}, {1, 1100, 5}};
  return all;
}

template <template <class> class Algorithm>
void formulas(std::int64_t capacity) {
  for (const Asked& s : sizes()) {
    const std::int64_t n = s.height * s.width, all = n * s.bins;
    const Cost rows = cost_of_scan(s.bins * s.height, s.width, capacity);
    const Cost columns = cost_of_scan(s.bins * s.width, s.height, capacity);
    const Ran ran = run<std::uint32_t, Algorithm>(s);
    const Counts& c = ran.counts;
    EXPECT_EQ(c.reads.elements, static_cast<std::uint64_t>(2 * n + 2 * all + rows.reads + columns.reads)) << s.words();
    EXPECT_EQ(c.writes.elements, static_cast<std::uint64_t>(3 * all + rows.writes + columns.writes)) << s.words();
    EXPECT_EQ(c.launches, static_cast<std::uint64_t>(3 + rows.launches + columns.launches)) << s.words();
    EXPECT_EQ(c.deepest_barriers, static_cast<std::uint64_t>(2 + rows.barriers + columns.barriers)) << s.words();
    if (std::max(s.height, s.width) > capacity) continue;
    std::string kernels;
    for (const LaunchCounts& launch : ran.launches) kernels += launch.kernel + " ";
    EXPECT_EQ(kernels, "InitialiseTensor Prescan TransposePlanes Prescan TransposePlanes ") << s.words();
    EXPECT_EQ(ran.launches[1].blocks, s.bins * s.height);  // a line a block
    EXPECT_EQ(ran.launches[3].blocks, s.bins * s.width);
  }
}
TEST(LeeChoe, Harris) { formulas<SmallHarris>(2 * most); }
TEST(LeeChoe, HarrisWithTheNewMapping) { formulas<SmallShared>(2 * most); }
TEST(LeeChoe, SeveralPixelsAThread) { formulas<SmallMultiple>(8 * most); }
TEST(LeeChoe, SeveralPixelsAThreadWithTheNewMapping) { formulas<SmallLeeChoe>(8 * most); }

TEST(LeeChoe, SumsOfSoManyBlocksThatTheyAreOfSeveralBlocksThemselves) {
  const Asked asked{2, 2 * most * 2 * most + 700, 1};
  const Ran ran = run<std::uint32_t, SmallHarris>(asked);
  EXPECT_EQ(ran.by_kernel(), (std::map<std::string, std::int64_t>{
                                 {"InitialiseTensor", 1}, {"Prescan", 3 + 1}, {"AddSums", 2}, {"TransposePlanes", 2}}));
}

/// As in the paper: a line of DCI-4K has two blocks, or one with four pixels a thread. FHD shows no difference.
TEST(LeeChoe, LinesOfBigImages) {
  using kernels::Harris;
  using kernels::LeeChoe;
  for (const auto& [width, threads] : {std::pair{128, 64}, {129, 256}, {512, 256}, {640, 512}, {1920, 1024}}) {
    const Ran two = run<std::uint32_t, Harris>({1, width, 1}), several = run<std::uint32_t, LeeChoe>({1, width, 1});
    EXPECT_EQ(two.launches.size(), 5u) << width;
    EXPECT_EQ(two.launches[1].threads, threads) << width;
    EXPECT_EQ(several.launches.size(), 5u) << width;
    EXPECT_EQ(several.launches[1].threads, threads) << width;
    EXPECT_EQ(two.counts.deepest_barriers, several.counts.deepest_barriers) << width;
  }
  for (const auto& [width, levels] : {std::pair{2560, 12}, {4096, 12}, {7680, 13}}) {
    const Ran two = run<std::uint32_t, Harris>({1, width, 1});
    EXPECT_EQ(two.launches.size(), 7u) << width;
    EXPECT_EQ(two.launches[1].blocks, up(width, 2048)) << width;
    const Ran several = run<std::uint32_t, LeeChoe>({1, width, 1});
    EXPECT_EQ(several.launches.size(), 5u) << width;
    EXPECT_EQ(several.launches[1].blocks, 1) << width;
    EXPECT_EQ(several.launches[1].threads, 1024) << width;
    EXPECT_EQ(several.launches[1].counts.deepest_barriers, 2u * levels + 1) << width;
  }
  // More than fits 48 KiB: several blocks again.
  EXPECT_EQ((run<std::uint32_t, LeeChoe>({1, 8193, 1}).launches.size()), 7u);
  EXPECT_EQ((run<std::uint64_t, LeeChoe>({1, 4096, 1}).launches.size()), 5u);
  EXPECT_EQ((run<std::uint64_t, LeeChoe>({1, 4097, 1}).launches.size()), 7u);
  for (const std::size_t bytes :
       {sizeof(kernels::Prescan<kernels::NoMachine,
                                kernels::PrescanConfig<std::uint32_t, PaddedBanks<>, 1024, 8>>::Shared),
        sizeof(kernels::Prescan<kernels::NoMachine,
                                kernels::PrescanConfig<std::uint64_t, PaddedBanks<>, 1024, 4>>::Shared)})
    EXPECT_LE(bytes, 48u * 1024);
}

template <template <class> class Algorithm>
void every_counter_border_and_alignment() {
  for (const Border border : {Border::none, Border::zero, Border::exclusive})
    for (const Asked& s : {Asked{0, 0, 3}, Asked{0, 5, 2}, Asked{5, 0, 2}, Asked{1, 1, 2}, Asked{2, 2, 1},
                           Asked{35, 40, 2}, Asked{1, 600, 2}, Asked{600, 1, 2}}) {
      Asked asked = s;
      asked.border = border;
      run<std::uint16_t, Algorithm>(asked);
      run<std::uint32_t, Algorithm>(asked);
      run<std::uint64_t, Algorithm>(asked);
      asked.misalign = 3, asked.gap = 5;
      run<std::uint16_t, Algorithm>(asked);
      run<std::uint64_t, Algorithm>(asked);
    }
}
TEST(LeeChoe, EveryCounterBorderAndAlignment) {
  every_counter_border_and_alignment<SmallHarris>();
  every_counter_border_and_alignment<SmallMultiple>();
  every_counter_border_and_alignment<SmallShared>();
  every_counter_border_and_alignment<SmallLeeChoe>();
}

TEST(LeeChoe, CountersOf16BitsWrap) {
  run<std::uint16_t, SmallHarris>({260, 256, 1});
  run<std::uint16_t, SmallLeeChoe>({256, 260, 1});
}

TEST(LeeChoe, AnyScheduleGivesTheSameTensor) {
  std::uint64_t seed = 2;
  for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
    for (const int residents : {1, 3, 64}) {
      Options options;
      options.seed = seed++, options.residents = residents, options.start = start;
      const Asked asked{9, 300, 2, Border::none, 32, seed};
      run<std::uint32_t, SmallHarris>(asked, options);
      run<std::uint32_t, SmallMultiple>(asked, options);
      run<std::uint32_t, SmallShared>(asked, options);
      run<std::uint32_t, SmallLeeChoe>({5, 700, 1, Border::none, 32, seed}, options);
    }
}

TEST(LeeChoe, TheIdsAreTheirs) {
  using kernels::PaperTensors;
  using kernels::TypeGroup;
  // Launches for lines of 3000: of two blocks each, or of one.
  for (const auto& [id, launches] :
       {std::pair{"harris", 7u}, {"lee-choe-shared", 7u}, {"lee-choe-multiple", 5u}, {"lee-choe", 5u}}) {
    EXPECT_TRUE((PaperTensors::find<Launcher, TypeGroup::g32u>({id, Type::u16}).execute)) << id;
    EXPECT_TRUE((PaperTensors::find<Launcher, TypeGroup::g64u>({id, Type::u64}).execute)) << id;
    EXPECT_FALSE((PaperTensors::find<Launcher, TypeGroup::g64f>({id, Type::f64}).execute)) << id;
    const auto kernels = PaperTensors::find<Launcher, TypeGroup::g32u>({id, Type::u32});
    EXPECT_EQ((run<std::uint32_t>(kernels, {2, 3000, 2}).launches.size()), launches) << id;
  }
}

}  // namespace
}  // namespace areal::simt
