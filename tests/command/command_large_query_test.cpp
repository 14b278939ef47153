// areal query PICTURE: answers by strips, without a table, which equal those from tables.

#include <nlohmann/json.hpp>
#include <random>
#include "command_runner.hpp"

namespace areal::test {
namespace {

class CommandLargeQuery : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "430, 610", pixels(610, 430)));
    write_file(work / "r.csv",
               "x,y,width,height,name\n1,2,3,4,nose\n600,400,10,30,edge\n5,5,0,9,none\n0,0,610,430,all\n");
  }
};

TEST_F(CommandLargeQuery, SumsAreThoseOfTheDefinition) {
  std::mt19937 random(11);
  std::string regions = "x,y,width,height\n", expected = "region,x,y,width,height,sum\n";
  for (int i = 0; i < 50; ++i) {
    const int x = static_cast<int>(random() % 610), y = static_cast<int>(random() % 430);
    const int w = static_cast<int>(random() % static_cast<unsigned>(611 - x)),
              h = static_cast<int>(random() % static_cast<unsigned>(431 - y));
    const std::string row =
        std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(w) + "," + std::to_string(h);
    regions += row + "\n";
    expected += std::to_string(i) + "," + row + "," + std::to_string(direct_sum(x, y, w, h)) + "\n";
  }
  write_file(work / "seeded.csv", regions);
  EXPECT_EQ(answer({"query", "a.npy", "--regions", "seeded.csv"}), expected) << "seed 11";
  EXPECT_EQ(answer({"query", "a.npy", "--regions", "seeded.csv", "--memory", "240M", "--threads", "1"}), expected);
  // The check can fail: one pixel more.
  std::vector<std::uint8_t> other = pixels(610, 430);
  ++other[610 * 200 + 300];
  write_file(work / "b.npy", npy("|u1", "430, 610", other));
  EXPECT_NE(answer({"query", "b.npy", "--regions", "seeded.csv"}), expected);
}

TEST_F(CommandLargeQuery, EveryStatisticIsThatOfSat) {
  for (const char* stats : {"sum", "mean", "std,sum", "sum,mean,variance,std"})
    for (const char* format : {"--csv", "--json"})
      EXPECT_EQ(answer({"query", "a.npy", "--regions", "r.csv", "--stat", stats, format}),
                answer({"sat", "a.npy", "--regions", "r.csv", "--stat", stats, format}));
  EXPECT_EQ(answer({"query", "a.npy", "--region", "-5,400,20,100", "--outside", "clip", "--stat", "mean"}),
            answer({"sat", "a.npy", "--region", "-5,400,20,100", "--outside", "clip", "--stat", "mean"}));
  EXPECT_EQ(answer({"query", "a.npy"}),
            "region,x,y,width,height,sum\n0,0,0,610,430," + std::to_string(direct_sum(0, 0, 610, 430)) + "\n");
}

TEST_F(CommandLargeQuery, ColoursFloatsAndPictures) {
  std::vector<std::uint8_t> colours;
  std::vector<double> floats;
  for (int y = 0; y < 43; ++y)
    for (int x = 0; x < 61; ++x) {
      for (const int c : {0, 1, 2}) colours.push_back(pixel(x + c, y));
      floats.push_back(0.25 * pixel(x, y) - 20);
    }
  write_file(work / "c.npy", npy("|u1", "43, 61, 3", colours));
  write_file(work / "f.npy", npy("<f8", "43, 61", floats));
  write_file(work / "p.pgm", pgm(90, 70));
  const auto same = [&](std::vector<std::string> words) {
    std::vector<std::string> table = words;
    words.insert(words.begin(), "query");
    table.insert(table.begin(), "sat");
    table.erase(std::remove(table.begin(), table.end(), "--picture"), table.end());
    EXPECT_EQ(answer(words), answer(table)) << words[1];
  };
  const std::vector<std::string> asked{"--region", "3,4,50,30", "--region", "0,0,1,1", "--stat", "sum,mean,std"};
  for (const std::vector<std::string>& input : std::vector<std::vector<std::string>>{
           {"c.npy"}, {"c.npy", "--channel", "2"}, {"c.npy", "--all-channels"}, {"f.npy", "--picture"}, {"p.pgm"}}) {
    std::vector<std::string> words = input;
    words.insert(words.end(), asked.begin(), asked.end());
    same(words);
  }
  EXPECT_EQ(answer({"sat", "c.npy", "--all-channels", "--region", "3,4,50,30", "--memory", "1G"}),
            answer({"sat", "c.npy", "--all-channels", "--region", "3,4,50,30"}));
}

