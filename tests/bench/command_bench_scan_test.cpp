// areal bench scan --table all, with the stand-in for the GPU plug-in.
#include <areal/catalog.hpp>
#include <nlohmann/json.hpp>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

class CommandBenchScan : public CommandTest {
 protected:
  Json records(std::vector<std::string> arguments, const std::string& refused = {}) {
    arguments.insert(arguments.begin(), {"bench", "scan", "--table", "all"});
    arguments.insert(arguments.end(), {"--repetitions", "2", "--json", "records.json"});
    std::vector<std::string> environment{"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN};
    if (!refused.empty()) environment.push_back("AREAL_STAND_IN_REFUSES=" + refused);
    outcome = run(arguments, {}, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(contents(work / "records.json"), nullptr, false);
  }
  Outcome outcome;
};

TEST_F(CommandBenchScan, EveryRowAndCub) {
  const Json rows = records({"--size", "5000x1", "--size", "40x1", "--types", "8u32u", "--types", "64f64f"});
  std::vector<const Algorithm*> wanted;
  for (const Algorithm& row : algorithms())
    if (row.family == "scan" && row.cuda) wanted.push_back(&row);
  ASSERT_EQ(wanted.size(), 9U);
  ASSERT_EQ(rows.size(), 2 * 2 * (wanted.size() + 1));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    SCOPED_TRACE(row.dump());
    const std::size_t group = i / (wanted.size() + 1), place = i % (wanted.size() + 1);
    EXPECT_EQ(row["what"], "scan");
    EXPECT_EQ(row["shown"], "all");
    EXPECT_EQ(row["lane"], group < 2 ? "8u32u" : "64f64f");
    EXPECT_EQ(row["floor"], group < 2 ? "widen" : "copy");
    const std::int64_t n = group % 2 == 0 ? 5000 : 40;
    EXPECT_EQ(row["width"], n);
    EXPECT_EQ(row["height"], 1);
    EXPECT_EQ(row["bytes"], n * (group < 2 ? 5 : 16));
    EXPECT_GT(row["time_us"]["median"], 0);
    EXPECT_GT(row["floor_us"], 0);
    if (place == wanted.size()) {
      EXPECT_EQ(row["algorithm"], "cub 0.0.0 stand-in");
      EXPECT_FALSE(row.contains("source"));
      continue;
    }
    EXPECT_EQ(row["algorithm"], std::string(wanted[place]->id));
    EXPECT_EQ(row["source"], std::string(wanted[place]->source));
    EXPECT_EQ(row.contains("k"), wanted[place]->id == "sequential-parallel");
    // Shorter than a group that fits a GPU's L2.
    if (row.contains("k")) {
      EXPECT_EQ(row["k"], n);
    }
  }
  // The timed algorithm is the one that the row names: a scan of one launch reads and writes each element once.
  const auto of = [&](const std::string& id) {
    for (const Json& row : rows)
      if (row["algorithm"] == id && row["width"] == 5000 && row["lane"] == "8u32u") return row["time_us"]["median"];
    return Json();
  };
  EXPECT_EQ(of("kogge-stone"), 2 + 1e-3 * 5000 * (1 + 4));
  EXPECT_GT(of("naive"), of("harris"));
}

TEST_F(CommandBenchScan, SomeOfThem) {
  const Json rows = records({"--size", "64x1", "--types", "32f32f", "--algorithm", "optimal", "--no-peers"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["algorithm"], "optimal");
}

TEST_F(CommandBenchScan, WhatHasNoRoomIsToldAndTheRestGoesOn) {
  const Json rows = records({"--size", "64x1", "--types", "32f32f"}, "naive");
  EXPECT_EQ(rows.size(), 9U);
  EXPECT_EQ(rows[0]["algorithm"], "optimal");
  EXPECT_NE(outcome.err.find("naive of 32f32f 64x1 did not run: no room for naive"), std::string::npos) << outcome.err;
}

TEST_F(CommandBenchScan, WronglyAsked) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "bench scan needs --table all"},
      {{"--table", "kasagi"}, "--table kasagi: bench scan has --table all"},
      {{"--table", "all", "--size", "64x2"}, "--size 64x2: a line is Nx1"},
      {{"--table", "all", "--batch", "3"}, "--batch 3: bench scan sums one line at a time"},
      {{"--table", "all", "--algorithm", "auto"}, "--algorithm auto is not in the family scan"},
      {{"--table", "all", "--algorithm", "1r1w"}, "--algorithm 1r1w is not in the family scan"},
      {{"--table", "all", "--backend", "cpu"}, "--backend cpu: --table and --figure are timed on a GPU"},
  };
  for (const auto& [words, sentence] : cases) {
    SCOPED_TRACE(sentence);
    std::vector<std::string> arguments{"bench", "scan"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Outcome wrong = run(arguments, {}, {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.out, "");
    EXPECT_NE(wrong.err.find(sentence), std::string::npos) << wrong.err;
  }
}

}  // namespace
}  // namespace areal::test
