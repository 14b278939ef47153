// The command's answers for good input, each compared with sums computed here, pixel by pixel.

#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <areal/research/sat.hpp>
#include <areal/version.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include "command_answers.hpp"

namespace areal::test {
namespace {

class Command : public CommandOnOneImage {};

TEST_F(Command, VersionLoadsNoPlugIn) {
  const Outcome version = run({"--version"}, "", {"LD_DEBUG=files"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "areal " AREAL_VERSION_STRING "\n");
  EXPECT_EQ(version.err.find("areal_pictures"), std::string::npos);
  EXPECT_EQ(version.err.find("areal_video"), std::string::npos);
  EXPECT_EQ(version.err.find("OpenImageIO"), std::string::npos);
  // The check can fail: a picture does load the plug-in.
  write_file(work / "a.pgm", pgm(width, height));
  const Outcome picture = run({"sat", "a.pgm"}, "", {"LD_DEBUG=files"});
  EXPECT_NE(picture.err.find("areal_pictures"), std::string::npos);
}

TEST_F(Command, SatAnswersRegions) {
  const std::string csv =
      answer({"sat", "a.npy", "--region", "0,0,61,43", "--region", "10,20,7,5", "--region", "60,42,1,1"});
  std::string expected = "region,x,y,width,height,sum\n";
  expected += "0,0,0,61,43," + std::to_string(direct_sum(0, 0, 61, 43)) + "\n";
  expected += "1,10,20,7,5," + std::to_string(direct_sum(10, 20, 7, 5)) + "\n";
  expected += "2,60,42,1,1," + std::to_string(pixel(60, 42)) + "\n";
  EXPECT_EQ(csv, expected);
}

TEST_F(Command, SatAnswersEveryStat) {
  write_file(work / "r.csv", "x,y,width,height,name\n10,20,7,5,door\n");
  const auto rows = json_lines(
      answer({"sat", "a.npy", "--regions", "r.csv", "--stat", "sum,mean", "--stat", "variance,std", "--json"}));
  ASSERT_EQ(rows.size(), 1u);
  double mean = 0, variance = 0;
  for (int y = 20; y < 25; ++y)
    for (int x = 10; x < 17; ++x) mean += pixel(x, y) / 35.0;
  for (int y = 20; y < 25; ++y)
    for (int x = 10; x < 17; ++x) variance += (pixel(x, y) - mean) * (pixel(x, y) - mean) / 35;
  EXPECT_EQ(rows[0]["region"], "door");
  EXPECT_EQ(rows[0]["sum"], direct_sum(10, 20, 7, 5));
  EXPECT_NEAR(rows[0]["mean"].get<double>(), mean, 1e-9);
  EXPECT_NEAR(rows[0]["variance"].get<double>(), variance, 1e-7);
  EXPECT_NEAR(rows[0]["std"].get<double>(), std::sqrt(variance), 1e-7);
}

TEST_F(Command, SatSummarisesWithoutRegions) {
  const auto rows = json_lines(answer({"sat", "a.npy", "--json"}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["width"], width);
  EXPECT_EQ(rows[0]["lane"], "8u32u");
  EXPECT_EQ(rows[0]["sum"], direct_sum(0, 0, width, height));
  EXPECT_FALSE(rows[0]["algorithm"].get<std::string>().empty());
  EXPECT_EQ(lines(answer({"sat", "a.npy"})).size(), 1u);
}

TEST_F(Command, CountsWhatALaunchDoes) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  // One tile of 61x43 bytes and its table with a row and a column of zeros; three launches of a tensor.
  const auto sat = json_lines(answer({"sat", "a.npy", "--backend", "simt", "--count", "--json"}));
  ASSERT_EQ(sat.size(), 1u);
  ASSERT_EQ(sat[0]["launches"].size(), 1u);
  EXPECT_EQ(sat[0]["launches"][0]["kernel"], "Lookback");
  EXPECT_EQ(sat[0]["launches"][0]["blocks"], 1);
  EXPECT_EQ(sat[0]["launches"][0]["reads"]["elements"], width * height);
  EXPECT_EQ(sat[0]["launches"][0]["writes"]["elements"], (width + 1) * (height + 1));
  const auto hist = json_lines(
      answer({"hist", "a.npy", "--backend", "simt", "--count", "--bins", "4", "--region", "0,0,9,9", "--json"}));
  ASSERT_EQ(hist.size(), 2u);
  EXPECT_TRUE(hist[0].contains("counts"));
  ASSERT_EQ(hist[1]["launches"].size(), 3u);
  EXPECT_EQ(hist[1]["launches"][2]["kernel"], "ReduceThenScanWrite");
  EXPECT_EQ(hist[1]["launches"][2]["writes"]["elements"], 4 * width * height);
  // Without --json stdout is the same as without --count, and the table goes to standard error.
  const std::vector<std::string> plain{"hist", "a.npy", "--backend", "simt", "--bins", "4"};
  std::vector<std::string> counted = plain;
  counted.push_back("--count");
  const Outcome outcome = run(counted);
  EXPECT_EQ(outcome.out, answer(plain));
  const auto table = lines(outcome.err);
  ASSERT_EQ(table.size(), 15u) << outcome.err;
  for (const char* kernel : {"ReduceThenScanCount", "ReduceThenScanWalk", "ReduceThenScanWrite", "all"})
    EXPECT_NE(table[0].find(kernel), std::string::npos) << table[0];
  EXPECT_EQ(table[1].rfind("blocks  ", 0), 0u) << table[1];
  // One line for each frame.
  write_file(work / "two.npy",
             npy("|u1", "43, 61", pixels(width, height)) + npy("|u1", "43, 61", pixels(width, height)));
  const auto frames =
      json_lines(answer({"sat", "-", "--backend", "simt", "--count", "--json"}, contents(work / "two.npy")));
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[3]["frame"], 1);
  EXPECT_EQ(frames[3]["launches"], frames[1]["launches"]);
}

TEST_F(Command, TheWarpScanHasTwoNames) {
  if (!has_simt()) GTEST_SKIP() << "no simulated machine";
  write_file(work / "six.npy", npy("|u1", "2, 3", std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  for (const char* option : {"--scan", "--warp-scan"})
    for (const char* scan : {"kogge-stone", "ladner-fischer"}) {
      const Outcome outcome = run({"sat", "six.npy", "--backend", "simt", "--algorithm", "scanrow-brlt", option, scan});
      EXPECT_NE(outcome.out.find(std::string("with the warp scan ") + scan), std::string::npos)
          << outcome.out << outcome.err;
      EXPECT_NE(outcome.out.find(", sum 21,"), std::string::npos) << outcome.out;
    }
  EXPECT_NE(answer({"sat", "--help"}).find("--scan"), std::string::npos);
}

TEST_F(Command, EveryAlgorithmAndBorderSaysTheSame) {
  for (const Algorithm& row : algorithms())
    for (const char* border : {"zero", "none", "exclusive"}) {
      if (!row.cpu || (row.family != "sat" && row.family != "histogram")) continue;
      SCOPED_TRACE(std::string(row.id) + " " + border);
      if (row.family == "sat") {
        const std::string csv =
            answer({"sat", "a.npy", "--algorithm", std::string(row.id), "--border", border, "--region", "3,4,20,30"});
        std::string cell = std::to_string(direct_sum(3, 4, 20, 30)) + "\n";
        cell.insert(cell.begin(), ',');  // GCC 12 gives a false warning for "," + std::to_string(..)
        EXPECT_NE(csv.find(cell), std::string::npos) << csv;
      } else if (std::string(border) != "exclusive") {
        const auto rows = json_lines(
            answer({"hist", "a.npy", "--algorithm", std::string(row.id), "--border", border, "--bins", "4", "--json"}));
        std::uint64_t counted = 0;
        for (const Json& count : rows.at(0)["counts"]) counted += count.get<std::uint64_t>();
        EXPECT_EQ(counted, static_cast<std::uint64_t>(width * height));
      }
    }
}

TEST_F(Command, SavedTablesAnswerTheSame) {
  EXPECT_EQ(answer({"sat", "a.npy", "-o", "T.npy", "--squares", "--tilted"}), "");
  for (const char* name : {"T.npy", "T.json", "T.squares.npy", "T.squares.json", "T.tilted.npy", "T.tilted.json"})
    EXPECT_TRUE(fs::exists(work / name)) << name;
  const std::vector<std::string> region{"--region", "5,6,20,10", "--stat", "sum,mean,variance"};
  std::vector<std::string> direct{"sat", "a.npy"}, saved{"query", "T.npy"};
  direct.insert(direct.end(), region.begin(), region.end());
  saved.insert(saved.end(), region.begin(), region.end());
  const std::string rows = answer(direct);
  EXPECT_EQ(answer(saved), rows);
  EXPECT_NE(rows.find(std::to_string(direct_sum(5, 6, 20, 10))), std::string::npos);
  // The tilted table: one pixel down-right and one down-left of (20, 10) are the two pixels (19, 10) and (19, 11)...
  const auto tilted = json_lines(answer({"query", "T.tilted.npy", "--region", "20,10,1,1", "--json"}));
  EXPECT_EQ(tilted.at(0)["tilted"].get<double>(), pixel(19, 10) + pixel(19, 11));
  EXPECT_EQ(others({"a.npy", "T.npy", "T.json", "T.squares.npy", "T.squares.json", "T.tilted.npy", "T.tilted.json"}),
            std::vector<std::string>());
}

TEST_F(Command, TheSavedTableIsTheTable) {
  answer({"sat", "a.npy", "-o", "T.npy", "--types", "8u64u"});
  const std::string bytes = contents(work / "T.npy");
  const std::size_t cells = (width + 1) * (height + 1);
  ASSERT_GT(bytes.size(), cells * 8);
  std::vector<std::uint64_t> table(cells);
  std::memcpy(table.data(), bytes.data() + (bytes.size() - cells * 8), cells * 8);
  EXPECT_NE(bytes.find("(44, 62)"), std::string::npos);
  for (int y = 0; y <= height; y += 7)
    for (int x = 0; x <= width; x += 5)
      EXPECT_EQ(table[static_cast<std::size_t>(y * (width + 1) + x)], direct_sum(0, 0, x, y));
}

TEST_F(Command, MaskedMeansAreOverValidPixels) {
  std::vector<std::uint8_t> mask(width * height, 0);
  double sum = 0, count = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if ((x + y) % 3 == 0) mask[static_cast<std::size_t>(y * width + x)] = 1, sum += pixel(x, y), ++count;
  write_file(work / "m.npy", npy("|u1", "43, 61", mask));
  const auto rows = json_lines(answer({"sat", "a.npy", "--mask", "m.npy", "--stat", "sum,count,mean", "--json"}));
  EXPECT_EQ(rows.at(0)["sum"].get<double>(), sum);
  EXPECT_EQ(rows.at(0)["count"].get<double>(), count);
  EXPECT_NEAR(rows.at(0)["mean"].get<double>(), sum / count, 1e-9);
}

TEST_F(Command, NanIsLeftOutOnRequest) {
  write_file(work / "f.npy", npy("<f4", "1, 3", std::vector<float>{1, NAN, 3}));
  EXPECT_EQ(json_lines(answer({"sat", "f.npy", "--region", "0,0,3,1", "--json"})).at(0)["sum"], nullptr);
  const auto rows =
      json_lines(answer({"sat", "f.npy", "--ignore-nan", "--region", "0,0,3,1", "--stat", "sum,mean", "--json"}));
  EXPECT_EQ(rows.at(0)["sum"], 4.0);
  EXPECT_EQ(rows.at(0)["mean"], 2.0);
}

TEST_F(Command, EveryBackendTakesEveryOption) {
  write_file(work / "f.npy", npy("<f4", "2, 3", std::vector<float>{1, NAN, 3, 4, 5, NAN}));
  write_file(work / "m.npy", npy("|u1", "2, 3", std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1}));
  write_file(work / "v.npy", npy("|u1", "2, 1, 2", std::vector<std::uint8_t>{1, 2, 30, 40}));
  for (const BackendInfo& row : backends()) {
    if (!row.available) continue;
    const std::string backend(name_of(row.backend));
    const auto rows =
        json_lines(answer({"sat", "f.npy", "--backend", backend, "--squares", "--tilted", "--mask", "m.npy",
                           "--ignore-nan", "--region", "0,0,3,2", "--stat", "sum,count,variance", "--json"}));
    EXPECT_EQ(rows.at(0)["sum"], 9.0) << backend;
    EXPECT_EQ(rows.at(0)["count"], 3.0) << backend;
    EXPECT_NEAR(rows.at(0)["variance"].get<double>(), 8.0 / 3, 1e-12) << backend;  // of 1, 3 and 5
    const auto tilted = json_lines(
        answer({"sat", "a.npy", "--backend", backend, "--region", "20,10,1,1", "--stat", "tilted", "--json"}));
    EXPECT_EQ(tilted.at(0)["tilted"].get<double>(), pixel(19, 10) + pixel(19, 11)) << backend;
    EXPECT_EQ(json_lines(answer({"sat", "v.npy", "--backend", backend, "--volume", "--json"})).at(0)["sum"], 73)
        << backend;
  }
}

TEST_F(Command, TypesByDefaultAndWidened) {
  write_file(work / "w.npy", npy("<u2", "1, 2", std::vector<std::uint16_t>{65535, 65535}));
  EXPECT_EQ(json_lines(answer({"sat", "w.npy", "--json"})).at(0)["lane"], "16u64u");
  const auto wide = json_lines(answer({"sat", "a.npy", "--types", "32f64f", "--json"}));
  EXPECT_EQ(wide.at(0)["lane"], "32f64f");
  EXPECT_EQ(wide.at(0)["sum"].get<double>(), static_cast<double>(direct_sum(0, 0, width, height)));
}

TEST_F(Command, StandardInputIsOneArrayOrMany) {
  const std::string one = npy("|u1", "43, 61", pixels(width, height));
  const std::string sum = std::to_string(direct_sum(1, 2, 3, 4));
  EXPECT_EQ(answer({"sat", "-", "--region", "1,2,3,4"}, one), "region,x,y,width,height,sum\n0,1,2,3,4," + sum + "\n");
  EXPECT_EQ(
      answer({"sat", "-", "--region", "1,2,3,4"}, one + one + one),
      "frame,region,x,y,width,height,sum\n0,0,1,2,3,4," + sum + "\n1,0,1,2,3,4," + sum + "\n2,0,1,2,3,4," + sum + "\n");
}

TEST_F(Command, RawPixelsAndChannels) {
  const std::vector<std::uint8_t> values = pixels(width, height);
  write_file(work / "a.raw", std::string(values.begin(), values.end()));
  const std::string sum = std::to_string(direct_sum(1, 2, 3, 4));
  EXPECT_EQ(answer({"sat", "a.raw", "--raw", "61x43x8u", "--region", "1,2,3,4"}),
            "region,x,y,width,height,sum\n0,1,2,3,4," + sum + "\n");
  const std::string frame(values.begin(), values.end());
  EXPECT_EQ(answer({"sat", "-", "--raw", "61x43x8u", "--region", "1,2,3,4"}, frame),
            "region,x,y,width,height,sum\n0,1,2,3,4," + sum + "\n");
  EXPECT_EQ(answer({"sat", "-", "--raw", "61x43x8u", "--region", "1,2,3,4"}, frame + frame),
            "frame,region,x,y,width,height,sum\n0,0,1,2,3,4," + sum + "\n1,0,1,2,3,4," + sum + "\n");
  EXPECT_EQ(run({"sat", "-", "--raw", "61x43x8u"}, "").err, "areal: standard input: holds no frame\n");
  EXPECT_NE(run({"sat", "-", "--raw", "61x43x8u"}, frame.substr(1)).err.find("the last frame is cut"),
            std::string::npos);
  write_file(work / "c.npy", npy("|u1", "1, 2, 3", std::vector<std::uint8_t>{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(json_lines(answer({"sat", "c.npy", "--channel", "1", "--json"})).at(0)["sum"], 70);
  EXPECT_EQ(json_lines(answer({"sat", "c.npy", "--all-channels", "--json"})).at(0)["sum"], (Json{50, 70, 90}));
  // Luma: 18.15 and 48.15, rounded.
  EXPECT_EQ(json_lines(answer({"sat", "c.npy", "--json"})).at(0)["sum"], 18 + 48);
}

TEST_F(Command, VolumesSumAlongDepth) {
  write_file(work / "v.npy",
             npy("|u1", "3, 2, 2", std::vector<std::uint8_t>{1, 2, 3, 4, 10, 20, 30, 40, 100, 100, 100, 100}));
  EXPECT_EQ(json_lines(answer({"sat", "v.npy", "--volume", "--json"})).at(0)["sum"], 10 + 100 + 400);
  const auto rows = json_lines(answer({"sat", "v.npy", "--volume", "--region", "1,0,1,2", "-o", "V.npy", "--json"}));
  EXPECT_EQ(rows.at(0)["sum"], 6.0 + 60 + 200);
  EXPECT_EQ(json_lines(answer({"query", "V.npy", "--region", "1,0,1,2", "--json"})).at(0)["sum"], 6.0 + 60 + 200);
}

TEST_F(Command, AFolderIsASequence) {
  fs::create_directory(work / "folder");
  write_file(work / "folder" / "p1.pgm", pgm(width, height));
  write_file(work / "folder" / "p2.pgm", pgm(width, height));
  const auto rows = json_lines(answer({"sat", "folder", "--region", "1,2,3,4", "--region", "0,0,1,1", "--json"}));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2]["frame"], 1);
  EXPECT_EQ(rows[2]["sum"], direct_sum(1, 2, 3, 4));
}

TEST_F(Command, AVideoGivesARowPerFrameAndRegion) {
  const auto rows = json_lines(
      answer({"hist", "data/vtest.avi", "--bins", "4", "--region", "0,0,50,40", "--region", "9,9,1,1", "--json"}));
  ASSERT_GT(rows.size(), 20u);
  ASSERT_EQ(rows.size() % 2, 0u);
  double last = -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["frame"], i / 2);
    std::uint64_t counted = 0;
    for (const Json& count : rows[i]["counts"]) counted += count.get<std::uint64_t>();
    EXPECT_EQ(counted, i % 2 ? 1u : 2000u);
    if (i % 2) continue;
    EXPECT_GT(rows[i]["seconds"].get<double>(), last);
    last = rows[i]["seconds"].get<double>();
  }

  // A truncated clip gives the same rows for the frames before the damage, and reports the damage.
  const std::string clip = contents(work / "data" / "vtest.avi");
  write_file(work / "cut.avi", clip.substr(0, clip.size() / 3));
  const Outcome cut = run({"hist", "cut.avi", "--bins", "4", "--region", "0,0,50,40", "--region", "9,9,1,1", "--json"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_EQ(cut.err.rfind("areal: cut.avi: ", 0), 0u) << cut.err;
  const auto before = json_lines(cut.out);
  ASSERT_GT(before.size(), 10u);
  ASSERT_LT(before.size(), rows.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), rows.begin()));
}

TEST_F(Command, WindowsMeanAndThreshold) {
  answer({"window", "a.npy", "--size", "5x3", "--mean", "-o", "m.npy"});
  answer({"window", "a.npy", "--size", "5x3", "--threshold", "15", "-o", "t.png"});
  answer({"window", "a.npy", "--size", "5x3", "--std", "--edge", "valid", "-o", "s.png"});
  EXPECT_EQ(json_lines(answer({"sat", "s.png", "--json"})).at(0)["width"], width - 4);
  const std::string bytes = contents(work / "m.npy");
  std::vector<double> means(width * height);
  std::memcpy(means.data(), bytes.data() + (bytes.size() - means.size() * 8), means.size() * 8);
  std::uint64_t white = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int x0 = std::max(0, x - 2), x1 = std::min(width, x + 3), y0 = std::max(0, y - 1),
                y1 = std::min(height, y + 2);
      const std::uint64_t sum = direct_sum(x0, y0, x1 - x0, y1 - y0),
                          count = static_cast<std::uint64_t>((x1 - x0) * (y1 - y0));
      EXPECT_NEAR(means[static_cast<std::size_t>(y * width + x)], static_cast<double>(sum) / static_cast<double>(count),
                  1e-9);
      if (pixel(x, y) * count * 100 > sum * 85) ++white;
    }
  EXPECT_EQ(json_lines(answer({"sat", "t.png", "--json"})).at(0)["sum"], white * 255);
}

// A row of 1, 2, 3 in each of three channels, 1, 10 and 100 times: windows of 1 + 2 beyond the left edge.
TEST_F(Command, WindowsSeeTheirEdgesInEveryChannel) {
  write_file(work / "c.npy", npy("|u1", "1, 3, 3", std::vector<std::uint8_t>{1, 10, 100, 2, 20, 200, 3, 30, 30}));
  const auto first = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"window", "c.npy", "--all-channels", "--size", "5x1", "--sum", "-o", "w.npy", "--edge"});
    answer(words);
    const std::string bytes = contents(work / "w.npy");
    std::vector<double> sums(9);
    std::memcpy(sums.data(), bytes.data() + (bytes.size() - 72), 72);
    return std::vector<double>(sums.begin(), sums.begin() + 3);
  };
  using Sums = std::vector<double>;  // of the window at the first pixel, whose centre that is
  EXPECT_EQ(first({"shrink"}), (Sums{6, 60, 330}));
  EXPECT_EQ(first({"reflect"}), (Sums{11, 110, 560}));
  EXPECT_EQ(first({"symmetric"}), (Sums{9, 90, 630}));
  EXPECT_EQ(first({"wrap"}), (Sums{11, 110, 560}));
  EXPECT_EQ(first({"replicate"}), (Sums{8, 80, 530}));
  EXPECT_EQ(first({"constant", "--value", "7"}), (Sums{20, 74, 344}));
  EXPECT_EQ(first({"constant"}), first({"zero"}));
}