// The formula has no squares; the pixels do.
TEST_F(CommandLargeQuery, PixelsOfAnImageWithAFormula) {
  const std::string image = "synthetic:3000x2000:9";
  const std::vector<std::string> formula{"query", image, "--region", "17,1000,2900,999", "--stat", "sum,mean"};
  std::vector<std::string> strips = formula;
  strips.push_back("--picture");
  EXPECT_EQ(answer(strips), answer(formula));
  EXPECT_EQ(answer({"query", image, "--region", "17,1000,2900,999", "--stat", "std"}),
            answer({"sat", image, "--region", "17,1000,2900,999", "--stat", "std", "--memory", "300M"}));
}

// A table without its sidecar is not read as a picture, and a picture next to its table is not read as a table.
TEST_F(CommandLargeQuery, TablesAndPicturesAreToldApart) {
  answer({"sat", "a.npy", "-o", "T.npy"});
  EXPECT_EQ(answer({"query", "T.npy", "--region", "1,2,30,40"}), answer({"query", "a.npy", "--region", "1,2,30,40"}));
  EXPECT_EQ(answer({"query", "T.npy", "--memory", "162M"}), answer({"query", "T.npy"}));
  expect_failure({"query", "T.npy", "--memory", "161M"}, 1, "T.npy");
  expect_failure({"query", "T.npy", "--channel", "0"}, 2, "--channel 0: not with T.npy; it is a table, and no picture");
  fs::rename(work / "T.json", work / "away.json");
  expect_failure({"query", "T.npy"}, 1,
                 "T.npy: its sidecar T.json is missing, so its border and types are unknown; "
                 "--picture takes it for a picture");
  EXPECT_NE(answer({"query", "T.npy", "--picture"}), "");
  // photo.json is the sidecar of photo.npy, not of photo.tif.
  answer({"window", "a.npy", "--mean", "--size", "1x1", "-o", "photo.tif"});
  answer({"sat", "photo.tif", "-o", "photo.npy"});
  EXPECT_EQ(answer({"query", "photo.tif"}), answer({"query", "photo.npy"}));
  // A renamed table with its sidecar is still one.
  fs::rename(work / "photo.npy", work / "other.npy");
  fs::rename(work / "photo.json", work / "other.json");
  EXPECT_EQ(answer({"query", "other.npy"}), answer({"query", "a.npy"}));
}

TEST_F(CommandLargeQuery, WrongUse) {
  expect_failure({"query", "a.npy", "--region", "600,400,11,1"}, 2, "610x430");
  expect_failure({"query", "a.npy", "--stat", "count"}, 2, "--stat count: not with a.npy; a picture answers");
  expect_failure({"query", "a.npy", "--squares", "b.npy"}, 2, "--squares b.npy: not with a.npy; it is for a table");
  expect_failure({"query", "a.npy", "--entropy"}, 2, "--entropy: not with a.npy; it is for a tensor");
  expect_failure({"query", "a.npy", "--channel", "1"}, 2, "channel 1 does not exist");
  expect_failure({"query", "a.npy", "--memory", "10M"}, 1, "the command itself takes 160M");
  expect_failure({"query", "-"}, 1, "standard input: holds no .npy array");
  expect_failure({"query", "nothing.png"}, 1, "nothing.png");
  expect_failure({"query", "synthetic:10x10:1", "--picture", "--channel", "0"}, 2,
                 "--channel: synthetic:10x10:1 has one channel");
  fs::resize_file(work / "a.npy", 9000);
  expect_failure({"query", "a.npy"}, 1, "a.npy: is truncated");
}

}  // namespace
}  // namespace areal::test
