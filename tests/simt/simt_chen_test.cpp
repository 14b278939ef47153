// The algorithms of Chen 2018 on the simulated machine: reads, writes, launches, barriers and shuffles equal the
// paper's formulas, for every size, schedule and warp scan; and the warp scans make the additions that it counts.
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include "kernels/sat/registry.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {
namespace {

using kernels::Plain;

struct Size {
  std::int64_t h, w;
};
/// One; whole matrices; partial ones; more than a block processes at a time, across and down.
constexpr Size sizes[] = {{1, 1}, {64, 64}, {33, 97}, {130, 131}, {3, 1100}, {1100, 3}, {35, 2100}};

std::string words(const Size& s) { return std::to_string(s.h) + "x" + std::to_string(s.w); }
std::int64_t parts(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }

/// The counts of a run on random pixels with a correct table, border none. The workspace is new.
template <class Algorithm, class In, class T>
Counts run(const Size& s, const Options& options = {}, WarpScan scan = WarpScan::kogge_stone) {
  constexpr unsigned seed = 11;
  std::mt19937 random(seed);
  std::vector<In> image(static_cast<std::size_t>(s.h * s.w));
  for (In& pixel : image) pixel = static_cast<In>(random() % 100);
  std::vector<T> table(image.size());
  kernels::TableRequest request{
      "", kernels::TableKind::pixels, {type_of<In>, type_of<T>}, {s.w, s.h}, Border::none, {}, 0.25, scan};
  std::vector<char> workspace(Algorithm::template workspace_bytes<T>(request));
  const auto of = [&]<class E>(std::vector<E>& elements) {
    return kernels::Matrix{reinterpret_cast<char*>(elements.data()), s.w * static_cast<std::int64_t>(sizeof(E)), true};
  };
  const Plain plain{of(image), of(table), s.w, s.h};
  Launcher launcher(options);
  launcher.add({"the image", image.data(), image.size() * sizeof(In), true, false});
  launcher.add({"the table", table.data(), table.size() * sizeof(T), false});
  if (!workspace.empty()) launcher.add({"the workspace", workspace.data(), workspace.size(), false});
  Algorithm::template sums<In, T>(launcher, request, plain, workspace.data());

  std::vector<T> expected(image.begin(), image.end());  // floats, too, are exact here
  const auto width = static_cast<std::size_t>(s.w);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (i % width > 0) expected[i] += expected[i - 1];
  for (std::size_t i = width; i < expected.size(); ++i) expected[i] += expected[i - width];
  EXPECT_EQ(table, expected) << words(s) << ", " << name_of(scan) << ", seeds " << seed << " and " << options.seed;
  return launcher.total();
}

/// The costs of the paper's kernels.
struct Cost {
  std::int64_t shared = 0;  ///< elements written, and read, in shared memory
  std::int64_t shuffles = 0, warp_barriers = 0, barriers = 0, deepest = 0;
};

void expect_cost(const Counts& c, const Size& s, const Cost& cost, const std::string& what) {
  const auto is = [&](std::uint64_t counted, std::int64_t expected, const char* name) {
    EXPECT_EQ(counted, static_cast<std::uint64_t>(expected)) << name << ", " << what << ", " << words(s);
  };
  is(c.launches, 2, "launches");
  is(c.reads.elements, 2 * s.h * s.w, "reads");
  is(c.writes.elements, 2 * s.h * s.w, "writes");
  is(c.reads.strided, 0, "strided reads");
  is(c.writes.strided, 0, "strided writes");
  is(c.shared_writes.elements, cost.shared, "shared writes");
  is(c.shared_reads.elements, cost.shared, "shared reads");
  is(c.shared_writes.conflicts, 0, "conflicts of writes");
  is(c.shared_reads.conflicts, 0, "conflicts of reads");
  is(c.shuffles, cost.shuffles, "shuffles");
  is(c.warp_barriers, cost.warp_barriers, "barriers of warps");
  is(c.block_barriers, cost.barriers, "barriers of blocks");
  is(c.deepest_barriers, cost.deepest, "barriers one after another");
}

/// Both transposing algorithms; `scanned`: shuffles of 32 x 32 elements.
template <class T>
Cost cost_of_brlt(const Size& s, std::int64_t scanned) {
  constexpr std::int64_t threads = sizeof(T) == 8 ? 512 : 1024, at_a_time = 32 / sizeof(T);
  const std::int64_t matrices = 2 * parts(s.h, 32) * parts(s.w, 32), barriers = threads / 32 / at_a_time + 2;
  Cost cost;
  cost.shared = matrices * (1024 + 64);
  cost.shuffles = matrices * scanned;
  cost.warp_barriers = matrices;
  cost.barriers = barriers * (parts(s.h, 32) * parts(s.w, threads) + parts(s.w, 32) * parts(s.h, threads));
  cost.deepest = barriers * (parts(s.w, threads) + parts(s.h, threads));
  return cost;
}
Cost cost_of_scanrow_column(const Size& s) {
  Cost cost;
  cost.shared = parts(s.h, 32) * parts(s.w, 32) * 64;
  cost.shuffles = s.h * parts(s.w, 1024) * (160 + 32);
  cost.barriers = parts(s.w, 32) * parts(s.h, 1024) * 2;
  cost.deepest = parts(s.h, 1024) * 2;
  return cost;
}

template <class In, class T>
void all_cost_what_they_say(WarpScan scan) {
  const std::string types = name_of(TypePair{type_of<In>, type_of<T>});
  for (const Size& s : sizes) {
    expect_cost(run<kernels::BrltScanRowTwice, In, T>(s), s, cost_of_brlt<T>(s, 0), "brlt-scanrow " + types);
    expect_cost(run<kernels::ScanRowBrltTwice, In, T>(s, {}, scan), s, cost_of_brlt<T>(s, 160),
                "scanrow-brlt " + types);
    expect_cost(run<kernels::ScanRowColumn, In, T>(s, {}, scan), s, cost_of_scanrow_column(s),
                "scanrow-column " + types);
  }
}
TEST(Chen, CostsOfSumsOf4Bytes) { all_cost_what_they_say<std::uint8_t, std::uint32_t>(WarpScan::kogge_stone); }
TEST(Chen, CostsOfSumsOf8Bytes) { all_cost_what_they_say<std::uint16_t, std::uint64_t>(WarpScan::ladner_fischer); }

TEST(Chen, BlocksAreThePapers) {
  using Machine = kernels::NoMachine;
  using Four = kernels::ScanConfig<std::uint8_t, float, WarpScan::kogge_stone>;
  using Eight = kernels::ScanConfig<std::uint8_t, double, WarpScan::kogge_stone>;
  EXPECT_EQ((kernels::ScanRowBrlt<Machine, Four>::threads), 1024);
  EXPECT_EQ((kernels::ScanRowBrlt<Machine, Eight>::threads), 512);
  EXPECT_EQ((kernels::BrltScanRow<Machine, Four>::threads), 1024);
  EXPECT_EQ((kernels::BrltScanRow<Machine, Eight>::threads), 512);
  EXPECT_EQ((kernels::ScanRow<Machine, Four>::threads), 1024);
  EXPECT_EQ((kernels::ScanRow<Machine, Eight>::threads), 512);
  EXPECT_EQ((kernels::ScanColumn<Machine, Four>::threads), 1024);
  EXPECT_EQ((kernels::ScanColumn<Machine, Eight>::threads), 1024);
  EXPECT_EQ(kernels::TransposeBuffers<std::uint32_t>::count, 8);
  EXPECT_EQ(kernels::TransposeBuffers<double>::count, 4);
}

TEST(Chen, AnyScheduleGivesTheSameTable) {
  std::uint64_t seed = 2;
  for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random}) {
    Options options;
    options.seed = seed, options.residents = seed % 2 == 0 ? 1 : 3, options.start = start;
    ++seed;
    run<kernels::BrltScanRowTwice, std::uint16_t, std::uint64_t>({70, 580}, options);
    run<kernels::ScanRowBrltTwice, float, float>({34, 1090}, options, WarpScan::ladner_fischer);
    run<kernels::ScanRowColumn, double, double>({1060, 33}, options);
  }
}

