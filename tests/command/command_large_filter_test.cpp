// areal filter --memory: filters by strips, into files that grow row by row.

#include <cmath>
#include "extent.hpp"
#include "window_sums.hpp"

namespace areal::test {
namespace {

class CommandLargeFilter : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "430, 610", pixels(610, 430)));
    std::vector<std::uint8_t> colours, mask;
    std::vector<float> floats;
    for (int y = 0; y < 430; ++y)
      for (int x = 0; x < 610; ++x) {
        for (const int c : {0, 1, 2}) colours.push_back(pixel(x + c, y));
        floats.push_back((x * y) % 97 == 9 ? NAN : 0.1f * static_cast<float>(pixel(x, y)));
        mask.push_back((x + y) % 3 > 0);
      }
    write_file(work / "c.npy", npy("|u1", "430, 610, 3", colours));
    write_file(work / "f.npy", npy("<f4", "430, 610", floats));
    write_file(work / "m.npy", npy("|u1", "430, 610", mask));
  }
  /// The file by strips, in the least memory that it names when it has too little, has the bytes of that at once. Of a
  /// few cases only, one in three calls is compared.
  void expect_same(const std::vector<std::string>& words, const std::string& extension = ".npy") {
    if (extent() == Extent::few && calls_++ % 3 != 0) return;
    std::vector<std::string> all{"filter"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--threads", "2", "-o", "W" + extension});
    answer(all);
    all.back() = "S" + extension;
    all.insert(all.end(), {"--memory", "161M", "-v"});
    const std::string too_little = run(all).err, least_is = " pixels need at least ";
    ASSERT_NE(too_little.find(least_is), std::string::npos) << too_little;
    const std::string least = too_little.substr(too_little.find(least_is) + least_is.size(), 4);
    all[all.size() - 2] = least;
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find(": by strips: --memory " + least + "\n"), std::string::npos) << outcome.err;
    EXPECT_TRUE(contents(work / ("S" + extension)) == contents(work / ("W" + extension)))
        << words[0] << " " << words[1] << " " << outcome.err;
    strips_ += outcome.err.find("in strips of 430 rows") == std::string::npos;
  }
  int calls_ = 0, strips_ = 0;  ///< calls, and those that took several strips
};

TEST_F(CommandLargeFilter, SumsAreThoseOfTheDefinition) {
  answer({"filter", "sum", "a.npy", "--size", "5x4", "--edge", "zero", "-o", "S.npy", "--memory", "176M", "--threads",
          "2"});
  expect_sums_of_windows(contents(work / "S.npy"));
}

TEST_F(CommandLargeFilter, EveryEdgeAndFilter) {
  for (const char* edge : {"valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant"}) {
    expect_same({"std", "a.npy", "--size", "6x8", "--edge", edge});
    expect_same({"mean", "f.npy", "--size", "9x31", "--edge", edge});
  }
  for (const char* name :
       {"mean", "sum", "count", "var", "min", "max", "threshold", "bradley", "niblack", "sauvola", "nick"}) {
    expect_same({name, "a.npy", "--size", "15"});
    expect_same({name, "a.npy", "--size", "300x5", "--mask", "m.npy", "--min-count", "99", "--fill", "3"});
  }
  for (const char* name : {"median", "equalize", "otsu", "entropy", "modal"})
    expect_same({name, "a.npy", "--size", "8x9", "--edge", "reflect"});
  expect_same({"percentile", "f.npy", "--q", "20", "--size", "6x7", "--edge", "wrap"});
  expect_same({"guided", "a.npy", "--eps", "90", "--size", "9"});
  expect_same({"gaussian", "f.npy", "--sigma", "3x2", "--edge", "symmetric"});
  expect_same({"gaussian", "c.npy", "--sigma", "11", "--all-channels", "--edge", "wrap"});
  expect_same({"guided", "f.npy", "--eps", "9", "--guide", "c.npy", "--size", "15x12"});
  expect_same({"guided", "c.npy", "--all-channels", "--eps", "9", "--guide", "f.npy", "--size", "5"});
  expect_same({"gaussian", "a.npy", "--sigma", "2", "--edge", "valid"});
  expect_same({"var", "f.npy", "--size", "7", "--nan", "omit", "--ddof", "1"});
  expect_same({"mean", "c.npy", "--size", "7", "--all-channels"});
  expect_same({"mean", "c.npy", "--size", "7", "--channel", "2"}, ".pgm");
  expect_same({"sauvola", "synthetic:900x700:3", "--size", "31"}, ".pgm");
  expect_same({"mean", "a.npy", "--size", "700x900"});  // larger than the image
  EXPECT_GT(strips_, extent() == Extent::few ? 10 : 30);
}

