// areal scan: the sums of a line on every backend, and refused requests.
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include "command_runner.hpp"

namespace areal::test {
namespace {

class CommandScan : public CommandTest {
 protected:
  void check(const std::vector<std::string>& words, int code, const std::string& sentence) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
};

template <class T, class In>
std::vector<T> sums_of(const std::vector<In>& line) {
  std::vector<T> sums;
  T sum = 0;
  for (const In value : line) sums.push_back(sum = static_cast<T>(sum + value));
  return sums;
}
std::vector<std::uint8_t> bytes(std::size_t n, std::uint64_t seed = 5) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> line(n);
  for (std::uint8_t& value : line) value = static_cast<std::uint8_t>(random());
  return line;
}

TEST_F(CommandScan, TheCpusSumsAreALinesOfOneDimension) {
  for (const std::size_t n : {0u, 1u, 1000u}) {
    SCOPED_TRACE(n);
    const auto line = bytes(n);
    write_file(work / "line.npy", npy("|u1", std::to_string(n) + ",", line));
    EXPECT_EQ(answer({"scan", "line.npy", "--backend", "cpu", "-o", "sums.npy"}), "");
    EXPECT_EQ(contents(work / "sums.npy"), npy("<u4", std::to_string(n) + ",", sums_of<std::uint32_t>(line)));
  }
  // A flipped element is seen.
  auto line = bytes(1000);
  const auto sums = npy("<u4", "1000,", sums_of<std::uint32_t>(line));
  line[500] ^= 1;
  write_file(work / "line.npy", npy("|u1", "1000,", line));
  answer({"scan", "line.npy", "--backend", "cpu", "-o", "sums.npy"});
  EXPECT_NE(contents(work / "sums.npy"), sums);
}

TEST_F(CommandScan, FloatsAreAddedOneAfterAnother) {
  const std::vector<float> line{1e8f, 1, -1e8f, 0.1f};
  write_file(work / "line.npy", npy("<f4", "4,", line));
  answer({"scan", "line.npy", "--algorithm", "serial", "--types", "32f32f", "-o", "sums.npy"});
  EXPECT_EQ(contents(work / "sums.npy"), npy("<f4", "4,", sums_of<float>(line)));
  answer({"scan", "line.npy", "--backend", "cpu", "-o", "sums.npy"});  // 32f64f
  EXPECT_EQ(contents(work / "sums.npy"), npy("<f8", "4,", sums_of<double>(line)));
}

TEST_F(CommandScan, RawFilesPipesAndWideTypes) {
  const auto line = bytes(300);
  write_file(work / "raw", std::string(line.begin(), line.end()));
  const std::string want = npy("<i8", "300,", sums_of<std::int64_t>(line));
  answer({"scan", "raw", "--raw", "300x8u", "--types", "16s64s", "-o", "sums.npy"});  // widened
  EXPECT_EQ(contents(work / "sums.npy"), want);
  answer({"scan", "-", "--types", "16s64s", "-o", "piped.npy"}, npy("|u1", "300,", line));
  EXPECT_EQ(contents(work / "piped.npy"), want);
}

TEST_F(CommandScan, TheSummaryIsTheWholeSum) {
  const auto line = bytes(1000);
  write_file(work / "line.npy", npy("|u1", "1000,", line));
  const auto sum = sums_of<std::uint32_t>(line).back();
  const auto json = nlohmann::json::parse(answer({"scan", "line.npy", "--backend", "cpu", "--json"}));
  EXPECT_EQ(json["sum"], sum);
  EXPECT_EQ(json["n"], 1000);
  EXPECT_EQ(json["lane"], "8u32u");
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_EQ(json["algorithm"], "serial");
  EXPECT_NE(answer({"scan", "line.npy"}).find("sum " + std::to_string(sum)), std::string::npos);
  if (devices().empty()) {
    EXPECT_EQ(nlohmann::json::parse(answer({"scan", "line.npy", "--json"}))["backend"], "cpu");
  }
}

TEST_F(CommandScan, EveryAlgorithmGivesTheCpusSums) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine in this build";
  const auto line = bytes(3000);
  write_file(work / "line.npy", npy("|u1", "3000,", line));
  const std::string want = npy("<u4", "3000,", sums_of<std::uint32_t>(line));
  for (const Algorithm& row : algorithms()) {
    if (row.family != "scan") continue;
    const std::string id(row.id);
    SCOPED_TRACE(id);
    const std::string out =
        answer({"scan", "line.npy", "--backend", "simt", "--algorithm", id, "-o", id + ".npy", "--count", "--json"});
    EXPECT_EQ(contents(work / (id + ".npy")), want);
    EXPECT_FALSE(nlohmann::json::parse(out)["launches"].empty());
  }
  answer({"scan", "line.npy", "--backend", "simt", "--algorithm", "sequential-parallel", "--threads", "512", "--k",
          "4096", "-o", "p.npy"});
  EXPECT_EQ(contents(work / "p.npy"), want);
  const auto json = nlohmann::json::parse(answer({"scan", "line.npy", "--backend", "simt", "--json"}));
  EXPECT_EQ(json["algorithm"], "optimal");
}