// ---------------------------------------------------------------- V-B: additions of scans of 32 x 32 registers

std::int64_t additions, ands;  // the simulated machine runs a launch on one thread

/// Counts its additions.
struct Term {
  std::uint32_t value;
  Term& operator+=(Term other) {
    ++additions;
    value += other.value;
    return *this;
  }
};
/// Counts its ands.
struct LaneNumber {
  int value;
  int operator&(int bits) const {
    ++ands;
    return value & bits;
  }
  int operator|(int bits) const { return value | bits; }
  bool operator>=(int n) const { return value >= n; }
};
struct CountingMachine : Machine {
  explicit CountingMachine(const Machine& m) : Machine(m) {}
  LaneNumber lane() const { return {Machine::lane()}; }
};

enum class Scan { kogge_stone, ladner_fischer, serial };
template <Scan scan_>
struct Scanned {
  static constexpr Scan scan = scan_;
};

/// A warp scans what it holds: 32 rows, or 32 columns by the serial scan.
template <class M, class C>
struct ScanMatrix {
  struct Args {
    const std::uint32_t* in;
    std::uint32_t* out;
  };
  using Shared = kernels::NoShared;
  static constexpr int threads = 32;
  M m;
  Args a;

  void operator()() {
    const CountingMachine counting(m);
    Term data[32];
    for (int j = 0; j < 32; ++j) data[j].value = m.load(a.in + 32 * j + m.lane());
    if constexpr (C::scan == Scan::serial) {
      kernels::serial_scan(data);
    } else {
      for (Term& row : data)
        row = C::scan == Scan::kogge_stone ? kernels::inclusive_scan<WarpScan::kogge_stone>(counting, row)
                                           : kernels::inclusive_scan<WarpScan::ladner_fischer>(counting, row);
    }
    for (int j = 0; j < 32; ++j) m.store(a.out + 32 * j + m.lane(), data[j].value);
  }
};

