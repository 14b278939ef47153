// --level, --t, --z and --c, which choose an image inside an OME-Zarr, and areal info, which lists levels.

#include <array>
#include <nlohmann/json.hpp>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Json = nlohmann::json;

/// The pixel of a level at (t, c, z, y, x); no two planes are alike.
std::uint8_t stored(int level, int t, int c, int z, int y, int x) {
  return static_cast<std::uint8_t>(pixel(x, y) + 31 * level + 7 * t + 3 * c + 11 * z);
}

class CommandLargeLevels : public CommandTest {
 protected:
  // OME-Zarr 0.4 of 2 times, 2 channels and 3 depths: 90 x 70 pixels, and 45 x 35; each plane is a chunk.
  void SetUp() override {
    CommandTest::SetUp();
    const fs::path root = work / "p.zarr";
    const Json axes = {{{"name", "t"}}, {{"name", "c"}}, {{"name", "z"}}, {{"name", "y"}}, {{"name", "x"}}};
    for (int level = 0; level < 2; ++level) {
      const int width = 90 >> level, height = 70 >> level;
      const fs::path array = root / std::to_string(level);
      fs::create_directories(array);
      write_file(array / ".zarray", Json{{"zarr_format", 2},
                                         {"shape", {2, 2, 3, height, width}},
                                         {"chunks", {1, 1, 1, height, width}},
                                         {"dtype", "|u1"},
                                         {"compressor", nullptr},
                                         {"fill_value", 0},
                                         {"order", "C"},
                                         {"filters", nullptr}}
                                        .dump());
      for (int t = 0; t < 2; ++t)
        for (int c = 0; c < 2; ++c)
          for (int z = 0; z < 3; ++z) {
            std::string bytes;
            for (int y = 0; y < height; ++y)
              for (int x = 0; x < width; ++x) bytes += static_cast<char>(stored(level, t, c, z, y, x));
            write_file(array / (std::to_string(t) + "." + std::to_string(c) + "." + std::to_string(z) + ".0.0"), bytes);
          }
    }
    write_file(root / ".zgroup", R"({"zarr_format": 2})");
    write_file(root / ".zattrs",
               Json{{"multiscales", {{{"axes", axes}, {"datasets", {{{"path", "0"}}, {{"path", "1"}}}}}}}}.dump());
  }
  static std::string sum(int level, int t, int c, int z) {
    std::uint64_t total = 0;
    for (int y = 5; y < 25; ++y)
      for (int x = 3; x < 33; ++x) total += stored(level, t, c, z, y, x);
    return "region,x,y,width,height,sum\n0,3,5,30,20," + std::to_string(total) + "\n";
  }
};

TEST_F(CommandLargeLevels, EveryPlaneIsChosen) {
  EXPECT_NE(sum(0, 0, 0, 0), sum(1, 0, 0, 0));  // the checks can fail
  EXPECT_NE(sum(0, 0, 0, 0), sum(0, 0, 1, 0));
  for (const auto& [level, t, c, z] : std::vector<std::array<int, 4>>{{1, 1, 0, 2}, {0, 0, 1, 1}}) {
    const std::vector<std::string> choice{"--level", std::to_string(level), "--t", std::to_string(t),
                                          "--c",     std::to_string(c),     "--z", std::to_string(z)};
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"query", "p.zarr"}, {"sat", "p.zarr"}, {"sat", "p.zarr", "--memory", "300M"}}) {
      std::vector<std::string> words = more;
      words.insert(words.end(), {"--region", "3,5,30,20"});
      words.insert(words.end(), choice.begin(), choice.end());
      EXPECT_EQ(answer(words), sum(level, t, c, z)) << more[0] << " " << level << t << c << z;
    }
  }
  // A table, windows and histograms of a level.
  const std::vector<std::string> choice{"--level", "1", "--t", "1", "--c", "1", "--z", "2"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), choice.begin(), choice.end());
    return answer(words);
  };
  with({"sat", "p.zarr", "-o", "T.zarr"});
  EXPECT_EQ(answer({"query", "T.zarr", "--region", "3,5,30,20"}), sum(1, 1, 1, 2));
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--memory", "300M"}}) {
    std::vector<std::string> words{"window", "p.zarr", "--mean", "--size", "1x1", "-o", "w.tif"};
    words.insert(words.end(), more.begin(), more.end());
    with(words);
    EXPECT_EQ(answer({"query", "w.tif", "--region", "3,5,30,20"}), sum(1, 1, 1, 2));
    words = {"hist", "p.zarr", "--bins", "4", "--region", "3,5,30,20"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(with(words), answer({"hist", "w.tif", "--bins", "4", "--region", "3,5,30,20"}));
  }
}

TEST_F(CommandLargeLevels, InfoListsLevels) {
  EXPECT_EQ(answer({"info", "p.zarr", "-q"}),
            "level 0   90x70 8u, read in blocks of 90x70\nlevel 1   45x35 8u, read in blocks of 45x35\n");
  const Json info = Json::parse(answer({"info", "p.zarr", "--json", "-q"}));
  EXPECT_EQ(info["type"], "8u");
  ASSERT_EQ(info["levels"].size(), 2u);
  EXPECT_EQ(info["levels"][1]["width"], 45);
  EXPECT_EQ(info["notes"], Json({"t 0 of 2 was read", "z 0 of 3 was read"}));
  write_file(work / "a.npy", npy("<f4", "3, 4", std::vector<float>(12)));
  EXPECT_EQ(answer({"info", "a.npy"}), "level 0   4x3 32f, read in blocks of 4x3\n");
}

TEST_F(CommandLargeLevels, OutOfRangeSaysWhatThereIs) {
  write_file(work / "a.npy", npy("|u1", "43, 61", pixels(61, 43)));
  write_file(work / "p.pgm", pgm(9, 7));
  for (const char* verb : {"query", "sat"}) {
    expect_failure({verb, "p.zarr", "--c", "0", "--level", "2"}, 2,
                   "p.zarr: level 2 does not exist: the picture has 2 levels");
    expect_failure({verb, "p.zarr", "--c", "0", "--t", "2"}, 2,
                   "p.zarr: t 2 does not exist: the picture has 2, counted from 0");
    expect_failure({verb, "p.zarr", "--c", "0", "--z", "9"}, 2,
                   "p.zarr: z 9 does not exist: the picture has 3, counted from 0");
    expect_failure({verb, "p.zarr", "--c", "2"}, 2, "p.zarr: channel 2 does not exist: there are 2, counted from 0");
    expect_failure({verb, "a.npy", "--level", "1"}, 2, "a.npy: has one level; level 1 does not exist");
    expect_failure({verb, "p.pgm", "--level", "1"}, 2, "p.pgm: has one level; level 1 does not exist");
    expect_failure({verb, "p.pgm", "--t", "1"}, 2, "p.pgm: has no axes t and z to choose from");
    expect_failure({verb, "a.npy", "--level", "-1"}, 2, "--level -1: ");
  }
  expect_failure({"sat", "-", "--level", "1"}, 2, "-: a stream has no levels");
  expect_failure({"sat", "a.npy", "--raw", "61x43x8u", "--level", "1"}, 2, "raw pixels have no levels");
  expect_failure({"query", "synthetic:9x9:1", "--picture", "--level", "0"}, 2,
                 "--level: synthetic:9x9:1 has one channel and one level");
}

}  // namespace
}  // namespace areal::test
