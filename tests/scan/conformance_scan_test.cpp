// Sums of a line on the device backends: every pair of (backend, row of the catalogue, type pair, length, placement,
// threads and groups). Tests of cuda are skipped without a GPU.
#include <gtest/gtest.h>
#include <areal/catalog.hpp>
#include <areal/research/scan.hpp>
#include <span>
#include "conformance/backends.hpp"
#include "conformance/pairwise.hpp"
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

constexpr Backend device_backends[] = {Backend::cuda, Backend::simt};
const Execution on_simt{.backend = Backend::simt};
/// Near a warp, a block of 256, one line of a block, a block of Harris' and of the new mapping; several of each.
constexpr std::int64_t lengths[] = {0,   1,   2,    3,    31,   33,   64,   255,  256,   257,
                                    513, 514, 1024, 1100, 2048, 2049, 4099, 8193, 16400, 20000};
struct Tuning {
  std::int64_t threads, group;
};
constexpr Tuning tunings[] = {{0, 0}, {512, 0}, {1, 1000}, {0, 700}, {300, 4096}};

std::vector<std::string> scan_ids() {
  std::vector<std::string> ids;
  for (const Algorithm& row : algorithms())
    if (row.family == "scan" && row.cuda && row.simt) ids.emplace_back(row.id);
  return ids;
}

struct ScanCase {
  std::int64_t n = 0;
  TypePair types;
  ScanOptions options;
  Backend backend = Backend::simt;
  Placement in = placements[0], out = placements[0];
  std::uint64_t seed = 1;
};

std::string describe(const ScanCase& c) {
  return std::string(name_of(c.backend)) + ", algorithm " + c.options.algorithm + ", types " + name_of(c.types) + ", " +
         std::to_string(c.n) + " elements, in " + c.in.name + ", out " + c.out.name + ", threads " +
         std::to_string(c.options.threads) + ", group " + std::to_string(c.options.group) + ", seed " +
         std::to_string(c.seed);
}

const std::vector<std::string>& ids() {
  static const std::vector<std::string> all = scan_ids();
  return all;
}

/// Of the first row, as of every one.
std::span<const TypePair> pairs() { return type_pairs_of(*find_algorithm("scan", ids().front())); }

ScanCase case_of(const Choice& choice) {
  ScanCase c;
  c.backend = device_backends[choice[0]];
  c.options.algorithm = ids()[choice[1]];
  c.types = pairs()[choice[2]];
  c.n = lengths[choice[3]];
  c.in = placements[choice[4]];
  c.out = placements[(choice[4] + choice[3]) % std::size(placements)];
  c.options.threads = tunings[choice[5]].threads;
  c.options.group = tunings[choice[5]].group;
  c.seed = base_seed();
  for (const std::size_t value : choice) c.seed = c.seed * 31 + value;
  return c;
}

void execute(const ScanPlan& plan, Buffer& line, Buffer& sums, GuardedWorkspace& workspace) {
  Workspace& ready = workspace.prepare(plan);
  if (plan.backend() != Backend::cuda) return plan.execute(line.view(), sums.view(), ready);
  const Stream stream = workspace.stream();
  Mirror in(line.bytes(), stream), out(sums.bytes(), stream);
  plan.execute(in.twin(line.view()), out.twin(sums.view()), ready);
  for (Mirror* mirror : {&in, &out}) mirror->back();
  ready.wait();
}

