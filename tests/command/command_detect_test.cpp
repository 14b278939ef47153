// areal detect: boxes of arrays and pictures, and what it refuses.

#include <areal/cascade.hpp>
#include "command_answers.hpp"

namespace areal::test {
namespace {

constexpr const char* cells = AREAL_SOURCE_DIR "/data/cells.xml";
constexpr const char* page = AREAL_SOURCE_DIR "/data/sudoku.png";
constexpr const char* clip = AREAL_SOURCE_DIR "/data/vtest.avi";

class CommandCascade : public CommandTest {
 protected:
  static constexpr int width = 97, height = 71;
  void SetUp() override {
    CommandTest::SetUp();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        bytes.push_back(x % 31 < 3 || y % 31 < 3 ? std::uint8_t{30} : static_cast<std::uint8_t>(200 + (x * y) % 8));
    write_file(work / "a.npy", npy("|u1", "71, 97", bytes));
  }
  std::vector<std::uint8_t> bytes;  // a grid of dark lines
};

TEST_F(CommandCascade, BoxesAreTheLibrarys) {
  const Cascade cascade = Cascade::load(cells);
  std::string expected = "x,y,width,height,neighbors\n";
  const auto boxes = detect(cascade, ConstView(bytes.data(), Type::u8, {width, height}), {1.2, 0, {30, 26}, {60, 60}});
  for (const Detection& box : boxes)
    expected += std::to_string(box.x) + ',' + std::to_string(box.y) + ',' + std::to_string(box.width) + ',' +
                std::to_string(box.height) + ',' + std::to_string(box.neighbors) + '\n';
  const std::string said = answer({"detect", "a.npy", "--cascade", cells, "--scale-factor", "1.2", "--min-neighbors",
                                   "0", "--min-size", "30x26", "--max-size", "60"});
  EXPECT_EQ(said, expected);
  EXPECT_FALSE(boxes.empty());
}

TEST_F(CommandCascade, FindsTheCellsOfASudoku) {
  const auto found = lines(
      answer({"detect", page, "--cascade", cells, "--min-size", "40", "--max-size", "60", "--draw", "cells.png"}));
  EXPECT_EQ(found[0], "x,y,width,height,neighbors");
  EXPECT_GT(found.size(), 30u);
  EXPECT_TRUE(std::filesystem::exists(work / "cells.png"));
  const std::string json =
      answer({"detect", page, "--cascade", cells, "--min-size", "40", "--max-size", "60", "--json"});
  EXPECT_NE(json.find("\"neighbors\""), std::string::npos);
}

TEST_F(CommandCascade, FramesHaveNumbers) {
  const std::string said = answer({"detect", clip, "--cascade", cells, "--min-size", "300", "--min-neighbors", "0"});
  EXPECT_EQ(lines(said)[0], "frame,x,y,width,height,neighbors");
}

TEST_F(CommandCascade, RefusesWrongUse) {
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"detect", "a.npy"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.out, "");
    return std::to_string(outcome.code) + ' ' + outcome.err;
  };
  EXPECT_EQ(refused({}), "2 areal: --cascade: needed, a cascade in OpenCV's XML\n");
  EXPECT_EQ(refused({"--cascade", cells, "--scale-factor", "1"}),
            "2 areal: --scale-factor 1: may be any number above 1\n");
  EXPECT_EQ(refused({"--cascade", cells, "--min-neighbors", "-1"}),
            "2 areal: --min-neighbors -1: may not be less than 0\n");
  EXPECT_EQ(refused({"--cascade", cells, "--min-size", "3x"}), "2 areal: --min-size : not a whole number\n");
  EXPECT_NE(refused({"--cascade", "none.xml"}).find("1 areal: none.xml: cannot be opened"), std::string::npos);
  EXPECT_NE(refused({"--cascade", "a.npy"}).find("a.npy: cascade: no XML at byte"), std::string::npos);
  EXPECT_NE(refused({"--cascade", cells, "--draw", "a.gif"}).find("--draw a.gif: may be a video"), std::string::npos);
  write_file(work / "s.npy", npy("<u2", "1, 2", std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(run({"detect", "s.npy", "--cascade", cells}).err, "areal: image type 16u: it may be 8u\n");
}

}  // namespace
}  // namespace areal::test
