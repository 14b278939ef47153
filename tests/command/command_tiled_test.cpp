// areal hist of one image in parts: the rows of the whole, -v tells the grid, files beyond all memory, wrong use,
// Ctrl-C.
#include <signal.h>
#include <areal/info.hpp>
#include <chrono>
#include <thread>
#include "command_runner.hpp"

namespace areal::test {
namespace {

class CommandTiled : public CommandTest {
 protected:
  void refused(const std::vector<std::string>& words, const std::string& sentence, int code = 2) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  /// A sparse .npy of 1 TiB. False if the file system does not support such a file.
  bool write_sparse(const std::string& name) {
    write_file(work / name, npy<std::uint8_t>("|u1", "1048576, 1048576", {}));
    std::error_code error;
    fs::resize_file(work / name, fs::file_size(work / name) + (std::uintmax_t{1} << 40), error);
    return !error;
  }
};

const std::vector<std::string> regions{"--region", "0,0,300,200", "--region", "250,120,50,80",
                                       "--region", "7,3,200,150", "--bins",   "7"};
std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.begin(), "hist");
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(CommandTiled, TheRowsOfTheWholeImage) {
  write_file(work / "a.npy", npy("|u1", "200, 300", pixels(300, 200)));
  write_file(work / "a.pgm", pgm(300, 200));
  std::vector<std::uint8_t> colour;
  for (const std::uint8_t value : pixels(300, 200))
    colour.insert(colour.end(), {value, static_cast<std::uint8_t>(value / 2), 9});
  write_file(work / "c.npy", npy("|u1", "200, 300, 3", colour));
  std::string raw;
  for (const std::uint8_t value : pixels(300, 200)) raw += static_cast<char>(value);
  write_file(work / "a.raw", raw);
  const std::string expected = answer(with({"a.npy"}, regions));
  // Counted here: the region of all.
  std::vector<int> counts(7);
  for (const std::uint8_t value : pixels(300, 200)) ++counts[value * 7u / 256];
  std::string first = "0,0,0,300,200";
  for (const int count : counts) first += "," + std::to_string(count);
  EXPECT_NE(expected.find(first + "\n"), std::string::npos) << expected;

  EXPECT_EQ(answer(with({"a.npy", "--devices", "cpu:1"}, regions)), expected);
  EXPECT_EQ(answer(with({"a.npy", "--devices", "cpu:2", "--device-memory", "1M"}, regions)), expected);
  EXPECT_EQ(answer(with({"a.pgm", "--devices", "cpu"}, regions)), expected);
  EXPECT_EQ(answer(with({"a.raw", "--raw", "300x200x8u", "--devices", "cpu"}, regions)), expected);
  EXPECT_EQ(answer(with({"c.npy", "--devices", "cpu"}, regions)), answer(with({"c.npy"}, regions)));
  EXPECT_NE(answer(with({"c.npy", "--devices", "cpu"}, regions)), expected);
  EXPECT_EQ(answer({"hist", "a.npy", "--devices", "cpu", "--json", "--percentile", "50"}),
            answer({"hist", "a.npy", "--json", "--percentile", "50"}));
  for (const char* colours : {"--joint", "--all-channels"}) {
    const std::vector<std::string> words{"c.npy", "--bins", "3", "--region", "7,3,200,150", colours};
    EXPECT_EQ(answer(with(words, {"--devices", "cpu"})), answer(with(words, {})));
  }
  EXPECT_EQ(answer({"hist", "c.npy", "--devices", "cpu", "--channel", "1"}),
            answer({"hist", "c.npy", "--channel", "1"}));
  EXPECT_EQ(answer({"hist", "a.npy", "--devices", "cpu", "--labels"}), answer({"hist", "a.npy", "--labels"}));
  EXPECT_EQ(answer({"hist", "a.npy", "--devices", "cpu", "--region", "290,190,20,20", "--outside", "clip"}),
            answer({"hist", "a.npy", "--region", "290,190,20,20", "--outside", "clip"}));
}

TEST_F(CommandTiled, LittleMemoryMakesTiles) {
  if (!has_simt()) GTEST_SKIP() << "this build has no simulated machine";
  write_file(work / "a.npy", npy("|u1", "200, 300", pixels(300, 200)));
  const std::string expected = answer(with({"a.npy"}, regions));
  const Outcome tiles = run(with({"a.npy", "--devices", "simt,cpu:1", "--device-memory", "300K", "-v"}, regions));
  EXPECT_EQ(tiles.out, expected);
  EXPECT_NE(tiles.err.find(" tiles of "), std::string::npos) << tiles.err;
  EXPECT_NE(tiles.err.find(", 7 bins each, on simt, cpu:1\n"), std::string::npos) << tiles.err;
  EXPECT_EQ(tiles.err.find("1 x 1 tiles"), std::string::npos) << tiles.err;
  EXPECT_EQ(answer(with({"a.npy", "--backend", "simt", "--device-memory", "300K"}, regions)), expected);
  refused(with({"a.npy", "--devices", "simt", "--device-memory", "20"}, regions), "do not fit the 20 bytes", 1);
}

TEST_F(CommandTiled, AFileBeyondAllMemory) {
  if (!write_sparse("t.npy")) GTEST_SKIP() << "no sparse file of 1 TiB here";
  const std::string expected = "region,x,y,width,height,bin0,bin1\n0,1000000,1048000,500,40,20000,0\n";
  const std::vector<std::string> corner{"t.npy", "--bins", "2", "--region", "1000000,1048000,500,40"};
  EXPECT_EQ(answer(with(corner, {})), expected);  // by itself
  EXPECT_EQ(answer(with(corner, {"--devices", "cpu:1"})), expected);
}

TEST_F(CommandTiled, WrongUseAndDamage) {
  write_file(work / "a.npy", npy("|u1", "200, 300", pixels(300, 200)));
  const std::string whole = contents(work / "a.npy");
  write_file(work / "cut.npy", whole.substr(0, whole.size() - 5));
  write_file(work / "two.npy", npy("|u1", "3, 4, 2", std::vector<std::uint8_t>(24)));
  write_file(work / "many.npy", npy("|u1", "2, 3, 4, 1", std::vector<std::uint8_t>(24)));
  write_file(work / "no.npy", "no array at all");
  for (const char* const size : {"2X", "0", "-1", "", "G", "99999999999G"})
    if (*size != '\0')
      refused({"hist", "a.npy", "--device-memory", size}, "--device-memory " + std::string(size) + ": ");
  refused({"hist", "a.npy", "--devices", "gpu"}, "workers gpu: `gpu` is none");
  refused({"hist", "a.npy", "--devices", "cpu", "--backend", "cpu"}, "--devices and --backend");
  refused({"hist", "a.npy", "--devices", "cpu", "-o", "t.npy"}, "--devices cpu: counts alone leave the workers");
  refused({"hist", "a.npy", "--device-memory", "1M", "--weights", "a.npy"},
          "--weights a.npy: not with --device-memory 1M; ");
  refused({"hist", "-", "--devices", "cpu"}, "standard input: holds no .npy array", 1);
  refused({"hist", "two.npy", "--devices", "cpu"}, "two.npy: has 2 channels, which is not a colour");
  refused({"hist", "many.npy", "--devices", "cpu"}, "many.npy: holds 2 images");
  refused({"hist", "a.npy", "--devices", "cpu", "--region", "290,0,20,20"}, "region 0");
  refused({"hist", "cut.npy", "--devices", "cpu"}, "cut.npy: is truncated", 1);
  refused({"hist", "no.npy", "--devices", "cpu"}, "no.npy: is not a .npy file", 1);
  refused({"hist", "none.npy", "--devices", "cpu"}, "none.npy: no such file", 1);
  EXPECT_EQ(others({"a.npy", "cut.npy", "two.npy", "many.npy", "no.npy"}), std::vector<std::string>());
}

// It ends by the signal, with no rows, when the parts on their way are done.
TEST_F(CommandTiled, CtrlC) {
  if (!write_sparse("t.npy")) GTEST_SKIP() << "no sparse file of 1 TiB here";
  const pid_t pid = start({areal_command(), "hist", "t.npy", "--devices", "cpu:1", "--bins", "2"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ASSERT_EQ(kill(pid, SIGINT), 0);
  const Outcome outcome = wait(pid);
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace areal::test
