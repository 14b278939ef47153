// areal bench track with fewer sequences and frames: its table, claims and records agree, the fragments reach what they
// must where the light is even, and are better than the others where half the patch is hidden.

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

class CommandBenchTrack : public CommandTest {
 protected:
  Outcome bench(std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "track", "--threads", "1", "--json", "records.json"});
    return run(more);
  }
  // By tracker, then family.
  std::map<std::string, std::map<std::string, Json>> records() {
    std::map<std::string, std::map<std::string, Json>> found;
    for (const Json& row : Json::parse(contents(work / "records.json"))) found[row["algorithm"]][row["family"]] = row;
    return found;
  }
};

TEST_F(CommandBenchTrack, TheTableSaysWhatTheRecordsSay) {
  const Outcome outcome = bench({"--repetitions", "2", "--items", "60"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto found = records();
  ASSERT_EQ(found.size(), 4u);
  const std::vector<std::string> families{"plain", "scale", "occluded", "twin", "all"};
  for (auto& [tracker, rows] : found) {
    ASSERT_EQ(rows.size(), families.size()) << tracker;
    std::istringstream table(outcome.out);
    std::string line, word;
    while (std::getline(table, line) && !line.starts_with(tracker)) {
    }
    std::istringstream cells(line);
    cells >> word;
    for (const std::string& family : families) {
      const Json& row = rows[family];
      char expected[16];
      std::snprintf(expected, sizeof expected, "%.2f", row["iou"].get<double>());
      cells >> word;
      EXPECT_EQ(word, expected) << tracker << " " << family << "\n" << outcome.out;
      EXPECT_EQ(row["sequences"], 2);
      EXPECT_EQ(row["batch"], 60);
      EXPECT_EQ(row["bins"], 16);
      EXPECT_GT(row["time_us"]["median"], 0);
      EXPECT_EQ(row.contains("must_reach"), tracker == "fragments");
    }
  }
  std::istringstream table(outcome.out);
  std::string line;
  while (std::getline(table, line) && !line.starts_with("  back, px")) {
  }
  std::istringstream back(line.substr(std::min<std::size_t>(line.size(), 10)));
  for (const std::string& family : families) {
    double pixels = -1;
    back >> pixels;
    EXPECT_NEAR(pixels, found["fragments"][family]["back_pixels"].get<double>(), 0.051) << outcome.out;
    EXPECT_FALSE(found["window"][family].contains("back_pixels"));
  }
  EXPECT_LT(found["fragments"]["plain"]["back_pixels"], 10);  // where it did not lose the patch
  for (const char* family : {"plain", "scale", "occluded", "twin"}) {
    const Json& row = found["fragments"][family];
    EXPECT_GE(row["iou"], row["must_reach"]) << family;
    EXPECT_EQ(row["lost"], 0) << family;
  }
  bool reaches = true, loses = false, stays_below = true;
  for (const char* tracker : {"window", "exhaustive", "mean-shift"}) {
    EXPECT_LT(found[tracker]["all"]["iou"], found["fragments"]["all"]["iou"]) << tracker;
    EXPECT_LT(found[tracker]["occluded"]["iou"], found["fragments"]["occluded"]["iou"]) << tracker;
    stays_below = stays_below && found[tracker]["all"]["iou"] < 0.55;
  }
  for (const auto& [family, row] : found["fragments"]) {
    reaches = reaches && row["iou"] >= row["must_reach"];
    loses = loses || row["lost"] > 0;
  }
  const auto claimed = [&](const std::string& words, bool holds) {
    EXPECT_NE(outcome.out.find(words + (holds ? ": yes\n" : ": no\n")), std::string::npos) << words << outcome.out;
  };
  claimed("fragments reaches what it must", reaches);
  claimed("fragments loses no sequence", !loses);
  claimed("the others stay below 0.55 on all", stays_below);
  EXPECT_NE(outcome.out.find("These are fewer"), std::string::npos) << outcome.out;
}

TEST_F(CommandBenchTrack, IsSeeded) {
  const std::vector<std::string> ask{"--repetitions", "1", "--items", "6", "--size", "160x140"};
  ASSERT_EQ(bench(ask).code, 0);
  const auto first = records();
  ASSERT_EQ(bench(ask).code, 0);
  auto second = records();
  for (const auto& [tracker, rows] : first)
    for (const auto& [family, row] : rows) EXPECT_EQ(row["iou"], second[tracker][family]["iou"]) << tracker << family;
}

TEST_F(CommandBenchTrack, RefusesWrongUse) {
  const auto refused = [&](std::vector<std::string> more, const std::string& words, int code) {
    const Outcome outcome = bench(std::move(more));
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  };
  refused({"--size", "99x240"}, "--size 99x240: bench track needs 100x100 or more", 2);
  refused({"--items", "1"}, "--items 1: bench track needs 2 frames or more", 2);
  refused({"--size", "3000x3000"}, "data: holds 0 pictures of 3000x3000 pixels or more, bench track needs 2", 1);
  refused({"none"}, "none: is no folder of pictures", 1);
}

}  // namespace
}  // namespace areal::test