TEST_F(Command, AlgorithmsListsTheCatalogue) {
  const Json list = Json::parse(answer({"algorithms", "--json"}));
  ASSERT_EQ(list.size(), algorithms().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i]["family"], algorithms()[i].family);
    EXPECT_EQ(list[i]["id"], algorithms()[i].id);
    for (const char* key : {"source", "backends", "lanes", "reads_per_element", "writes_per_element", "barrier_steps",
                            "deterministic", "takes"})
      EXPECT_TRUE(list[i].contains(key)) << key;
    EXPECT_FALSE(list[i]["backends"].empty());
    if (list[i]["family"] == "histogram" || list[i]["family"] == "filter") continue;
    std::vector<std::string> lanes;
    for (const TypePair types : type_pairs_of(algorithms()[i])) lanes.push_back(name_of(types));
    EXPECT_EQ(list[i]["lanes"], lanes);
  }
  EXPECT_EQ(list[0]["reads_per_element"], 2);
  EXPECT_EQ(lines(answer({"algorithms"})).size(), algorithms().size() + 1);
  std::map<std::pair<std::string, std::string>, Json> takes;
  for (const Json& row : list)
    if (!row["takes"].empty()) takes[{row["family"], row["id"]}] = row["takes"];
  const std::map<std::pair<std::string, std::string>, Json> expected = {
      {{"sat", "hybrid-1r1w"}, {"r"}},
      {{"sat", "scanrow-brlt"}, {"scan"}},
      {{"sat", "scanrow-column"}, {"scan"}},
      {{"histogram", "cw-tis"}, {"tile", "tile-threads"}},
      {{"histogram", "wf-tis"}, {"tile", "tile-threads"}},
      {{"scan", "naive"}, {"threads"}},
      {{"scan", "optimal"}, {"threads"}},
      {{"scan", "sequential-parallel"}, {"threads", "k"}}};
  EXPECT_EQ(takes, expected);
}