TEST_F(CommandLargeFilter, WrongUseLeavesNothing) {
  const auto fails = [&](std::vector<std::string> words, int code, const std::string& sentence) {
    words.insert(words.begin(), "filter");
    expect_failure(words, code, sentence);
  };
  fails({"mean", "a.npy", "--size", "3", "-o", "o.npy", "--memory", "x"}, 2, "--memory x: may be");
  fails({"mean", "a.npy", "--size", "300", "-o", "o.npy", "--memory", "173M"}, 1,
        "--memory 173M: windows of 300 rows of 610 pixels need at least ");
  fails({"sum", "a.npy", "--size", "3", "-o", "o.png", "--memory", "1G"}, 2, "sums do not fit");
  fails({"mean", "a.npy", "--size", "3", "-o", "o.xyz", "--memory", "1G"}, 2, "o.xyz");
  fails({"mean", "a.npy", "--size", "611x3", "--edge", "valid", "-o", "o.npy", "--memory", "1G"}, 2,
        "with --edge valid it may not exceed");
  write_file(work / "small.npy", npy("|u1", "2, 2", std::vector<std::uint8_t>(4, 1)));
  fails({"mean", "a.npy", "--size", "3", "--mask", "small.npy", "-o", "o.npy", "--memory", "1G"}, 2,
        "--mask small.npy: is 2x2, and a.npy is 610x430");
  fails({"wolf", "synthetic:20000x20000:1", "--size", "3", "-o", "o.npy", "--memory", "300M"}, 2,
        "wolf: not with --memory 300M; it needs the largest deviation of the whole image first, and that takes 763M");
  fails({"guided", "a.npy", "--eps", "3", "--size", "3", "--guide", "small.npy", "-o", "o.npy", "--memory", "1G"}, 2,
        "--guide small.npy: is 2x2, and a.npy is 610x430");
  fails({"gaussian", "a.npy", "--sigma", "300", "--edge", "valid", "-o", "o.npy", "--memory", "1G"}, 2,
        "--sigma 300: with --edge valid it may not exceed");
  fails({"gaussian", "a.npy", "--sigma", "300", "-o", "o.npy", "--memory", "162M"}, 1,
        "--memory 162M: --sigma 300: windows of its rows of 610 pixels need at least ");
  write_file(work / "w.npy", npy("<u2", "4, 5", std::vector<std::uint16_t>(20, 9)));
  answer({"filter", "equalize", "w.npy", "--size", "3", "-o", "whole.npy", "--memory", "300M"});
  write_file(work / "w.npy", npy("<u2", "20000, 20000", std::vector<std::uint16_t>()));
  fs::resize_file(work / "w.npy", fs::file_size(work / "w.npy") + 800'000'000);  // of zeros, without blocks on the disk
  fails(
      {"equalize", "w.npy", "--size", "3", "-o", "o.npy", "--memory", "300M"}, 2,
      "equalize 16u: not with --memory 300M; it needs the largest pixel of the whole image first, and that takes 1.5G");
  answer({"filter", "wolf", "a.npy", "--size", "9", "-o", "whole.npy", "--memory", "300M"});
  answer({"filter", "wolf", "a.npy", "--size", "9", "-o", "again.npy"});
  EXPECT_TRUE(contents(work / "whole.npy") == contents(work / "again.npy"));
  fs::resize_file(work / "a.npy", 9000);
  fails({"mean", "a.npy", "--size", "3", "-o", "o.tif", "--memory", "1G"}, 1, "is truncated");
  EXPECT_EQ(others({"a.npy", "c.npy", "f.npy", "m.npy", "w.npy", "small.npy", "whole.npy", "again.npy"}),
            std::vector<std::string>());
}

// Frames pass one by one; one beyond --memory is refused.
TEST_F(CommandLargeFilter, FramesWithinMemory) {
  fs::create_directory(work / "frames");
  for (const char* name : {"frames/1.pgm", "frames/2.pgm"}) write_file(work / name, pgm(610, 430));
  answer({"filter", "mean", "frames", "--size", "9", "-o", "at-once/"});
  answer({"filter", "mean", "frames", "--size", "9", "-o", "little/", "--memory", "200M"});
  for (const char* name : {"000000.png", "000001.png"})
    EXPECT_TRUE(contents(work / "at-once" / name) == contents(work / "little" / name)) << name;
  expect_failure({"filter", "mean", "frames", "--size", "9", "-o", "none/", "--memory", "160M"}, 1, "--memory 160M: ");
  EXPECT_FALSE(fs::exists(work / "none"));
}

}  // namespace
}  // namespace areal::test
