// areal hist --memory: histograms and tensors by strips.

#include <nlohmann/json.hpp>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

class CommandLargeHist : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "430, 610", pixels(610, 430)));
    write_file(work / "r.csv",
               "x,y,width,height,name\n1,2,3,4,nose\n600,400,10,30,edge\n5,5,0,9,none\n0,0,610,430,all\n");
  }
  /// By strips and at once: the same words, the first with --memory.
  void expect_same(std::vector<std::string> words) {
    const std::string at_once = answer(words);
    words.insert(words.end(), {"--memory", "240M"});
    EXPECT_EQ(answer(words), at_once) << words[1] << " " << words[2];
  }
};

// Counted here, a pixel at a time.
TEST_F(CommandLargeHist, CountsAreThoseOfTheDefinition) {
  const auto counts = [](int x0, int y0, int width, int height) {
    std::vector<int> bins(8);
    for (int y = y0; y < y0 + height; ++y)
      for (int x = x0; x < x0 + width; ++x) ++bins[pixel(x, y) / 32];
    std::string row;
    for (const int count : bins) row += "," + std::to_string(count);
    return row;
  };
  const std::string out = answer(
      {"hist", "a.npy", "--bins", "8", "--region", "17,30,500,371", "--region", "0,0,610,430", "--memory", "240M"});
  EXPECT_NE(out.find("0,17,30,500,371" + counts(17, 30, 500, 371) + "\n1,0,0,610,430" + counts(0, 0, 610, 430) + "\n"),
            std::string::npos)
      << out;
  EXPECT_EQ(out.find("17,30,500,371" + counts(17, 30, 500, 370)), std::string::npos);  // which could fail
}

TEST_F(CommandLargeHist, RegionsAreThoseOfTheWholeImage) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--bins", "5"},
                                             {"--bins", "200", "--json"},
                                             {"--edges", "0,3.5,100,256"},
                                             {"--range", "50,100", "--clamp"},
                                             {"--labels"},
                                             {"--labels", "--ignore-label", "255"},
                                             {"--bins", "16", "--entropy", "--median"},
                                             {"--bins", "4", "--chart"}}) {
    std::vector<std::string> words{"hist", "a.npy", "--regions", "r.csv"};
    words.insert(words.end(), more.begin(), more.end());
    expect_same(words);
  }
  expect_same({"hist", "a.npy", "--region", "-5,400,20,100", "--outside", "clip"});
  expect_same({"hist", "a.npy"});
  std::vector<std::uint8_t> colours;
  for (int y = 0; y < 43; ++y)
    for (int x = 0; x < 61; ++x)
      for (const int c : {0, 1, 2}) colours.push_back(pixel(x + c, y));
  write_file(work / "c.npy", npy("|u1", "43, 61, 3", colours));
  expect_same({"hist", "c.npy", "--region", "3,4,50,30"});
  expect_same({"hist", "c.npy", "--channel", "1", "--region", "3,4,50,30"});
  expect_same({"hist", "c.npy", "--joint", "--bins", "3", "--region", "3,4,50,30"});
  expect_same({"hist", "c.npy", "--all-channels", "--bins", "3", "--region", "3,4,50,30"});
  expect_same({"hist", "a.npy", "--bins", "9", "--regions", "r.csv", "--template", "5,6,70,80"});
  // Strips do not support it, but an image that fits is processed as a whole.
  expect_same({"hist", "a.npy", "--bins", "4", "--regions", "r.csv", "--weights", "a.npy"});
  expect_same({"hist", "a.npy", "--bins", "4", "--regions", "r.csv", "--algorithm", "serial"});
}