/// Empty if the contract is kept, else the first fault: of one line, of another on the same workspace, and of the first
/// on a workspace with other bytes. `broken` is called with the sums of each: the proof that this can fail.
std::string fault_of(const ScanCase& c, const std::function<void(const View&)>& broken = {}) {
  try {
    const ScanPlan plan(c.n, c.types, c.options, {.backend = c.backend});
    const Shape shape{c.n, 1};
    std::vector<std::uint8_t> first;
    GuardedWorkspace used(plan.workspace_bytes(), 0xA5), fresh(plan.workspace_bytes(), 0xFF);
    for (const int turn : {0, 1, 2}) {
      GuardedWorkspace& workspace = turn < 2 ? used : fresh;
      const Values values =
          random_image(c.types.input, shape, turn == 1 ? Fill::exact : Fill::wild, turn == 1 ? ~c.seed : c.seed);
      Buffer line(values, c.in), sums(c.types.table, shape, c.out, Guard::output);
      sums.poison(static_cast<std::uint8_t>(0x5C + turn));
      execute(plan, line, sums, workspace);
      if (broken && c.n > 0) broken(sums.view());
      std::string fault = difference(sums_of(terms_of(values, false, nullptr), c.types.table, Border::none, false),
                                     values_of(sums.view()));
      if (fault.empty()) fault = sums.broken_guard();
      if (fault.empty()) fault = workspace.broken_guard();
      if (fault.empty() && line.changed()) fault = "the line was changed";
      if (turn == 0) first = sums.bytes();
      if (fault.empty() && turn == 2 && first != sums.bytes()) fault = "other bits than on another workspace";
      if (!fault.empty()) return "turn " + std::to_string(turn) + ": " + fault;
    }
    return {};
  } catch (const Error& error) {
    return std::string("threw: ") + error.what();
  }
}

TEST(Scan, TheSuiteCanFail) {
  if (missing(Backend::simt)) GTEST_SKIP() << "simt is not here";
  ScanCase c;
  c.n = 300, c.types = type_pair("8u32u"), c.backend = Backend::simt;
  EXPECT_EQ(fault_of(c), "");
  for (const std::int64_t at : {0, 150, 299})
    EXPECT_NE(fault_of(c, [&](const View& sums) { static_cast<std::uint32_t*>(sums.data)[at] ^= 1; }), "") << at;
}

std::string name_of_choice(const testing::TestParamInfo<Choice>& info) {
  const ScanCase c = case_of(info.param);
  std::string name = std::string(name_of(c.backend)) + "_" + c.options.algorithm + "_" + name_of(c.types) + "_" +
                     std::to_string(c.n) + "_" + std::to_string(info.index);
  return without_dashes(name);
}

class ScanProduct : public testing::TestWithParam<Choice> {};
TEST_P(ScanProduct, KeepsTheContract) {
  const ScanCase c = case_of(GetParam());
  if (missing(c.backend)) GTEST_SKIP() << name_of(c.backend) << " is not here";
  EXPECT_EQ(fault_of(c), "") << describe(c);
}
INSTANTIATE_TEST_SUITE_P(Scan, ScanProduct,
                         testing::ValuesIn(covering_array({std::size(device_backends), ids().size(), pairs().size(),
                                                           std::size(lengths), std::size(placements),
                                                           std::size(tunings)})),
                         name_of_choice);

/// Every row on few elements, so that compute-sanitizer's tools can follow each access: what a block holds, and several
/// blocks of an even and of an odd number. The type pair changes with the row.
std::vector<Choice> few() {
  std::vector<Choice> choices;
  const auto place = [](std::int64_t n) {
    return static_cast<std::size_t>(std::find(std::begin(lengths), std::end(lengths), n) - std::begin(lengths));
  };
  for (std::size_t backend = 0; backend < std::size(device_backends); ++backend)
    for (std::size_t id = 0; id < ids().size(); ++id)
      for (const std::int64_t n : {256, 8193, 16400})
        choices.push_back({backend, id, (3 * id + place(n)) % pairs().size(), place(n), id % std::size(placements),
                           id % std::size(tunings)});
  return choices;
}
INSTANTIATE_TEST_SUITE_P(Sanitize, ScanProduct, testing::ValuesIn(few()), name_of_choice);

