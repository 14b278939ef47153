// areal bench cluster --figure poostchi on the simulated machine and on the CPU: its parts, their records and tables.
// Every piece, whole tensors and answers are checked in the run.

#include <areal/info.hpp>
#include <set>
#include "figure_runner.hpp"

namespace areal::test {
namespace {

class BenchCluster : public FigureTest {
 protected:
  Json cluster(Words arguments) {
    arguments.insert(arguments.begin(), {"bench", "cluster", "--figure", "poostchi"});
    arguments.insert(arguments.end(), {"--repetitions", "1", "--threads", "2", "--json", "records.json"});
    outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(others({"records.json"}), Words{});
    const Json records = Json::parse(contents(work / "records.json"), nullptr, false);
    for (const Json& r : records) {
      EXPECT_EQ(r["what"], "cluster") << r;
      EXPECT_EQ(r["shown"], "poostchi") << r;
      EXPECT_GT(r["time_us"]["median"], 0) << r;
    }
    return records;
  }
  static std::multiset<std::string> names(const Json& records) {
    std::multiset<std::string> all;
    for (const Json& r : records)
      all.insert(r["part"].get<std::string>() + " " + r["order"].get<std::string>() + " " +
                 r["algorithm"].get<std::string>() + " " + r["devices"].get<std::string>() + " " + r["width"].dump() +
                 " " + r["bins"].dump());
    return all;
  }
};

TEST_F(BenchCluster, GroupsOfBinsAndWholeFrames) {
  // Groups of 3 bins and one of 1.
  const Json records = cluster({"--backend", "simt", "--part", "figure-16", "--size", "24x10", "--bins", "7", "--items",
                                "3", "--group-bytes", "3000"});
  EXPECT_EQ(names(records),
            (std::multiset<std::string>{"figure-16 bins wf-tis simt 24 7", "figure-16 bins reduce-then-scan simt 24 7",
                                        "figure-16 pieces auto simt 24 7", "figure-16 ring auto simt 24 7"}));
  const Words head = table("Figure 16 on simt").at(0);
  EXPECT_EQ(head, words_of("size bins wf-tis auto pieces whole frames link best / link"));
  double best = 0;
  Words expected;
  for (const Json& r : records) {
    const double time = r["time_us"]["median"];
    expected.push_back(one_decimal(1e6 / time));
    best = best == 0 ? time : std::min(best, time);
    EXPECT_EQ(r["floor"], "link");
  }
  expected.push_back(one_decimal(1e6 / records[0]["floor_us"].get<double>()));
  const Words row = this->row("Figure 16 on simt", {"24x10", "7"});
  ASSERT_EQ(row.size(), 6U);
  EXPECT_EQ(Words(row.begin(), row.end() - 1), expected);
  EXPECT_NEAR(std::stod(row[5]), records[0]["floor_us"].get<double>() / best, 0.006);
}

TEST_F(BenchCluster, SeveralWorkersShareTheBins) {
  const Json records = cluster({"--devices", "cpu:1,simt", "--part", "figure-16", "--part", "frames", "--size", "40x16",
                                "--bins", "5", "--items", "40"});
  EXPECT_NE(outcome.err.find("note: wf-tis is not on the CPU"), std::string::npos);
  EXPECT_EQ(names(records),
            (std::multiset<std::string>{"figure-16 bins fused cpu:1,simt 40 5", "figure-16 pieces auto cpu:1,simt 40 5",
                                        "figure-16 ring auto cpu:1,simt 40 5", "frames ring frames cpu:1 40 5",
                                        "frames ring frames simt 40 5", "frames ring frames cpu:1,simt 40 5"}));
  EXPECT_EQ(row("Frames, 100 boxes", {"40x16", "5", "cpu:1,simt"}).size(), 3U);
}

TEST_F(BenchCluster, SpeedUpsAnswersAndTiles) {
  const Json records = cluster({"--backend", "simt",   "--part",  "figure-17", "--part",        "answers", "--part",
                                "tiles",     "--part", "table",   "--part",    "frames",        "--size",  "30x12",
                                "--bins",    "4",      "--items", "40",        "--group-bytes", "6000"});
  EXPECT_EQ(names(records),
            (std::multiset<std::string>{"figure-17 bins serial cpu:1 30 4", "figure-17 bins parallel cpu:1 30 4",
                                        "figure-17 bins parallel cpu:2 30 4", "figure-17 bins wf-tis simt 30 4",
                                        "figure-17 bins reduce-then-scan simt 30 4", "answers tiles answers simt 30 4",
                                        "tiles tiles answers simt 30 4", "tiles rows auto simt 30 4",
                                        "tiles tiles auto simt 30 4", "table table auto simt 30 0",
                                        "frames ring frames simt 30 4", "frames ring unequal simt 30 4",
                                        "frames ring unequal cpu:2 30 4", "frames ring unequal simt,cpu:2 30 4"}));
  double cpu = 0, gpu = 0;
  for (const Json& r : records) {
    if (r["algorithm"] == "serial") cpu = r["time_us"]["median"];
    if (r["algorithm"] == "wf-tis") gpu = r["time_us"]["median"];
  }
  EXPECT_EQ(table("Figure 17").at(0), words_of("algorithm size bins serial 1 parallel 1 parallel 2"));
  EXPECT_EQ(row("Figure 17", {"wf-tis", "30x12", "4"}).at(0), one_decimal(cpu / gpu));
  EXPECT_EQ(row("Answers on simt", {"30x12", "4"}).at(0), "1x1");
  EXPECT_NE(row("Tiles on simt", {"30x12", "4"}).at(0), "1x1");  // they have but 12000 bytes
}

TEST_F(BenchCluster, WithoutAGpuItSaysSo) {
  if (!devices().empty()) GTEST_SKIP() << "there is a GPU";
  const Outcome none = run({"bench", "cluster", "--figure", "poostchi"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(count_of(none.err, "\n"), 1U) << none.err;
  EXPECT_NE(none.err.find("runs it without a GPU"), std::string::npos) << none.err;
}

TEST_F(BenchCluster, WrongUse) {
  for (const Words& arguments :
       {Words{"cluster"}, Words{"cluster", "--figure", "chen"},
        Words{"cluster", "--figure", "poostchi", "--part", "18"},
        Words{"cluster", "--figure", "poostchi", "--plot", "p.svg"},
        Words{"cluster", "--figure", "poostchi", "--algorithm", "cw-b"},
        Words{"cluster", "--figure", "poostchi", "--slots", "2"}, Words{"sequence", "--part", "frames"},
        Words{"cluster", "--figure", "poostchi", "--group-bytes", "0"}}) {
    Words all = arguments;
    all.insert(all.begin(), "bench");
    if (arguments[0] == "cluster") all.insert(all.end(), {"--backend", "simt"});
    const Outcome wrong = run(all);
    EXPECT_EQ(wrong.code, 2) << Json(arguments) << wrong.err;
    EXPECT_EQ(count_of(wrong.err, "\n"), 1U) << wrong.err;
    EXPECT_EQ(wrong.out, "");
  }
}

}  // namespace
}  // namespace areal::test
