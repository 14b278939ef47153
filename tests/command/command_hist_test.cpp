// `areal hist` for good input: counts compared with those made here, pixel by pixel, charts, saved tensors.

#include <regex>
#include "command_answers.hpp"

namespace areal::test {
namespace {

class CommandHist : public CommandOnOneImage {};

TEST_F(CommandHist, SaysTheSameOnEveryBackend) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  std::vector<std::string> on_cpu{"hist", "a.npy", "--bins", "9", "--region", "3,4,20,30", "--region", "0,0,61,43"};
  std::vector<std::string> on_simt = on_cpu;
  on_cpu.insert(on_cpu.end(), {"--backend", "cpu"});
  on_simt.insert(on_simt.end(), {"--backend", "simt", "-v"});
  const Outcome outcome = run(on_simt);
  EXPECT_EQ(outcome.out, answer(on_cpu));
  EXPECT_NE(outcome.err.find("store none: 2 regions cover 1.2 images; compact pays from "), std::string::npos)
      << outcome.err;
  on_simt.insert(on_simt.end(), {"--counter", "32u"});
  const Outcome from_tensor = run(on_simt);
  EXPECT_EQ(from_tensor.out, outcome.out);
  EXPECT_NE(from_tensor.err.find("backend simt, algorithm reduce-then-scan"), std::string::npos) << from_tensor.err;
  // Only -v reports the choice of `auto`.
  const std::vector<std::string> automatic{"hist", "a.npy", "--bins", "4", "-o", "A.npy"};
  EXPECT_EQ(run(automatic).err, "");
  std::vector<std::string> verbose = automatic;
  verbose.push_back("-v");
  const std::string choice = run(verbose).err;
  EXPECT_TRUE(std::regex_search(
      choice, std::regex("areal: store tensor: backend (cpu|cuda), algorithm .+ \\(.+; backend .+\\), [0-9]+ bytes")))
      << choice;
  // Counters of 16 bits: two bytes an element after the same header's length.
  answer({"hist", "a.npy", "--bins", "4", "--counter", "16u", "--backend", "simt", "-o", "H.npy"});
  const std::string bytes = contents(work / "H.npy");
  EXPECT_NE(bytes.find("<u2"), std::string::npos);
  EXPECT_EQ(bytes.size() % 64, (4 * width * height * 2) % 64u);
}

TEST_F(CommandHist, CountsAsTheDefinition) {
  std::vector<std::uint64_t> expected(8);
  for (int y = 20; y < 30; ++y)
    for (int x = 10; x < 40; ++x) ++expected[pixel(x, y) / 32u];
  const auto rows = json_lines(answer({"hist", "a.npy", "--bins", "8", "--region", "10,20,30,10", "--json"}));
  EXPECT_EQ(rows.at(0)["counts"], Json(expected));
  EXPECT_EQ(rows.at(0)["edges"], (Json{0.0, 32.0, 64.0, 96.0, 128.0, 160.0, 192.0, 224.0, 256.0}));

  // numpy.histogram: the last bin is closed; values outside are left out, or clamped.
  std::vector<std::uint64_t> inside(2), clamped(2);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int v = pixel(x, y);
      if (v >= 100 && v <= 200) ++inside[v >= 150];
      ++clamped[v >= 150];
    }
  EXPECT_EQ(json_lines(answer({"hist", "a.npy", "--bins", "2", "--range", "100,200", "--json"})).at(0)["counts"],
            Json(inside));
  EXPECT_EQ(json_lines(answer({"hist", "a.npy", "--edges", "100,150,200", "--json"})).at(0)["counts"], Json(inside));
  EXPECT_EQ(json_lines(answer({"hist", "a.npy", "--edges", "100,150,200", "--clamp", "--json"})).at(0)["counts"],
            Json(clamped));
}

