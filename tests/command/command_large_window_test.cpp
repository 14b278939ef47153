// areal window --memory: windows by strips, into files that grow row by row.

#include <chrono>
#include <csignal>
#include <thread>
#include "extent.hpp"
#include "window_sums.hpp"

namespace areal::test {
namespace {

using namespace std::chrono_literals;

class CommandLargeWindow : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "430, 610", pixels(610, 430)));
  }
  /// A file's bytes without the time that TIFF and EXR note.
  static std::string undated(const fs::path& path) {
    std::string bytes = contents(path);
    for (std::size_t at = 0; at + 19 <= bytes.size(); ++at) {
      bool is_date = bytes[at + 4] == ':' && bytes[at + 7] == ':' && bytes[at + 10] == ' ' && bytes[at + 13] == ':';
      for (const std::size_t digit : {0, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18})
        is_date = is_date && bytes[at + digit] >= '0' && bytes[at + digit] <= '9';
      if (is_date) bytes.replace(at, 19, 19, '0');
    }
    return bytes;
  }
  /// The file by strips has the bytes of that at once. An .npy of 610 x 430 in 3 MB goes in several strips. Of a few
  /// cases only, one in three calls is compared.
  void expect_same(const std::vector<std::string>& more, const std::string& extension = ".npy",
                   const std::string& input = "a.npy", const std::string& memory = "176M") {
    if (extent() == Extent::few && calls_++ % 3 != 0) return;
    std::vector<std::string> words{"window", input, "-o", "W" + extension};
    words.insert(words.end(), more.begin(), more.end());
    answer(words);
    words[3] = "S" + extension;
    words.insert(words.end(), {"--memory", memory, "-v"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(undated(work / words[3]) == undated(work / ("W" + extension))) << input << " " << outcome.err;
    strips_ += outcome.err.find("in strips of 430 rows") == std::string::npos;
  }
  int calls_ = 0, strips_ = 0;  ///< calls, and those that took several strips
};

TEST_F(CommandLargeWindow, SumsAreThoseOfTheDefinition) {
  answer({"window", "a.npy", "--sum", "--size", "5x4", "--edge", "zero", "-o", "S.npy", "--memory", "176M"});
  expect_sums_of_windows(contents(work / "S.npy"));
}

TEST_F(CommandLargeWindow, EveryEdgeAndMeasure) {
  for (const char* edge : {"valid", "shrink", "zero", "replicate", "reflect", "symmetric", "wrap", "constant"}) {
    expect_same({"--mean", "--size", "6x8", "--edge", edge});
    expect_same({"--threshold", "15", "--size", "9x31", "--edge", edge});
  }
  expect_same({"--sum", "--size", "300x5"});
  expect_same({"--std", "--size", "300x5", "--edge", "wrap"});
  expect_same({"--mean", "--size", "3x3", "--edge", "constant", "--value", "200"});
  expect_same({"--mean", "--size", "700x900"}, ".npy", "a.npy", "300M");  // larger than the image
  expect_same({"--sum", "--size", "9x1300", "--edge", "reflect"}, ".npy", "a.npy", "300M");
  expect_same({"--mean", "--size", "1x1", "--edge", "reflect"});
  expect_same({"--mean", "--size", "2x2", "--edge", "symmetric"});
  EXPECT_GT(strips_, extent() == Extent::few ? 5 : 18);
}

TEST_F(CommandLargeWindow, FormatsColoursAndTypes) {
  for (const char* extension : {".tif", ".pgm", ".exr"}) expect_same({"--mean", "--size", "7x7"}, extension);
  expect_same({"--sum", "--size", "7x7"}, ".tif");
  std::vector<std::uint8_t> colours;
  std::vector<std::uint16_t> wide;
  for (int y = 0; y < 143; ++y)
    for (int x = 0; x < 161; ++x) {
      for (const int c : {0, 1, 2}) colours.push_back(pixel(x + c, y));
      wide.push_back(static_cast<std::uint16_t>(257 * pixel(x, y)));
    }
  write_file(work / "c.npy", npy("|u1", "143, 161, 3", colours));
  write_file(work / "w.npy", npy("<u2", "143, 161", wide));
  expect_same({"--std", "--size", "5x5", "--all-channels"}, ".npy", "c.npy");
  expect_same({"--mean", "--size", "5x5", "--all-channels"}, ".png", "c.npy");
  expect_same({"--threshold", "10", "--all-channels"}, ".tif", "c.npy");
  expect_same({"--mean", "--size", "5x5"}, ".npy", "c.npy");
  expect_same({"--mean", "--size", "5x5", "--channel", "2"}, ".npy", "c.npy");
  expect_same({"--mean", "--size", "4x9"}, ".tif", "w.npy");
}

TEST_F(CommandLargeWindow, WrongUseLeavesNothing) {
  expect_failure({"window", "a.npy", "--mean", "--size", "3x3", "-o", "o.npy", "--memory", "x"}, 2,
                 "--memory x: may be");
  expect_failure({"window", "a.npy", "--mean", "--size", "300x300", "-o", "o.npy", "--memory", "174M"}, 1,
                 "--memory 174M: windows of 300 rows of 610 pixels need at least ");
  expect_failure({"window", "a.npy", "--sum", "--size", "3x3", "-o", "o.png", "--memory", "1G"}, 2, "sums do not fit");
  expect_failure({"window", "a.npy", "--mean", "--size", "3x3", "-o", "o.xyz", "--memory", "1G"}, 2, "o.xyz");
  expect_failure({"window", "-", "--mean", "--size", "3x3", "-o", "o.npy", "--memory", "1G"}, 1,
                 "standard input: holds no .npy array");
  expect_failure({"window", "a.npy", "--mean", "--size", "611x3", "--edge", "valid", "-o", "o.npy", "--memory", "1G"},
                 2, "with --edge valid it may not exceed");
  fs::resize_file(work / "a.npy", 9000);
  expect_failure({"window", "a.npy", "--mean", "--size", "3x3", "-o", "o.tif", "--memory", "1G"}, 1, "is truncated");
  EXPECT_EQ(others({"a.npy"}), std::vector<std::string>());
}

// Ends by the signal, and leaves no part of a file.
TEST_F(CommandLargeWindow, InterruptedLeavesNothing) {
  for (const char* output : {"o.npy", "o.tif"}) {
    const pid_t pid = start({areal_command(), "window", "synthetic:20000x20000:1", "--mean", "--size", "9x9", "-o",
                             output, "--memory", "200M"});
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (others({"a.npy"}).empty() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(others({"a.npy"}).size(), 1u);  // under another name, which may be hidden
    EXPECT_FALSE(fs::exists(work / output));
    kill(pid, SIGINT);
    EXPECT_EQ(wait(pid).signal, SIGINT);
    EXPECT_EQ(others({"a.npy"}), std::vector<std::string>());
  }
}

}  // namespace
}  // namespace areal::test
