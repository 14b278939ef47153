// areal bench sequence --figure poostchi on the simulated machine and on the CPU: its records, its tables and its
// timelines agree. Every tensor is checked in the run.

#include <algorithm>
#include <areal/info.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include "figure_runner.hpp"

namespace areal::test {
namespace {

class BenchSequence : public FigureTest {
 protected:
  Json sequence(Words arguments) {
    arguments.insert(arguments.begin(), {"bench", "sequence", "--figure", "poostchi"});
    arguments.insert(arguments.end(), {"--repetitions", "1", "--json", "records.json", "--plot", "picture.svg"});
    outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(others({"records.json", "picture.svg"}), Words{});
    return Json::parse(contents(work / "records.json"), nullptr, false);
  }
  // Of a case that is timed for Figure 13 and for Figure 15, the former comes first.
  static Json one(const Json& records, const std::string& algorithm, int width, int bins, int slots,
                  const std::string& order, bool first = false) {
    Json found;
    for (const Json& r : records)
      if (r["what"] == "sequence" && r["algorithm"] == algorithm && r["width"] == width && r["bins"] == bins &&
          r["slots"] == slots && r["order"] == order && !(first && !found.is_null()))
        found = r;
    EXPECT_FALSE(found.is_null()) << algorithm << " " << width << " " << bins << " " << slots << " " << order;
    return found;
  }
  static double time(const Json& r) { return r["time_us"]["median"]; }
  static double sum(const Json& r) {
    double all = 0;
    for (const auto& [name, stage] : r["stages_us"].items()) all += stage.get<double>();
    return all;
  }
  static double longest(const Json& r) {
    const Json& s = r["stages_us"];
    const double kernels = s["initialise"].get<double>() + s["scan"].get<double>();
    return std::max({s["read"].get<double>(), s["up"].get<double>(), kernels, s["down"].get<double>()});
  }
};

std::string two_decimals(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

TEST_F(BenchSequence, RecordsTablesAndTimelines) {
  const Json records = sequence(
      {"--backend", "simt", "--size", "33x9", "--size", "40x20", "--bins", "2", "--bins", "4", "--items", "3"});
  for (const Json& r : records) {
    EXPECT_EQ(r["shown"], "poostchi") << r;
    EXPECT_EQ(r["backend"], "simt") << r;
    EXPECT_GT(time(r), 0) << r;
    if (r["what"] == "transfer") continue;
    EXPECT_EQ(r["what"], "sequence") << r;
    EXPECT_GE(r["frames"], 3) << r;
    EXPECT_EQ(r["floor"], "compute") << r;  // there is no link
    EXPECT_GT(r["stages_us"]["scan"], 0) << r;
  }
  for (const int bins : {2, 4})
    for (const char* id : {"wf-tis", "reduce-then-scan"}) {
      const double alone = time(one(records, id, 40, bins, 1, "breadth", true));
      EXPECT_EQ(one(records, id, 40, bins, 4, "breadth", true)["frames"], 12);
      const Words row = this->row("Figure 13, 40x20", {id, std::to_string(bins)});
      ASSERT_EQ(row.size(), 8U);
      EXPECT_EQ(row[2], one_decimal(time(one(records, id, 40, bins, 4, "breadth", true))));
      EXPECT_EQ(row[5], two_decimals(alone / time(one(records, id, 40, bins, 4, "breadth", true))));
    }
  EXPECT_EQ(table("Figure 13").at(0), words_of("algorithm bins 1 slot 2 slots 4 slots ring gain of 2 gain of 4 gain of "
                                               "ring possible gain"));

  // Only the paper's algorithms have the initialisation as a separate stage.
  for (const char* id : {"wf-tis", "cw-b", "reduce-then-scan"}) {
    const Json stages = one(records, id, 40, 2, 1, "stages");
    if (std::string(id) != "reduce-then-scan")
      EXPECT_GT(stages["stages_us"]["initialise"], 0) << id;
    else
      EXPECT_EQ(stages["stages_us"]["initialise"], 0);
    const Words cells = row("Figures 12 and 14, 40x20, 2 bins", {id});
    ASSERT_EQ(cells.size(), 8U);
    EXPECT_EQ(cells[5], one_decimal(sum(stages)));
    EXPECT_EQ(cells[6], one_decimal(longest(stages)));
    EXPECT_EQ(cells[7], two_decimals(sum(stages) / longest(stages)));
  }

  for (const char* id : {"cw-b", "cw-sts", "cw-tis", "wf-tis", "reduce-then-scan"})
    for (const auto& [width, size, bins] : {std::tuple(33, "33x9", 2), {40, "40x20", 2}, {40, "40x20", 4}}) {
      const char* const heading = bins == 4 ? "Figure 15 c" : "Figure 15 a";
      const Words cells = row(heading, {id, size, std::to_string(bins)});
      ASSERT_EQ(cells.size(), 4U);
      EXPECT_EQ(cells[1], one_decimal(1e6 / time(one(records, id, width, bins, 2, "breadth"))));
      if (std::string(id) == "reduce-then-scan")
        EXPECT_EQ(cells[2], one_decimal(1e6 / time(one(records, id, width, bins, 4, "ring"))));
      else
        EXPECT_EQ(cells[2], "-");
    }

  const std::string svg = picture();
  for (const char* id : {"wf-tis", "cw-b", "reduce-then-scan"})
    for (const char* slots : {"1 slot", "2 slots"})
      EXPECT_NE(svg.find(std::string(id) + ", 40x20, 2 bins, " + slots + "<"), std::string::npos) << id;
  // 8 frames of 12 in each of 6 timelines: each is read once, and a bar may be missing only where a clock stood still.
  EXPECT_EQ(count_of(svg, "<title>read, frame 4:"), 6U);
  EXPECT_EQ(count_of(svg, "<title>read, frame 11:"), 6U);
  EXPECT_EQ(count_of(svg, "<title>read, frame 3:"), 0U);
  EXPECT_EQ(count_of(svg, "<title>scan, frame "), 6U * 8);
  EXPECT_EQ(count_of(svg, "<title>initialise, frame "), 4U * 8);
}

TEST_F(BenchSequence, OneAlgorithmInSlotsOfAnyNumberAndOrder) {
  const Json records = sequence({"--backend", "simt", "--size", "24x8", "--bins", "2", "--items", "7", "--algorithm",
                                 "wf-tis", "--slots", "3", "--order", "depth"});
  for (const Json& r : records)
    if (r["what"] == "sequence") {
      EXPECT_EQ(r["algorithm"], "wf-tis");
    }
  EXPECT_EQ(one(records, "wf-tis", 24, 2, 3, "depth")["frames"], 9);
  one(records, "wf-tis", 24, 2, 1, "depth");
  EXPECT_EQ(table("Figure 13").at(0), words_of("algorithm bins 1 slot 3 slots ring gain of 3 gain of ring possible "
                                               "gain"));
}

TEST_F(BenchSequence, OnTheCpuOnlyTheDefaultRuns) {
  const Json records =
      sequence({"--backend", "cpu", "--threads", "1", "--size", "24x8", "--bins", "2", "--items", "4"});
  EXPECT_NE(outcome.err.find("note: the paper's algorithms are not on the CPU: only auto runs"), std::string::npos);
  for (const Json& r : records) {
    EXPECT_EQ(r["backend"], "cpu");
    if (r["what"] == "sequence") {
      EXPECT_EQ(r["algorithm"], "fused");
    }
  }
}

TEST_F(BenchSequence, WithoutAGpuItSaysSo) {
  if (!devices().empty()) GTEST_SKIP() << "there is a GPU";
  const Outcome none = run({"bench", "sequence", "--figure", "poostchi"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(count_of(none.err, "\n"), 1U) << none.err;
  EXPECT_NE(none.err.find("--backend simt or cpu runs it without a GPU"), std::string::npos) << none.err;
}

TEST_F(BenchSequence, WrongUse) {
  for (const Words& arguments :
       {Words{"--slots", "2"}, Words{"--order", "depth"}, Words{"--figure", "lee-choe"},
        Words{"--figure", "poostchi", "--order", "random"}, Words{"--figure", "poostchi", "--slots", "0"},
        Words{"--figure", "poostchi", "--algorithm", "harris"}, Words{"--figure", "poostchi", "--devices", "cpu:1"},
        Words{"--figure", "poostchi", "--batch", "2"}, Words{"--figure", "poostchi", "--types", "8u32u"}}) {
    Words all = arguments;
    all.insert(all.begin(), {"bench", "sequence"});
    all.insert(all.end(), {"--backend", "simt"});
    const Outcome wrong = run(all);
    EXPECT_EQ(wrong.code, 2) << Json(arguments) << wrong.err;
    EXPECT_EQ(wrong.out, "");
  }
}

}  // namespace
}  // namespace areal::test
