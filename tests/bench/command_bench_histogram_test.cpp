// areal bench histogram on cuda (--counter, as --backend cuda wants a driver), with the stand-in for the GPU plug-in.
#include "command_answers.hpp"

namespace areal::test {
namespace {

class CommandBenchHistogram : public CommandTest {
 protected:
  Outcome bench(std::vector<std::string> more, const std::string& wrong = "", const std::string& refused = "") {
    more.insert(more.begin(), {"bench", "histogram", "--json", "records.json"});
    return run(more, {},
               {"AREAL_BENCH_DIR=" AREAL_BENCH_STAND_IN, "AREAL_STAND_IN_WRONG=" + wrong,
                "AREAL_STAND_IN_REFUSES=" + refused});
  }
  Json records() { return Json::parse(contents(work / "records.json"), nullptr, false); }
};

TEST_F(CommandBenchHistogram, EveryCounterAndAlgorithm) {
  const Outcome outcome = bench({"--size", "300x70", "--bins", "1", "--bins", "40", "--batch", "2", "--counter", "32u",
                                 "16u", "32f", "--algorithm", "auto", "reduce-then-scan"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json rows = records();
  ASSERT_EQ(rows.size(), 12U) << rows;
  std::size_t i = 0;
  for (const auto& [lane, bytes, fastest] :
       {std::tuple{"8u32u", 4, "count-then-write"}, {"8u16u", 2, "count-then-write"}, {"8u32f", 4, "reduce-then-scan"}})
    for (const int bins : {1, 40})
      for (const char* const algorithm : {bins == 40 ? fastest : "reduce-then-scan", "reduce-then-scan"}) {
        const Json& row = rows.at(i++);
        EXPECT_EQ(row["lane"], lane) << row;
        EXPECT_EQ(row["bins"], bins) << row;
        EXPECT_EQ(row["algorithm"], algorithm) << row;
        EXPECT_EQ(row["floor"], "memset") << row;
        EXPECT_EQ(row["bytes"], 2 * 300 * 70 * (1 + (std::string_view(lane) == "8u32f" ? 4 : 0) + bytes * bins)) << row;
      }
}

TEST_F(CommandBenchHistogram, WhatIsWrongOrCannotBe) {
  Outcome outcome = bench({"--size", "64x48", "--counter", "32u"}, "auto");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find(" of image 0 is "), std::string::npos) << outcome.err;
  outcome =
      bench({"--size", "64x48", "--counter", "32f", "--algorithm", "auto", "count-then-write"}, "", "count-then-write");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("count-then-write of 8u32f 64x48 and 32 bins did not run: no room"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(records().size(), 1U);
  EXPECT_EQ(bench({"--counter", "64u"}).code, 2);
  outcome = run({"bench", "histogram", "--backend", "cpu", "--counter", "16u"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("--counter: only bench histogram on cuda takes it"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace areal::test