TEST_F(CommandLargeHist, TensorsHaveTheBytesOfTheWhole) {
  std::string lookup;
  for (int value = 0; value < 256; ++value) lookup += std::to_string(value % 5 - 1) + "\n";
  write_file(work / "lookup.txt", lookup);
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--bins", "7"},
                                             {"--bins", "1", "--border", "zero"},
                                             {"--bins", "3", "--border", "exclusive", "--counter", "64u"},
                                             {"--bins", "2", "--weights", "a.npy"},
                                             {"--lookup", "lookup.txt", "--border", "zero"}}) {
    std::vector<std::string> words{"hist", "a.npy", "-o", "W.npy"};
    words.insert(words.end(), more.begin(), more.end());
    answer(words);
    words[3] = "S.npy";
    words.insert(words.end(), {"--memory", "166M"});
    EXPECT_EQ(answer(words), "");
    EXPECT_TRUE(contents(work / "S.npy") == contents(work / "W.npy")) << more[1];
    Json whole = Json::parse(contents(work / "W.json")), strips = Json::parse(contents(work / "S.json"));
    EXPECT_EQ(strips["algorithm"], whole["algorithm"].get<std::string>() + " by strips");
    for (Json* json : {&whole, &strips}) json->erase("algorithm"), json->erase("table");
    EXPECT_EQ(whole, strips);
  }
  // Answers and the tensor in one call.
  EXPECT_EQ(answer({"hist", "a.npy", "--bins", "3", "--regions", "r.csv", "-o", "B.npy", "--memory", "240M"}),
            answer({"hist", "a.npy", "--bins", "3", "--regions", "r.csv"}));
  answer({"hist", "a.npy", "--bins", "3", "-o", "W.npy"});
  EXPECT_TRUE(contents(work / "B.npy") == contents(work / "W.npy"));
}

// The bins of a tensor that are computed at a time lie in planes far from one another.
TEST_F(CommandLargeHist, GroupsOfBins) {
  const Outcome strips =
      run({"hist", "synthetic:1000x300:4", "--bins", "100", "--memory", "163M", "-o", "S.npy", "-v"});
  EXPECT_EQ(strips.code, 0) << strips.err;
  EXPECT_EQ(strips.err.find("100 bins at a time"), std::string::npos) << strips.err;
  write_file(work / "r.csv", "0,0,1000,300\n10,20,900,170\n999,299,1,1\n");
  EXPECT_EQ(answer({"query", "S.npy", "--regions", "r.csv"}),
            answer({"hist", "synthetic:1000x300:4", "--bins", "100", "--memory", "1G", "--regions", "r.csv"}));
}

TEST_F(CommandLargeHist, WrongUse) {
  write_file(work / "w.npy", npy("|u1", "430, 610", pixels(610, 430)));
  const auto refuses = [&](std::vector<std::string> more, const std::string& sentence) {
    more.insert(more.begin(), {"hist", "a.npy", "--memory", "1G"});
    expect_failure(more, 2, sentence);
  };
  refuses({"--devices", "cpu:1"}, "--memory 1G: not with --devices cpu:1; --device-memory says");
  refuses({"--boxes", "r.csv"}, "--boxes: a.npy is no video");
  refuses({"--region", "600,400,11,1"}, "610x430");
  expect_failure({"hist", "a.npy", "--memory", "much"}, 2, "--memory much: may be bytes");
  expect_failure({"hist", "a.npy", "--memory", "100M"}, 1, "the command itself takes 160M");
  expect_failure({"hist", "-", "--memory", "1G"}, 1, "standard input: holds no .npy array");
  expect_failure({"hist", "synthetic:9999x9999:1", "--draw", "d.png", "--memory", "200M"}, 2,
                 "--draw d.png: not with --memory 200M; it takes the whole picture, and that takes ");
  fs::resize_file(work / "a.npy", 9000);
  expect_failure({"hist", "a.npy", "--memory", "1G", "-o", "T.npy"}, 1, "a.npy: is truncated");
  EXPECT_EQ(others({"a.npy", "w.npy", "r.csv"}), std::vector<std::string>());
}

}  // namespace
}  // namespace areal::test
