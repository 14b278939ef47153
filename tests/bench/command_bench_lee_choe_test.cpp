// areal bench histogram --figure lee-choe: its records, its tables and its picture, timed by the stand-in for the GPU
// plug-in. Lines of 2100 take several blocks if a thread has two elements, so that the variants differ.

#include <set>
#include "figure_runner.hpp"

#ifdef AREAL_BENCH_STAND_IN
namespace areal::test {
namespace {

class BenchLeeChoe : public FigureTest {
 protected:
  const Words asked = {"--figure", "lee-choe", "--size", "24x16", "--size",        "2100x2",
                       "--bins",   "2",        "--bins", "1",     "--repetitions", "2"};
  void expect_complete(const Json& records) const;
  void expect_relative(const Json& records) const;  // to Harris'
  void expect_curves();
  static double time(const Json& records, const std::string& algorithm, int width, int bins) {
    for (const Json& r : records)
      if (r["algorithm"] == algorithm && r["width"] == width && r["bins"] == bins) return r["time_us"]["median"];
    return 0;
  }
};

TEST_F(BenchLeeChoe, RecordsTablesAndPicture) {
  const Json records = figure(asked);
  expect_complete(records);
  expect_relative(records);
  expect_curves();
}

void BenchLeeChoe::expect_complete(const Json& records) const {
  std::set<std::string> found;
  for (const Json& r : records) {
    EXPECT_EQ(r["what"], "histogram");
    EXPECT_EQ(r["shown"], "lee-choe");
    EXPECT_EQ(r["backend"], "cuda");
    EXPECT_EQ(r["floor"], "memset");
    EXPECT_FALSE(r.contains("tile"));
    EXPECT_GT(r["time_us"]["median"], r["floor_us"]) << r;
    found.insert(r["algorithm"].get<std::string>() + " " + r["width"].dump() + " " + r["bins"].dump());
  }
  EXPECT_EQ(records.size(), 5U * 2 * 2);
  EXPECT_EQ(found.size(), records.size()) << Json(found);
  EXPECT_TRUE(found.count("reduce-then-scan 2100 2")) << Json(found);
}

void BenchLeeChoe::expect_relative(const Json& records) const {
  for (const int bins : {2, 1}) {
    const std::string heading = "Lee, Choe 2014, " + std::to_string(bins) + " bins: per cent of the time of harris";
    EXPECT_EQ(table(heading).at(0), (Words{"figure", "algorithm", "24x16", "2100x2"}));
    EXPECT_EQ(row(heading, {"harris,", "us"}), (Words{one_decimal(time(records, "harris", 24, bins)),
                                                      one_decimal(time(records, "harris", 2100, bins))}));
    const auto expect_row = [&](const Words& begin) {
      Words expected;
      for (const int width : {24, 2100})
        expected.push_back(
            one_decimal(100 * time(records, begin.back(), width, bins) / time(records, "harris", width, bins)));
      EXPECT_EQ(row(heading, begin), expected) << begin.back();
    };
    expect_row({"3", "lee-choe-multiple"});
    expect_row({"4", "lee-choe-shared"});
    expect_row({"5", "lee-choe"});
    expect_row({"reduce-then-scan"});
    EXPECT_EQ(row(heading, {"memset"}).size(), 2U);
    // One block per line saves the accesses of several blocks; the mapping itself saves none.
    EXPECT_LT(time(records, "lee-choe-multiple", 2100, bins), time(records, "harris", 2100, bins));
    EXPECT_EQ(row(heading, {"4", "lee-choe-shared"}).at(0), "100.0");
  }
}

void BenchLeeChoe::expect_curves() {
  const std::string svg = picture();
  EXPECT_EQ(count_of(svg, "<polyline"), 2U * 6);
  for (const char* name : {"harris", "lee-choe-multiple", "lee-choe-shared", ">lee-choe<", "reduce-then-scan", "memset",
                           "2 bins", "1 bins"})
    EXPECT_NE(svg.find(name), std::string::npos) << name;
}

TEST_F(BenchLeeChoe, WhatIsRefusedIsSaidAndTheRestGoesOn) {
  Json records = figure(asked, "lee-choe-shared");
  EXPECT_EQ(records.size(), 4U * 2 * 2);
  EXPECT_NE(outcome.err.find("note: 2100x2, 2 bins: lee-choe-shared did not run: no room for lee-choe-shared"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(row("Lee, Choe 2014, 2 bins", {"4", "lee-choe-shared"}), (Words{"-", "-"}));
  EXPECT_EQ(count_of(picture(), "<circle"), 2U * 4 * 2);  // except harris', which is dashed, and lee-choe-shared's
  // Without Harris' times there is no reference, and no empty picture.
  records = figure(asked, "harris");
  EXPECT_EQ(records.size(), 4U * 2 * 2);
  EXPECT_EQ(row("Lee, Choe 2014, 1 bins", {"harris,", "us"}), (Words{"-", "-"}));
  EXPECT_EQ(row("Lee, Choe 2014, 1 bins", {"5", "lee-choe"}), (Words{"-", "-"}));
  EXPECT_EQ(count_of(picture(), "<circle"), 0U);
}

TEST_F(BenchLeeChoe, NothingRan) {
  Words arguments = asked;
  arguments.insert(arguments.end(), {"--json", "records.json", "--plot", "picture.svg", "--quiet"});
  const Outcome none = command(arguments, "all");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "areal: --figure lee-choe: nothing ran; the notes say why\n");
  EXPECT_EQ(others({}), Words{});
}

TEST_F(BenchLeeChoe, WrongUse) {
  const std::vector<std::pair<Words, std::string>> cases{
      {{"--figure", "lee-choe", "--algorithm", "harris"},
       "areal: --algorithm may not be given with --figure lee-choe, which times the paper's algorithms\n"},
      {{"--figure", "lee-choe", "--types", "8u32u"},
       "areal: --types may not be given with --figure lee-choe, which counts 8u pixels in 32u\n"},
      {{"--figure", "lee-choe", "--batch", "2"},
       "areal: --batch may not be given with --figure lee-choe, which takes one image at a time\n"},
      {{"--figure", "lee-choe", "--border", "zero"},
       "areal: --border may not be given with --figure lee-choe, which makes tensors without a border\n"},
      {{"--figure", "lee-choe", "--backend", "cpu"}, "areal: --backend cpu: --table and --figure are timed on a GPU\n"},
      {{"--table", "lee-choe"}, ""},
      {{"--figure", "chen"}, ""},
      {{"--plot", "picture.svg"}, ""},
  };
  for (const auto& [arguments, sentence] : cases) {
    const Outcome wrong = command(arguments);
    EXPECT_EQ(wrong.code, 2) << Json(arguments);
    EXPECT_EQ(count_of(wrong.err, "\n"), 1U) << wrong.err;
    if (!sentence.empty()) {
      EXPECT_EQ(wrong.err, sentence);
    }
    EXPECT_EQ(wrong.out, "");
  }
  const Outcome nowhere = command({"--figure", "lee-choe", "--plot", "nowhere/picture.svg"});
  EXPECT_EQ(nowhere.code, 1);  // before the work
  EXPECT_EQ(nowhere.out, "");
  EXPECT_EQ(others({}), Words{});
}

}  // namespace
}  // namespace areal::test
#endif
