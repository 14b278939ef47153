// areal bench --table all, with the stand-in for the GPU plug-in.
#include <areal/catalog.hpp>
#include <nlohmann/json.hpp>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

class CommandBenchAll : public CommandTest {
 protected:
  Json records(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--repetitions", "2", "--json", "records.json"});
    outcome = run(arguments, {}, {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(contents(work / "records.json"), nullptr, false);
  }
  Outcome outcome;
};

void expect_all_rows(const Json& rows, std::string_view family) {
  std::vector<std::string> wanted{"auto"};
  for (const Algorithm& row : algorithms())
    if (row.family == family && row.cuda) wanted.emplace_back(row.id);
  ASSERT_EQ(rows.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(rows[i]["algorithm"], wanted[i]);
    EXPECT_EQ(rows[i]["shown"], "all");
    EXPECT_EQ(rows[i]["backend"], "cuda");
    EXPECT_GT(rows[i]["time_us"]["median"], 0);
    EXPECT_GT(rows[i]["floor_us"], 0);
    EXPECT_EQ(rows[i].contains("r"), wanted[i] == "hybrid-1r1w");
  }
}

TEST_F(CommandBenchAll, EveryTable) {
  const Json rows = records({"bench", "sat", "--table", "all", "--size", "128x40", "--types", "8u32u"});
  expect_all_rows(rows, "sat");
  EXPECT_EQ(rows[0]["floor"], "widen");
  EXPECT_EQ(rows[0]["lane"], "8u32u");
}

TEST_F(CommandBenchAll, WhatDoesNotTakeTheImageIsNamedAndHasNoRow) {
  const Json rows = records({"bench", "sat", "--table", "all", "--size", "70x40", "--types", "32f32f"});
  for (const char* const id : {"bands", "relay"}) {
    EXPECT_NE(outcome.err.find(std::string(id) + " of 32f32f 70x40 did not run: algorithm " + id + ": "),
              std::string::npos)
        << outcome.err;
    for (const Json& row : rows) EXPECT_NE(row["algorithm"], id);
  }
  EXPECT_EQ(rows[0]["floor"], "copy");
}

TEST_F(CommandBenchAll, EveryTensor) {
  const Json rows = records({"bench", "histogram", "--table", "all", "--size", "40x33", "--bins", "3"});
  expect_all_rows(rows, "histogram");
  EXPECT_EQ(rows[0]["floor"], "memset");
  EXPECT_EQ(rows[0]["bytes"], 40 * 33 * (1 + 3 * 4));
}

TEST_F(CommandBenchAll, SomeOfThem) {
  const Json rows =
      records({"bench", "sat", "--table", "all", "--size", "33x9", "--types", "8u32u", "--algorithm", "1r1w"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["algorithm"], "1r1w");
}

TEST_F(CommandBenchAll, AWrongResultFailsTheRunAndLosesNoOther) {
  const Outcome wrong = run({"bench", "sat", "--table", "all", "--size", "33x9", "--types", "8u32u", "--algorithm",
                             "1r1w", "--algorithm", "2r2w", "--repetitions", "1", "--json", "records.json"},
                            {}, {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN, "AREAL_STAND_IN_WRONG=1r1w"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("areal: a result is wrong: 1r1w: 1 entry is wrong"), std::string::npos) << wrong.err;
  const Json rows = Json::parse(contents(work / "records.json"), nullptr, false);
  ASSERT_EQ(rows.size(), 2U) << rows;
  EXPECT_EQ(rows[0]["algorithm"], "auto");
  EXPECT_EQ(rows[1]["algorithm"], "2r2w");
}

TEST_F(CommandBenchAll, APlaceThatIsNoneIsToldBeforeTheWork) {
  const Outcome none = run({"bench", "sat", "--table", "all", "--size", "9x9", "--json", "nowhere/x"}, {},
                           {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN});
  EXPECT_NE(none.code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("nowhere"), std::string::npos) << none.err;
}

TEST_F(CommandBenchAll, WronglyAsked) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& words) {
    const Outcome wrong = run(arguments, {}, {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN});
    EXPECT_EQ(wrong.code, 2) << wrong.err;
    EXPECT_NE(wrong.err.find(words), std::string::npos) << wrong.err;
  };
  refused({"bench", "sat", "--table", "nobody"},
          "--table nobody: bench sat has --table all, --table sweep, --table kasagi, --figure chen");
  refused({"bench", "region", "--table", "all"}, "--table all: bench region has --table stores, --table medians");
  refused({"bench", "sat", "--table", "all", "--figure", "chen"}, "--table and --figure: may not be given together");
  refused({"bench", "sat", "--table", "all", "--backend", "cpu"},
          "--backend cpu: --table and --figure are timed on a GPU");
}

}  // namespace
}  // namespace areal::test
