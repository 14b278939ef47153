// areal bench sat --table sweep, with the stand-in for the GPU plug-in.
#include <nlohmann/json.hpp>
#include <sstream>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

class CommandBenchSweep : public CommandTest {
 protected:
  Outcome sweep(std::vector<std::string> more, std::vector<std::string> environment = {}) {
    more.insert(more.begin(), {"bench", "sat", "--table", "sweep", "--repetitions", "20", "--json", "records.json"});
    environment.emplace_back("AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN);
    return run(more, {}, environment);
  }
  Json records() { return Json::parse(contents(work / "records.json"), nullptr, false); }
};

std::vector<std::string> algorithms_of(const Json& record) {
  std::vector<std::string> names;
  for (const Json& row : record["rows"]) names.push_back(row["algorithm"]);
  return names;
}

TEST_F(CommandBenchSweep, ACaseIsARecordWithARowForEachAlgorithm) {
  const Outcome outcome = sweep({"--size", "20x18", "--types", "32f32f"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json cases = records();
  ASSERT_EQ(cases.size(), 2U) << cases;
  EXPECT_EQ(cases[0]["border"], "none");
  EXPECT_EQ(cases[1]["border"], "zero");
  // What bands leaves to tiles is no row of it.
  EXPECT_EQ(algorithms_of(cases[0]),
            (std::vector<std::string>{"auto", "lookback", "lookback-diagonal", "all-partials", "thin", "bands"}));
  EXPECT_EQ(algorithms_of(cases[1]),
            (std::vector<std::string>{"auto", "lookback", "lookback-diagonal", "all-partials", "thin"}));
  EXPECT_EQ(cases[0]["bytes"], 20 * 18 * 8);
  EXPECT_EQ(cases[1]["bytes"], 20 * 18 * 4 + 21 * 19 * 4);
  for (const Json& one : cases) {
    EXPECT_EQ(one["shown"], "sweep");
    EXPECT_EQ(one["floor_us"], 2);
    const std::size_t chosen = one["border"] == "none" ? 5 : 3;
    EXPECT_EQ(one["rows"][0]["chose"], one["rows"][chosen]["algorithm"]);
    EXPECT_DOUBLE_EQ(one["rows"][0]["median"], one["rows"][chosen]["median"]);
    EXPECT_NEAR(one["rows"][0]["median"].get<double>(), one["time_us"]["median"].get<double>(), 1e-3);
    for (const Json& row : one["rows"]) {
      EXPECT_EQ(row["rounds"], 20);
      EXPECT_GE(row["launches"], 1);
      // Of 20 times, 1 us apart: ranks 6 and 15.
      EXPECT_NEAR(row["between"][0].get<double>() - row["min"].get<double>(), 5, 2e-3);
      EXPECT_NEAR(row["between"][1].get<double>() - row["min"].get<double>(), 14, 2e-3);
    }
  }
  // A line each.
  std::istringstream text(contents(work / "records.json"));
  int lines = 0;
  for (std::string line; std::getline(text, line);) ++lines;
  EXPECT_EQ(lines, 4);
}

// all-partials refuses more tiles than the machine holds at once, and has no row of them.
TEST_F(CommandBenchSweep, TilesThatDoNotRunAtOnceAreNoAllPartials) {
  const auto algorithms = [&](const std::string& size) {
    const Outcome outcome = sweep(
        {"--size", size, "--types", "32f32f", "--border", "none", "--algorithm", "auto", "lookback", "all-partials"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return algorithms_of(records().at(0));
  };
  EXPECT_EQ(algorithms("40x4096"), (std::vector<std::string>{"auto", "lookback", "all-partials"}));  // 32 tiles
  EXPECT_EQ(algorithms("40x4097"), (std::vector<std::string>{"auto", "lookback"}));
}

TEST_F(CommandBenchSweep, SquaresHaveTheDefaultAlone) {
  ASSERT_EQ(sweep({"--size", "40x33", "--types", "8u32u", "--squares=64u", "--batch", "2", "--border", "none"}).code,
            0);
  const Json cases = records();
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0]["lane"], "8u32u+64u");
  EXPECT_EQ(cases[0]["batch"], 2);
  EXPECT_EQ(algorithms_of(cases[0]), std::vector<std::string>{"auto"});
  EXPECT_EQ(cases[0]["rows"][0]["chose"], "lookback");
}

TEST_F(CommandBenchSweep, WhatDoesNotRunIsTold) {
  const std::vector<std::string> small{"--size", "40x33", "--types", "8u32u", "--border", "zero"};
  Outcome outcome = sweep(small, {"AREAL_STAND_IN_REFUSES=thin"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("thin of 8u32u 40x33x1 border zero did not run: no room for thin"), std::string::npos)
      << outcome.err;
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(records()[0]["rows"].size(), 4U);
  outcome = sweep(small, {"AREAL_STAND_IN_WRONG=lookback"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("a result is wrong: lookback of 8u32u 40x33x1 border zero: 1 entry is wrong"),
            std::string::npos)
      << outcome.err;
  outcome = sweep(small, {"AREAL_STAND_IN_REFUSES=auto"});
  EXPECT_NE(outcome.err.find("8u32u 40x33x1 border zero is left out, as auto did not run"), std::string::npos)
      << outcome.err;
}

TEST_F(CommandBenchSweep, WronglyAsked) {
  Outcome wrong = sweep({"--border", "exclusive"});
  EXPECT_EQ(wrong.code, 2) << wrong.err;
  EXPECT_NE(wrong.err.find("--border exclusive: a sweep has none and zero"), std::string::npos) << wrong.err;
  wrong = sweep({"--algorithm", "thin"});
  EXPECT_EQ(wrong.code, 2) << wrong.err;
  EXPECT_NE(wrong.err.find("--algorithm thin: a sweep begins with auto"), std::string::npos) << wrong.err;
}

TEST_F(CommandBenchSweep, StoresAreTimedOnTheCpuToo) {
  const Outcome outcome = run({"bench", "region", "--table", "stores", "--backend", "cpu", "--threads", "1", "--size",
                               "64x48", "--items", "3", "--bins", "5", "--repetitions", "7", "--json", "records.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json cases = records();
  ASSERT_EQ(cases.size(), 4U) << cases;  // histograms of 8u and 16u, medians of both; boxes of 200x200 do not fit
  for (const Json& one : cases) {
    EXPECT_EQ(one["part"], "32x32");
    EXPECT_EQ(one["batch"], 3);
    EXPECT_EQ(algorithms_of(one), one["bins"] == 0 ? (std::vector<std::string>{"none", "rank"})
                                                   : (std::vector<std::string>{"none", "compact", "tensor"}));
    for (const Json& row : one["rows"]) EXPECT_EQ(row["rounds"], 7);
    EXPECT_GT(one["time_us"]["median"], 0);
  }
  EXPECT_NE(run({"bench", "region", "--table", "stores", "--backend", "simt"}).err.find("cannot be timed"),
            std::string::npos);
}

}  // namespace
}  // namespace areal::test