TEST_F(Command, InfoSaysWhatIsThere) {
  const Json info = Json::parse(answer({"info", "--json"}));
  EXPECT_EQ(info["version"], AREAL_VERSION_STRING);
  EXPECT_GE(info["threads"].get<int>(), 1);
  EXPECT_FALSE(info["simd"].empty());
  bool cpu = false;
  for (const Json& backend : info["backends"]) cpu |= backend["name"] == "cpu" && backend["available"] == true;
  EXPECT_TRUE(cpu);
  const auto files = info["plug_ins"]["files"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(files.begin(), files.end(), "areal_pictures.so"), files.end()) << info;
  const std::string place = info["plug_ins"]["folder"];
  EXPECT_NE(answer({"info"}).find("plug-ins  " + place + ": areal_pictures.so"), std::string::npos);
  const Outcome nowhere = shell("AREAL_PLUGIN_DIR=/nowhere areal info");
  EXPECT_NE(nowhere.out.find("plug-ins  /nowhere: none\n"), std::string::npos) << nowhere.out;
}

TEST_F(Command, CompletionCompletes) {
  const Outcome verbs =
      shell("source <(areal completion bash); COMP_WORDS=(areal wi); COMP_CWORD=1; _areal; echo \"${COMPREPLY[@]}\"");
  EXPECT_EQ(verbs.out, "window\n") << verbs.err;
  const Outcome options = shell(
      "source <(areal completion bash); COMP_WORDS=(areal hist --ent); COMP_CWORD=2; _areal; echo \"${COMPREPLY[@]}\"");
  EXPECT_EQ(options.out, "--entropy\n") << options.err;
  EXPECT_NE(answer({"completion", "zsh"}).find("bashcompinit"), std::string::npos);
  EXPECT_NE(answer({"completion", "fish"}).find("complete -c areal -n __fish_use_subcommand -f -a hist"),
            std::string::npos);
}

