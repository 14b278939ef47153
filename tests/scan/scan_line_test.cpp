// Sums of a line where an execution says: on the CPU, and on the simulated machine. Sums by definition are the oracle.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <areal/research/scan.hpp>
#include <random>
#include <vector>

namespace areal {
namespace {

std::vector<std::int16_t> line_of(std::int64_t n) {
  std::mt19937_64 random(17);
  std::vector<std::int16_t> line(static_cast<std::size_t>(n));
  for (std::int16_t& element : line)
    element = static_cast<std::int16_t>(std::uniform_int_distribution<int>(-32768, 32767)(random));
  return line;
}

std::size_t wrong_sums(const std::vector<std::int16_t>& line, const std::vector<std::int64_t>& sums) {
  std::size_t wrong = sums.size() != line.size();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < line.size(); ++i) wrong += sums[i] != (sum += line[i]);
  return wrong;
}

std::vector<std::int64_t> sums_of(const std::vector<std::int16_t>& line, const ScanOptions& options,
                                  const Execution& execution) {
  std::vector<std::int64_t> sums(line.size(), 77);
  const auto n = static_cast<std::int64_t>(line.size());
  scan_line(ConstView(line.data(), n, 1), View(sums.data(), n, 1), options, execution);
  return sums;
}

bool has_simt() {
  try {
    ScanPlan(1, {Type::s16, Type::s64}, {}, {.backend = Backend::simt});
  } catch (const Unavailable&) {
    return false;
  }
  return true;
}

TEST(ScanLine, AChangedSumIsCaught) {
  const auto line = line_of(9);
  auto sums = sums_of(line, {.algorithm = "serial"}, {.backend = Backend::cpu});
  ASSERT_EQ(wrong_sums(line, sums), 0u);
  ++sums[4];
  EXPECT_EQ(wrong_sums(line, sums), 1u);
}

TEST(ScanLine, OnTheCpu) {
  for (const std::int64_t n : {0, 1, 2, 1000, 100'003}) {
    const auto line = line_of(n);
    for (const Backend backend : {Backend::cpu, Backend::automatic})
      EXPECT_EQ(wrong_sums(line, sums_of(line, {.algorithm = "serial"}, {.backend = backend})), 0u)
          << n << " elements, seed 17";
  }
}

TEST(ScanLine, OnTheSimulatedMachine) {
  if (!has_simt()) GTEST_SKIP() << "this build has no simulated machine";
  for (const std::int64_t n : {1, 33, 3000})
    for (const char* algorithm : {"optimal", "kogge-stone", "sequential-parallel"}) {
      const auto line = line_of(n);
      EXPECT_EQ(wrong_sums(line, sums_of(line, {.algorithm = algorithm}, {.backend = Backend::simt})), 0u)
          << algorithm << ", " << n << " elements, seed 17";
    }
}

TEST(ScanLine, SaysWhatCannotBe) {
  const auto line = line_of(5);
  const Execution cpu{.backend = Backend::cpu};
  EXPECT_THROW(sums_of(line, {.algorithm = "optimal"}, cpu), InvalidArgument);
  EXPECT_THROW(sums_of(line, {.algorithm = "serial", .threads = 2}, cpu), InvalidArgument);
  EXPECT_THROW(sums_of(line, {.algorithm = "serial", .on_launch = [](const LaunchCounts&) {}}, cpu), InvalidArgument);
  EXPECT_THROW(sums_of(line, {.algorithm = "serial"}, {.backend = Backend::simt}), InvalidArgument);
  std::vector<std::int64_t> few(4), same(5);
  const ConstView five(line.data(), 5, 1);
  const ScanOptions serial{.algorithm = "serial"};
  EXPECT_THROW(scan_line(five, View(few.data(), 4, 1), serial, cpu), InvalidArgument);
  EXPECT_THROW(scan_line(ConstView(same.data(), Type::s32, {5, 1}), View(same.data(), 5, 1), serial, cpu),
               InvalidArgument);
  EXPECT_THROW(scan_line(five, View(reinterpret_cast<float*>(same.data()), 5, 1), serial, cpu), InvalidArgument);
}

}  // namespace
}  // namespace areal