TEST_F(CommandScan, WithoutAGpuAPapersAlgorithmRunsOnTheSimulatedMachine) {
  if (!has_simt() || !devices().empty()) GTEST_SKIP();
  write_file(work / "line.npy", npy("|u1", "5,", bytes(5)));
  const Outcome outcome = run({"scan", "line.npy", "--algorithm", "harris", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["backend"], "simt");
  EXPECT_NE(outcome.err.find("areal: note: there is no GPU: harris runs on the simulated machine"), std::string::npos);
}

TEST_F(CommandScan, WhatCannotBeIsRefused) {
  write_file(work / "line.npy", npy("|u1", "5,", bytes(5)));
  write_file(work / "flat.npy", npy("|u1", "1, 5", bytes(5)));
  write_file(work / "wide.npy", npy("<i8", "1,", std::vector<std::int64_t>{7}));
  write_file(work / "f.npy", npy("<f4", "1,", std::vector<float>{7}));
  check({"scan"}, 2, "INPUT is required");
  check({"scan", "none.npy"}, 1, "none.npy");
  check({"scan", "flat.npy"}, 1, "flat.npy: holds an array of 2 dimensions; a line has 1");
  check({"scan", "f.npy", "--types", "8u32u"}, 2,
        "--types 8u32u: cannot hold the 32f elements of f.npy; it may be 32f");
  check({"scan", "line.npy", "--types", "8u16u"}, 2, "--types 8u16u: may be 8u32u");
  check({"scan", "line.npy", "--raw", "5"}, 2, "--raw 5: may be NxTYPE");
  check({"scan", "line.npy", "--raw", "-5x8u"}, 2, "may not be less than 0");
  check({"scan", "line.npy", "--raw", "5x8u"}, 1, "line.npy: has");
  check({"scan", "-"}, 1, "standard input: holds no .npy array");
  check({"scan", "line.npy", "--algorithm", "lookback"}, 2, "--algorithm lookback: may be serial, naive");
  check({"scan", "line.npy", "--algorithm", "harris", "--backend", "cpu"}, 2, "backend cpu has only serial");
  check({"scan", "line.npy", "--backend", "cpu", "--threads", "64"}, 2, "--threads 64: of areal scan it is for naive");
  check({"scan", "line.npy", "--backend", "cpu", "--k", "64"}, 2,
        "--k 64: of areal scan it is for sequential-parallel, and this is serial");
  check({"scan", "line.npy", "--count"}, 2, "does not count");
  if (!has_simt()) return;
  check({"scan", "wide.npy", "--backend", "simt"}, 2, "types 64s64s: a scan does not sum 64s elements in 64s");
  check({"scan", "line.npy", "--algorithm", "serial", "--backend", "simt"}, 2,
        "--algorithm serial: only backend cpu has it");
  check({"scan", "line.npy", "--algorithm", "naive", "--threads", "-1", "--backend", "simt"}, 2,
        "--threads -1: may not be less than 0");
}

}  // namespace
}  // namespace areal::test