/// simt's counts for `n` elements.
Counts counts_of(const std::string& id, std::int64_t n) {
  Counts all;
  ScanOptions options;
  options.algorithm = id;
  options.on_launch = [&](const LaunchCounts& launch) { all += launch.counts; };
  const ScanPlan plan(n, type_pair("32u32u"), options, on_simt);
  std::vector<std::uint32_t> line(static_cast<std::size_t>(n), 1), sums(line.size());
  Workspace workspace(plan);
  plan.execute({line.data(), n, 1}, {sums.data(), n, 1}, workspace);
  return all;
}
TEST(Scan, CostsAreTheCatalogues) {
  if (missing(Backend::simt)) GTEST_SKIP() << "simt is not here";
  const struct {
    const char* id;
    double reads, writes;
    std::uint64_t launches;
  } rows[] = {{"naive", 2 * 14 - 1.5, 14 - 0.5, 14},
              {"optimal", 4, 3, 11},
              {"sequential-parallel", 5, 4, 12},
              {"harris", 3, 3, 4},
              {"lee-choe-multiple", 3, 3, 4},
              {"lee-choe-shared", 3, 3, 4},
              {"lee-choe", 3, 3, 4},
              {"kogge-stone", 1, 1, 1},
              {"ladner-fischer", 1, 1, 1}};
  constexpr std::int64_t n = 16384;
  EXPECT_EQ(std::size(rows), ids().size());
  for (const auto& row : rows) {
    const Counts c = counts_of(row.id, n);
    EXPECT_NEAR(static_cast<double>(c.reads.elements) / n, row.reads, 0.002) << row.id;
    EXPECT_NEAR(static_cast<double>(c.writes.elements) / n, row.writes, 0.002) << row.id;
    EXPECT_EQ(c.launches, row.launches) << row.id;
  }
}

/// Each of the two changes of Lee and Choe 2014 alone, and both: 2048 or 8192 elements of a block, so that its sums are
/// scanned in launches of their own or are not; and a block's memory with cells left empty or without.
TEST(Scan, TheHalvesOfLeeChoeAreNotOneAnother) {
  if (missing(Backend::simt)) GTEST_SKIP() << "simt is not here";
  const struct {
    const char* id;
    std::size_t launches, cells;
  } rows[] = {{"harris", 4, 2048 + 2047 / 32},
              {"lee-choe-multiple", 2, 8192 + 8191 / 32},
              {"lee-choe-shared", 4, 2048},
              {"lee-choe", 2, 8192}};
  for (const auto& row : rows) {
    std::size_t launches = 0, most = 0;
    ScanOptions options;
    options.algorithm = row.id;
    options.on_launch = [&](const LaunchCounts& launch) { ++launches, most = std::max(most, launch.shared_bytes); };
    constexpr std::int64_t n = 5000;
    const ScanPlan plan(n, type_pair("32u32u"), options, on_simt);
    std::vector<std::uint32_t> line(n, 1), sums(n);
    Workspace workspace(plan);
    plan.execute({line.data(), n, 1}, {sums.data(), n, 1}, workspace);
    EXPECT_EQ(launches, row.launches) << row.id;
    EXPECT_EQ(most, (row.cells + 1) * sizeof(std::uint32_t)) << row.id;  // and the whole sum
  }
}

TEST(Scan, WrongUseIsNamed) {
  const TypePair types = type_pair("8u32u");
  ScanOptions options;
  EXPECT_THROW(ScanPlan(-1, types, options, on_simt), InvalidArgument);
  EXPECT_THROW(ScanPlan(9, {Type::f64, Type::u32}, options, on_simt), InvalidArgument);
  options.algorithm = "lookback";
  EXPECT_THROW(ScanPlan(9, types, options, on_simt), InvalidArgument);
  options.algorithm = "optimal", options.threads = -1;
  EXPECT_THROW(ScanPlan(9, types, options, on_simt), InvalidArgument);
  options.threads = 0, options.group = -1;
  EXPECT_THROW(ScanPlan(9, types, options, on_simt), InvalidArgument);
  options.group = 0;
  EXPECT_THROW(ScanPlan(9, types, options, {.backend = Backend::cpu}), InvalidArgument);
  if (missing(Backend::simt)) return;
  const ScanPlan plan(9, types, options, on_simt);
  std::vector<std::uint8_t> line(9);
  std::vector<std::uint32_t> sums(9);
  Workspace workspace(plan);
  EXPECT_THROW(plan.execute({line.data(), 8, 1}, {sums.data(), 9, 1}, workspace), InvalidArgument);
  const ScanPlan other(9, types, options, on_simt);
  EXPECT_THROW(other.execute({line.data(), 9, 1}, {sums.data(), 9, 1}, workspace), InvalidArgument);
  EXPECT_THROW(plan.execute(ConstView(sums.data(), Type::u8, {9, 1}), {sums.data(), 9, 1}, workspace), InvalidArgument);
}

}  // namespace
}  // namespace areal::conformance
