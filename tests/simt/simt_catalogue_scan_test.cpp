// What the catalogue says that sums of a line read, write and wait for is what the simulated machine counts, for every
// row of the family `scan`, on both sides of each length where its costs change.
#include <gtest/gtest.h>
#include <algorithm>
#include <areal/research/model.hpp>
#include <map>
#include <numeric>
#include <string>
#include "catalogue_remainders.hpp"
#include "kernels/primitives/line/banks.hpp"
#include "kernels/scan/plain.hpp"
#include "simt/launcher.hpp"

namespace areal::catalogue {
namespace {

constexpr TypePair words_of_4{Type::f32, Type::f32}, words_of_8{Type::u32, Type::u64};

struct Line {
  std::int64_t n;
  TypePair types = words_of_4;
  std::int64_t threads = 0, k = 0;
};

/// All reads and writes of the algorithm.
Accesses cost_of(std::string_view id, const Line& line, std::int64_t capacity) {
  const std::int64_t n = line.n;
  if (id == "naive") {
    // 2 (n - 2^t) and n - 2^t in step t. Several blocks copy what the step before finished: 1, 2, 2, 4, 8, ..
    Accesses all;
    std::int64_t steps = 0;
    for (std::int64_t far = 1; far < n; far *= 2, ++steps) all += {2 * (n - far), n - far};
    const std::int64_t copied = n > 256 ? 1 + (std::int64_t{1} << (steps - 1)) : 1;
    return all += {copied, copied};
  }
  if (id == "optimal") {
    Accesses all = cost_of_levels(n);
    return all += {1, 1};
  }
  if (id == "sequential-parallel") {
    Accesses all{n, n};  // the copy
    for (std::int64_t at = 0; at < n; at += line.k) {
      if (at > 0) all += {2, 1};
      all += cost_of_levels(std::min(line.k, n - at));
    }
    return all;
  }
  if (capacity > 0) {
    const std::int64_t each = n + cost_of_blocks(n, capacity);
    return {each, each};
  }
  return {n, n};  // one warp
}

/// The most that the row's formula may leave over: some of each level, of each group; the sums of blocks.
double most_left_over(std::string_view id, const Line& line, std::int64_t capacity) {
  const auto of_levels = [](std::int64_t n) { return 5 + 4 * std::log2(static_cast<double>(n)); };
  if (id == "naive") return 0;
  if (id == "optimal") return of_levels(line.n);
  if (id == "sequential-parallel") return static_cast<double>(up(line.n, line.k)) * of_levels(line.k);
  return capacity > 0 && line.n > capacity ? 2 * static_cast<double>(up(line.n, capacity)) : 0;
}

std::vector<Line> lines_of(std::string_view id) {
  std::vector<Line> lines;
  const auto add = [&lines](std::initializer_list<std::int64_t> lengths, const TypePair& types = words_of_4) {
    for (const std::int64_t n : lengths) lines.push_back({n, types});
  };
  add({1, 2, 3, 31, 32, 33, 1000, 1024, 1025});
  if (id == "naive") add({255, 256, 257, 511, 512, 513, 768}), add({256, 257}, words_of_8);
  if (id == "optimal")
    add({512, 513, 514, 1023, 1026, 1027, 1028, 2055, 2056, 4111, 4112, 4096}), add({513, 514}, words_of_8);
  if (id == "harris" || id == "lee-choe-shared")
    for (const TypePair& types : {words_of_4, words_of_8}) add({2047, 2048, 2049, 4096, 4097, 8193}, types);
  if (id == "lee-choe" || id == "lee-choe-multiple")
    add({2048, 2049, 4097, 8191, 8192, 8193, 16385}), add({2049, 4095, 4096, 4097, 8193}, words_of_8);
  if (id != "sequential-parallel") return lines;
  // The group divides the line or not, and leaves nothing, one element, less or more than a block sums at once; the
  // group has those edges, too, or is the line.
  lines.clear();
  for (const std::int64_t k : {512, 513, 514, 1024, 1027, 1028})
    for (const std::int64_t rest : {0, 1, 2, 300, 511})
      if (rest < k) lines.push_back({2 * k + rest, words_of_4, 256, k});
  for (const std::int64_t rest : {513, 514, 1027, 1028}) lines.push_back({2048 + rest, words_of_8, 512, 2048});
  for (const std::int64_t n : {1, 2, 7, 13})
    for (const std::int64_t k : {1, 2, 3}) lines.push_back({n, words_of_4, 0, k});
  lines.push_back({700, words_of_4, 0, 700});
  return lines;
}

AlgorithmRequest of(std::string_view id, const Line& line) {
  AlgorithmRequest request;
  request.family = "scan", request.algorithm = id, request.height = 1, request.width = line.n;
  request.types = line.types, request.threads = line.threads, request.group = line.k;
  return request;
}

class CatalogueOfScans : public testing::TestWithParam<const Algorithm*> {};

TEST_P(CatalogueOfScans, FormulasAreWhatIsCounted) {
  const std::string_view id = GetParam()->id;
  for (const Line& line : lines_of(id)) {
    SCOPED_TRACE("n " + std::to_string(line.n) + ", " + name_of(line.types) + ", k " + std::to_string(line.k));
    const AlgorithmModel model = algorithm_model(of(id, line));
    const Accesses cost = cost_of(id, line, std::llround(model.capacity));
    EXPECT_EQ(model.reads.counted, static_cast<double>(cost.reads));
    EXPECT_EQ(model.writes.counted, static_cast<double>(cost.writes));
    EXPECT_EQ(model.steps.difference(), 0);
    const double most = most_left_over(id, line, std::llround(model.capacity)) + 1e-6;
    EXPECT_LE(std::abs(model.reads.difference()), most);
    EXPECT_LE(std::abs(model.writes.difference()), most);
  }
}

std::vector<const Algorithm*> rows() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& row : algorithms())
    if (row.family == "scan") all.push_back(&row);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Rows, CatalogueOfScans, testing::ValuesIn(rows()), [](const auto& row) {
  std::string name(row.param->id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// The scan of a line by blocks of few threads, so that a line of C^2 elements is short.
template <class Map, bool several, int most>
void expect_levels(std::string_view id) {
  using Scan = kernels::SharedMemoryScan<Map, several, most>;
  const Algorithm& row = *find_algorithm("scan", id);
  constexpr std::int64_t capacity = kernels::BlockedPrescan<float, Map, several, most>::capacity;
  static_assert(capacity == 128);
  for (const std::int64_t n : {capacity, capacity + 1, capacity * capacity - 1, capacity * capacity,
                               capacity * capacity + 1, 2 * capacity * capacity}) {
    SCOPED_TRACE(std::string(id) + ", n " + std::to_string(n));
    std::vector<float> line(static_cast<std::size_t>(n), 1), sums(line.size()), expected(line.size());
    std::iota(expected.begin(), expected.end(), 1.F);
    const kernels::ScanRequest request{std::string(id), words_of_4, n};
    kernels::Workspace sizes(nullptr);
    Scan::template workspace<float>(request, sizes);
    std::vector<char> workspace(sizes.bytes());
    simt::Launcher launcher;
    launcher.add({"the line", line.data(), line.size() * 4, true, false});
    launcher.add({"the sums", sums.data(), sums.size() * 4, false});
    if (!workspace.empty()) launcher.add({"the workspace", workspace.data(), workspace.size(), false});
    kernels::Workspace from(workspace.data());
    Scan::template run<float, float>(launcher, request, {reinterpret_cast<char*>(line.data()), 0, true},
                                     {reinterpret_cast<char*>(sums.data()), 0, true}, from);
    EXPECT_EQ(sums, expected);
    CostNames names;
    names.n = static_cast<double>(n), names.C = capacity;
    const Counts counts = launcher.total();
    EXPECT_EQ(CostFormula::value(row.barrier_steps, names), static_cast<double>(counts.launches) - 1);
    const std::int64_t each = n + cost_of_blocks(n, capacity);
    EXPECT_EQ(counts.reads.elements, static_cast<std::uint64_t>(each));
    EXPECT_EQ(counts.writes.elements, static_cast<std::uint64_t>(each));
    const double blocks = std::ceil(names.n / capacity);
    EXPECT_LE(std::abs(static_cast<double>(each) - names.n * CostFormula::value(row.reads_per_element, names)),
              4 * blocks);
  }
}

TEST(CatalogueOfScans, SumsOfMoreBlocksThanABlockHolds) {
  expect_levels<kernels::PaddedBanks<>, false, 64>("harris");
  expect_levels<kernels::RotatedBanks<>, false, 64>("lee-choe-shared");
  expect_levels<kernels::PaddedBanks<>, true, 16>("lee-choe-multiple");
  expect_levels<kernels::RotatedBanks<>, true, 16>("lee-choe");
}

// The check can fail: each of these was in the catalogue once, and is off by its last number.
TEST(CatalogueOfScans, FormulasThatWereWrong) {
  struct Wrong {
    std::string_view id, text;
    Line line;
    double off;
  };
  for (const Wrong& wrong :
       {Wrong{"harris", "3", {2048}, -2}, Wrong{"lee-choe", "3", {8192}, -2}, Wrong{"naive", "log2(n) - 1", {256}, -7},
        Wrong{"optimal", "2 log2(n / 512)", {513}, -2}, Wrong{"optimal", "2 log2(n / 512)", {1027}, -2},
        Wrong{"sequential-parallel", "n / k (2 log2(k / 512) + 2) - 1", {1025, words_of_4, 0, 512}, 0.99609375}}) {
    SCOPED_TRACE(wrong.id);
    CostNames names;
    names.n = static_cast<double>(wrong.line.n), names.k = static_cast<double>(wrong.line.k);
    EXPECT_EQ(algorithm_model(of(wrong.id, wrong.line)).steps.counted - CostFormula::value(wrong.text, names),
              wrong.off);
  }
}

}  // namespace
}  // namespace areal::catalogue