TEST_F(CommandHist, LabelsLookupJointAndWeights) {
  write_file(work / "l.npy", npy("|u1", "2, 3", std::vector<std::uint8_t>{0, 2, 2, 1, 2, 5}));
  EXPECT_EQ(json_lines(answer({"hist", "l.npy", "--labels", "--json"})).at(0)["counts"], (Json{1, 1, 3, 0, 0, 1}));
  EXPECT_EQ(json_lines(answer({"hist", "l.npy", "--labels", "--ignore-label", "5", "--json"})).at(0)["counts"],
            (Json{1, 1, 3}));
  write_file(work / "t.txt", "1 0 1\n-1 -1 0");
  EXPECT_EQ(json_lines(answer({"hist", "l.npy", "--lookup", "t.txt", "--json"})).at(0)["counts"], (Json{2, 4}));
  write_file(work / "w.npy", npy("<f4", "2, 3", std::vector<float>{0.5, 1, 2, 4, 8, 16}));
  EXPECT_EQ(json_lines(answer({"hist", "l.npy", "--labels", "--weights", "w.npy", "--json"})).at(0)["counts"],
            (Json{0.5, 4.0, 11.0, 0.0, 0.0, 16.0}));
  write_file(work / "c.npy", npy("|u1", "1, 2, 3", std::vector<std::uint8_t>{10, 200, 30, 200, 50, 255}));
  EXPECT_EQ(json_lines(answer({"hist", "c.npy", "--joint", "--bins", "2", "--json"})).at(0)["counts"],
            (Json{0, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(json_lines(answer({"hist", "c.npy", "--all-channels", "--bins", "2", "--json"})).at(2)["counts"],
            (Json{1, 1}));
}

TEST_F(CommandHist, ReducesAndCompares) {
  write_file(work / "l.npy", npy("|u1", "1, 4", std::vector<std::uint8_t>{10, 10, 200, 200}));
  const auto row = json_lines(answer({"hist", "l.npy", "--bins", "2", "--entropy", "--mode", "--mean", "--median",
                                      "--percentile", "25", "--normalise", "--json"}))
                       .at(0);
  EXPECT_EQ(row["shares"], (Json{0.5, 0.5}));
  EXPECT_EQ(row["entropy"], 1.0);
  EXPECT_EQ(row["mode"], 0);
  EXPECT_EQ(row["mean"], 128.0);
  EXPECT_EQ(row["median"], 128.0);
  EXPECT_EQ(row["percentile_25"], 64.0);
  const auto rows = json_lines(answer({"hist", "l.npy", "--bins", "2", "--template", "0,0,2,1", "--distance", "l1",
                                       "--region", "0,0,2,1", "--region", "2,0,2,1", "--json"}));
  EXPECT_EQ(rows.at(0)["distance"], 0.0);
  EXPECT_EQ(rows.at(1)["distance"], 2.0);
  const auto nearest =
      json_lines(answer({"hist", "l.npy", "--bins", "2", "--template", "2,0,2,1", "--map", "m.npy", "--json"}));
  EXPECT_EQ(nearest.at(0)["x"], 2);
  EXPECT_EQ(nearest.at(0)["distance"], 0.0);
  EXPECT_TRUE(fs::exists(work / "m.npy"));
}

TEST_F(CommandHist, SavedTensorsAnswerTheSame) {
  answer({"hist", "a.npy", "--bins", "8", "-o", "H.npy"});
  const std::vector<std::string> region{"--region", "10,20,30,10", "--region", "0,0,61,43", "--json"};
  std::vector<std::string> direct{"hist", "a.npy", "--bins", "8"}, saved{"query", "H.npy"};
  direct.insert(direct.end(), region.begin(), region.end());
  saved.insert(saved.end(), region.begin(), region.end());
  EXPECT_EQ(answer(saved), answer(direct));
  EXPECT_NE(contents(work / "H.npy").find("(8, 43, 61)"), std::string::npos);
}

TEST_F(CommandHist, EveryStoreAnswersTheSame) {
  // A small region is counted from the image, many whole ones from a compact store. -v prints which and why.
  std::vector<std::string> few{"hist", "a.npy", "--bins", "64", "-v", "--region", "3,3,9,9"}, many = few;
  std::string whole;
  for (int i = 0; i < 500; ++i) whole += "0,0,61,43\n";
  write_file(work / "whole.csv", whole);
  many.insert(many.end(), {"--regions", "whole.csv"});
  const Outcome counted = run(few), stored = run(many);
  EXPECT_NE(counted.err.find("store none: 1 region covers 0.031 images; compact "), std::string::npos) << counted.err;
  EXPECT_NE(stored.err.find("store compact: 501 regions cover 500 images; it pays from"), std::string::npos)
      << stored.err;
  EXPECT_EQ(lines(counted.out).at(1), lines(stored.out).at(1));
  for (const std::string store : {"none", "compact", "tensor"}) {
    std::vector<std::string> named = many;
    named.insert(named.end(), {"--store", store});
    const Outcome one = run(named);
    EXPECT_EQ(one.out, stored.out) << store;
    EXPECT_NE(one.err.find("store " + store + ":"), std::string::npos) << one.err;
    if (!has_simt()) continue;
    named.insert(named.end(), {"--backend", "simt"});
    EXPECT_EQ(run(named).out, stored.out) << store << " on simt";
  }
  const auto refused = [&](std::vector<std::string> more, const std::string& sentence) {
    std::vector<std::string> all{"hist", "a.npy", "--bins", "8"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome one = run(all);
    EXPECT_NE(one.code, 0);
    EXPECT_NE(one.err.find(sentence), std::string::npos) << one.err;
  };
  refused({"--store", "dense"}, "--store dense: may be auto, none, compact or tensor; rank with --quantile");
  refused({"--store", "rank"}, "--store rank: it orders pixels and has no bins; it answers --quantile");
  refused({"--store", "none", "-o", "T.npy"}, "--store none: it is the image and leaves nothing for -o");
  refused({"--store", "compact", "--map", "M.npy", "--template", "1,1,3,3"},
          "--store compact: a --map comes from the pixels or from the tensor");
  refused({"--store", "compact", "--weights", "a.npy"}, "store compact: it counts pixels");
}

TEST_F(CommandHist, QuantilesAreThoseOfTheSortedPixels) {
  std::vector<int> sorted;
  for (int y = 20; y < 30; ++y)
    for (int x = 10; x < 40; ++x) sorted.push_back(pixel(x, y));
  std::sort(sorted.begin(), sorted.end());
  const std::vector<std::string> asked{"hist", "a.npy",    "--quantile",  "0,0.5",    "--quantile",
                                       "0.9",  "--region", "10,20,30,10", "--region", "0,0,61,43"};
  for (const std::string method : {"lower", "higher"}) {
    std::string first;
    for (const std::string store : {"auto", "none", "rank"}) {
      std::vector<std::string> all = asked;
      all.insert(all.end(), {"--quantile-method", method, "--store", store});
      const auto rows = lines(answer(all));
      ASSERT_EQ(rows.size(), 3u);
      EXPECT_EQ(rows[0], "region,x,y,width,height,quantile_0,quantile_0.5,quantile_0.9");
      const bool lower = method == "lower";
      EXPECT_EQ(rows[1], "0,10,20,30,10," + std::to_string(sorted[0]) + "," +
                             std::to_string(sorted[lower ? 149 : 150]) + "," +
                             std::to_string(sorted[lower ? 269 : 270]));
      if (first.empty()) first = rows[2];
      EXPECT_EQ(rows[2], first);
    }
  }
  std::vector<std::string> verbose = asked;
  verbose.push_back("-v");
  EXPECT_NE(run(verbose).err.find("store none: 2 regions cover 1.1 images; rank pays from"), std::string::npos)
      << run(verbose).err;
  const auto refused = [&](std::vector<std::string> more, const std::string& sentence) {
    std::vector<std::string> all{"hist", "a.npy", "--quantile", "0.5"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome one = run(all);
    EXPECT_NE(one.code, 0);
    EXPECT_NE(one.err.find(sentence), std::string::npos) << one.err;
  };
  const std::vector<std::pair<std::string, std::string>> of_bins{
      {"--bins", "9"}, {"--percentile", "9"}, {"--weights", "a.npy"}};
  for (const auto& [option, value] : of_bins)
    refused({option, value}, option + ": not with --quantile or --store rank, which order pixels without bins");
  refused({"--chart"}, "--chart: not with --quantile");
  for (const std::string option : {"--memory", "--device-memory"})
    refused({option, "1G"}, option + ": not with --quantile or --store rank, which need the whole image");
  refused({"--devices", "cpu"}, "--devices: not with --quantile or --store rank, which need the whole image");
  refused({"--quantile", "1.5"}, "--quantile 1.5: may be 0 to 1");
  refused({"--quantile-method", "median"}, "--quantile-method median: may be inverted_cdf, ");
  refused({"--store", "compact"}, "store compact: it counts bins; give a binning, or choose none or rank");
  if (has_simt()) {
    const std::vector<std::string> small{"hist", "a.npy", "--quantile", "0.2,0.5", "--region", "3,2,20,9", "--backend"};
    std::vector<std::string> on_simt = small, on_cpu = small;
    on_simt.insert(on_simt.end(), {"simt", "-v"}), on_cpu.push_back("cpu");
    const Outcome there = run(on_simt);
    EXPECT_EQ(there.out, answer(on_cpu));
    EXPECT_NE(there.err.find("store rank: on a GPU it alone answers quantiles"), std::string::npos) << there.err;
    refused({"--backend", "simt", "--store", "none"}, "the backend simt selects no pixels of an image");
  }
  EXPECT_NE(run({"hist", "a.npy", "--quantile-method", "lower"}).err.find("--quantile-method lower: needs --quantile"),
            std::string::npos);
}

// Without the picture: query says what hist said.
TEST_F(CommandHist, StoresOnDiskAnswerAsThePicture) {
  const std::vector<std::string> regions{"--region", "3,4,20,30", "--region", "0,0,61,43", "--region", "60,42,1,1"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  write_file(work / "t.txt", "1 0 1 -1 2");
  const std::vector<std::vector<std::string>> rules{{"--bins", "9"},
                                                    {"--edges", "3,10,200.5", "--clamp"},
                                                    {"--lookup", "t.txt"},
                                                    {"--labels", "--ignore-label", "7"}};
  for (const auto& rule : rules) {
    SCOPED_TRACE(rule[0]);
    const std::string asked = answer(with(with({"hist", "a.npy", "--json"}, rule), regions));
    answer(with({"hist", "a.npy", "--store", "compact", "-o", "S.npy"}, rule));
    EXPECT_EQ(answer(with({"query", "S.npy", "--json"}, regions)), asked);
    EXPECT_EQ(answer(with(with({"hist", "a.npy", "--json", "--store", "compact", "-o", "S.npy"}, rule), regions)),
              asked);
    if (has_simt()) {
      EXPECT_EQ(answer(with({"query", "S.npy", "--json", "--backend", "simt"}, regions)), asked);
    }
  }
  EXPECT_EQ(answer(with({"query", "S.npy", "--entropy", "--median", "--csv"}, regions)),
            answer(with(with({"hist", "a.npy", "--entropy", "--median"}, rules.back()), regions)));
  const std::vector<std::string> quantiles{"--quantile", "0,0.25,0.5,1", "--quantile-method", "hazen"};
  const std::string values = answer(with(with({"hist", "a.npy"}, quantiles), regions));
  answer({"hist", "a.npy", "--store", "rank", "-o", "R.npy"});
  EXPECT_EQ(answer(with(with({"query", "R.npy"}, quantiles), regions)), values);
  EXPECT_EQ(answer(with(with({"hist", "a.npy", "-o", "R.npy"}, quantiles), regions)), values);
  EXPECT_EQ(answer(with(with({"query", "R.npy"}, quantiles), regions)), values);

  const auto refused = [&](const std::vector<std::string>& words, const std::string& sentence) {
    const Outcome one = run(words);
    EXPECT_NE(one.code, 0);
    EXPECT_EQ(one.out, "");
    EXPECT_NE(one.err.find(sentence), std::string::npos) << one.err;
  };
  refused({"query", "R.npy"}, "R.npy is a rank store; it answers --quantile, such as --quantile 0.5");
  refused({"query", "R.npy", "--entropy"}, "R.npy is a rank store, which has no bins; it answers --quantile");
  refused({"query", "R.npy", "--quantile", "0.5", "--region", "0,0,62,1"}, "61x43");
  refused({"query", "S.npy", "--quantile", "0.5"}, "--quantile: S.npy is a compact store, which counts bins");
  refused({"query", "S.npy", "--stat", "mean"}, "--stat: S.npy is a compact store, not a table of sums");
  refused({"query", "S.npy", "--squares", "R.npy"}, "--squares: S.npy is a compact store, not a table of sums");
  refused({"hist", "a.npy", "--store", "rank", "-o", "R.png"}, "R.png: a store's name must end in .npy");
  answer({"sat", "a.npy", "-o", "T.npy"});
  refused({"query", "T.npy", "--quantile", "0.5"}, "--quantile: T.npy is a table of sum; it needs a rank store");
  refused({"query", "T.npy", "--squares", "R.npy", "--stat", "std"}, "R.json: \"kind\" is 'rank'");
  refused({"hist", "data/vtest.avi", "--store", "rank", "-o", "R.npy"}, "has a store per frame");
  fs::resize_file(work / "S.npy", 1000);
  refused({"query", "S.npy"}, "S.npy: is truncated");
}

TEST_F(CommandHist, ChartsAndDrawings) {
  const auto chart = lines(answer({"hist", "a.npy", "--bins", "4", "--chart"}));
  ASSERT_EQ(chart.size(), 5u);
  EXPECT_EQ(chart[0], "region 0: 0,0,61,43");
  EXPECT_NE(chart[1].find("0 .. 64"), std::string::npos);
  EXPECT_NE(answer({"hist", "a.npy", "--bins", "4", "--chart"}).find("█"), std::string::npos);
  answer({"hist", "a.npy", "--bins", "4", "--region", "5,5,20,20", "--draw", "d.png"});
  // The output is a picture of at least the same size, and differs from the input.
  const auto drawn = json_lines(answer({"sat", "d.png", "--json"})).at(0);
  EXPECT_GE(drawn["width"].get<int>(), width);
  EXPECT_NE(drawn["sum"], direct_sum(0, 0, width, height));
}

}  // namespace
}  // namespace areal::test