// Runs the example in every verb's --help.
TEST_F(Command, EveryVerbsExampleRuns) {
  const std::string help = answer({"--help"});
  for (const char* verb : {"sat", "hist", "query", "window", "scan", "track", "algorithms", "model", "bench", "info",
                           "help", "completion"}) {
    SCOPED_TRACE(verb);
    EXPECT_NE(help.find("\n  " + std::string(verb) + " "), std::string::npos);
    const std::string text = answer({verb, "--help"});
    if ((std::string(verb) == "bench" || std::string(verb) == "model") && !has_laboratory()) continue;
    if (std::string(verb) == "model" && !has_simt()) continue;
    const std::size_t at = text.find("Example:\n  areal ");
    ASSERT_NE(at, std::string::npos) << text;
    const std::size_t from = at + 11;
    const Outcome outcome = shell("set -e\n" + text.substr(from, text.find('\n', from) - from));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Command, HybridTakesTheBestR) {
  if (!has_simt()) GTEST_SKIP() << "it runs on the simulated machine";
  const auto with = [&](const std::string& r) {
    const Outcome outcome = run({"sat", "a.npy", "--backend", "simt", "--algorithm", "hybrid-1r1w", "--r", r,
                                 "--border", "none", "--json", "-v"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return std::pair(Json::parse(outcome.out, nullptr, false), outcome.err);
  };
  write_file(work / "a.npy", npy("|u1", "96, 160", pixels(160, 96)));
  const double best = research::best_hybrid_share(
      {160, 96}, Type::u8, {.border = Border::none, .types = type_pair("8u32u"), .algorithm = "hybrid-1r1w"},
      {.backend = Backend::simt});
  const auto [json, said] = with("best");
  EXPECT_EQ(json["reason"], with(std::to_string(best)).first["reason"]);
  EXPECT_EQ(json["sum"], direct_sum(0, 0, 160, 96));
  EXPECT_NE(said.find("of the shares that were tried, r "), std::string::npos) << said;
  EXPECT_NE(said.find("has the least global memory access cost"), std::string::npos) << said;
  const Outcome other = run({"sat", "a.npy", "--r", "best", "--algorithm", "1r1w", "--backend", "simt"});
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.err, "areal: --r best: only hybrid-1r1w has it\n");
  EXPECT_EQ(run({"sat", "a.npy", "--r", "best", "--algorithm", "hybrid-1r1w", "--backend", "cpu"}).code, 2);
}

TEST_F(Command, QuietAndPipesAreSilent) {
  EXPECT_EQ(run({"sat", "a.npy", "-v", "--quiet"}).err, "");
  EXPECT_EQ(run({"sat", "a.npy"}).err, "");
  EXPECT_NE(run({"sat", "a.npy", "-v"}).err.find("types 8u32u"), std::string::npos);
}

TEST_F(Command, VerboseGivesThePlansReason) {
  const Outcome outcome = run({"sat", "a.npy", "-v", "--json"});
  const Json row = Json::parse(outcome.out);
  const std::string reason = row["reason"].get<std::string>();
  EXPECT_FALSE(reason.empty());
  EXPECT_NE(outcome.err.find("algorithm " + row["algorithm"].get<std::string>() + " (" + reason + ")"),
            std::string::npos)
      << outcome.err;
}

// Old scripts say --lane for --types.
TEST_F(Command, LaneIsASilentNameOfTypes) {
  for (const char* verb : {"sat", "scan"}) {
    SCOPED_TRACE(verb);
    write_file(work / "line.npy", npy("|u1", "3,", std::vector<std::uint8_t>{1, 2, 3}));
    const std::string input = std::string(verb) == "scan" ? "line.npy" : "a.npy";
    for (const char* option : {"--types", "--lane"})
      EXPECT_EQ(json_lines(answer({verb, input, option, "16s64s", "--json"})).at(0)["lane"], "16s64s");
    EXPECT_EQ(run({verb, input, "--lane", "8u64u"}).err, "");
    EXPECT_EQ(run({verb, input, "--lane", "8u16u"}).err.rfind("areal: --types 8u16u: may be 8u32u, ", 0), 0u);
    const std::string help = answer({verb, "--help"});
    EXPECT_NE(help.find("--types TYPES"), std::string::npos) << help;
    EXPECT_EQ(help.find("--lane"), std::string::npos) << help;
  }
  for (const char* shell : {"bash", "fish"}) {
    const std::string script = answer({"completion", shell});
    EXPECT_NE(script.find(shell == std::string("fish") ? "-l types" : "--types"), std::string::npos);
    EXPECT_EQ(script.find("lane"), std::string::npos);
  }
}

// Four squares of 4e9 do not fit 64 bits.
TEST_F(Command, SquaresOfWideIntegersDoNotWrap) {
  write_file(work / "wide.npy", npy("<u4", "2, 2", std::vector<std::uint32_t>{4000000000u, 4000000000u, 0, 0}));
  std::vector<std::string> words{"sat", "wide.npy", "--stat", "variance", "--json"};
  EXPECT_EQ(json_lines(answer(words)).at(0)["variance"], 4e18);
  words.push_back("--squares=64u");  // which would wrap
  expect_failure(words, 2, "its sum of squares may exceed 64u");
}

}  // namespace
}  // namespace areal::test