template <Scan scan>
std::uint64_t scan_matrix() {
  constexpr unsigned seed = 5;
  std::mt19937 random(seed);
  std::vector<std::uint32_t> in(1024), out(1024), expected(1024);
  for (std::uint32_t& element : in) element = static_cast<std::uint32_t>(random());
  for (std::size_t i = 0; i < 1024; ++i) {
    const std::size_t before = scan == Scan::serial ? 32 : 1;
    const bool first = scan == Scan::serial ? i < 32 : i % 32 == 0;
    expected[i] = in[i] + (first ? 0 : expected[i - before]);
  }
  Launcher launcher;
  launcher.add({"in", in.data(), 4096, true, false});
  launcher.add({"out", out.data(), 4096, false});
  additions = ands = 0;
  launcher.launch<ScanMatrix, Scanned<scan>>(1, {in.data(), out.data()});
  EXPECT_EQ(out, expected) << "seed " << seed;
  return launcher.total().shuffles;
}

TEST(Chen, KoggeStone) {
  EXPECT_EQ(scan_matrix<Scan::kogge_stone>(), 160u);
  EXPECT_EQ(additions, 4128);
  EXPECT_EQ(ands, 0);
}
TEST(Chen, LadnerFischer) {
  EXPECT_EQ(scan_matrix<Scan::ladner_fischer>(), 160u);
  EXPECT_EQ(additions, 2560);
  EXPECT_EQ(ands, 5120);
}
TEST(Chen, Serial) {
  EXPECT_EQ(scan_matrix<Scan::serial>(), 0u);
  EXPECT_EQ(additions, 992);
}

}  // namespace
}  // namespace areal::simt
