// `areal sat` by tiles: the same file as from the whole image, what is refused, nothing half-written, and no memory for
// the whole table.

#include <sys/resource.h>
#include <cstdlib>
#include "command_runner.hpp"

namespace areal::test {
namespace {

/// An image of zeros that takes no space on the disk.
void write_zeros(const fs::path& path, std::int64_t side) {
  const std::string header =
      npy("|u1", std::to_string(side) + ", " + std::to_string(side), std::vector<std::uint8_t>());
  write_file(path, header);
  fs::resize_file(path, header.size() + static_cast<std::uintmax_t>(side * side));
}

class CommandSatTiles : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "300, 200", pixels(200, 300)));
  }
  bool has_simt() { return answer({"info"}).find("simt") != std::string::npos && run(simt_words()).code == 0; }
  static std::vector<std::string> simt_words() { return {"sat", "a.npy", "--backend", "simt"}; }
  std::string table(const std::string& name) { return contents(work / name); }
};

TEST_F(CommandSatTiles, TheFileIsThatOfTheWholeImage) {
  for (const char* border : {"zero", "none", "exclusive"})
    for (const char* types : {"8u32u", "16u64u", "32f64f"}) {
      const std::vector<std::string> words{"sat",       "a.npy",     "--border", border,      "--types", types,
                                           "--squares", "--backend", "cpu",      "--threads", "1"};
      auto whole = words, tiles = words;
      whole.insert(whole.end(), {"-o", "W.npy"});
      tiles.insert(tiles.end(), {"-o", "T.npy", "--device-memory", "90K", "-v"});
      answer(whole);
      const Outcome outcome = run(tiles);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, "");
      EXPECT_NE(outcome.err.find("by tiles: 1 x "), std::string::npos) << outcome.err;
      EXPECT_EQ(table("T.npy"), table("W.npy")) << border << " " << types;  // whole numbers, which floats hold
      EXPECT_EQ(table("T.squares.npy"), table("W.squares.npy")) << border << " " << types;
      const std::vector<std::string> region{"--region", "20,30,100,150"};
      EXPECT_EQ(answer({"query", "T.npy", "--region", "20,30,100,150"}),
                answer({"query", "W.npy", "--region", "20,30,100,150"}));
    }
  EXPECT_NE(table("T.npy"), table("T.squares.npy"));  // the comparison can fail
}

TEST_F(CommandSatTiles, WhatFitsIsMadeAsAWhole) {
  const Outcome outcome = run({"sat", "a.npy", "-o", "T.npy", "--device-memory", "1G", "-v"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("by tiles"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("algorithm"), std::string::npos) << outcome.err;
}

// Also without an option; here the table fits neither memory nor the disk.
TEST_F(CommandSatTiles, ATableThatMemoryDoesNotHoldGoesByTiles) {
  write_zeros(work / "huge.npy", 400'000);
  const Outcome outcome = run({"sat", "huge.npy", "-o", "T.npy", "-v"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("by tiles: 1 x "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("areal: T.npy: "), std::string::npos) << outcome.err;
  EXPECT_EQ(others({"a.npy", "huge.npy"}), std::vector<std::string>());
}

TEST_F(CommandSatTiles, SeveralDevicesAndPicturesToo) {
  write_file(work / "p.pgm", pgm(200, 300));
  answer({"sat", "a.npy", "-o", "W.npy"});
  const std::string devices = has_simt() ? "cpu:1,simt" : "cpu:2";
  for (const char* input : {"a.npy", "p.pgm"}) {
    const Outcome outcome = run({"sat", input, "-o", "T.npy", "--devices", devices, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("\"tiles\":{"), std::string::npos) << outcome.out;
    EXPECT_EQ(table("T.npy"), table("W.npy")) << input;
  }
}

TEST_F(CommandSatTiles, WhatIsRefusedLeavesNothing) {
  const auto refused = [&](std::vector<std::string> words, const std::string& sentence) {
    words.insert(words.begin(), {"sat", "a.npy"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_EQ(others({"a.npy"}), std::vector<std::string>()) << sentence;
  };
  const std::vector<std::string> small{"--device-memory", "90K"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), small.begin(), small.end());
    return words;
  };
  refused({"-o", "T.npy", "--device-memory", "2X"}, "--device-memory 2X: may be bytes");
  refused({"-o", "T.npy", "--device-memory", "0"}, "--device-memory 0: may be");
  refused({"-o", "T.npy", "--device-memory", "99999999T"}, "does not fit 63 bits");
  refused({"-o", "T.npy", "--devices", "gpu"}, "`gpu` is none");
  refused(with({"-o", "T.npy", "--tilted"}), "--tilted: not with --device-memory 90K; ");
  refused(with({"-o", "T.npy", "--region", "1,2,3,4"}),
          "--region 1,2,3,4: not with --device-memory 90K; areal query answers");
  refused(with({}), "--device-memory 90K: tiles are of tables: it needs -o FILE.npy");
  refused(with({"-o", "T.tif"}),
          "-o T.tif: not with --device-memory 90K; a .tif is written as a whole: it needs -o FILE.npy");
  refused(with({"-o", "T.npy", "--algorithm", "serial"}),
          "--algorithm serial: not with --device-memory 90K; it takes no carries");
}

TEST_F(CommandSatTiles, AFileThatCannotBeWrittenLeavesNothing) {
  const Outcome outcome = shell("ulimit -f 40; areal sat a.npy -o T.npy --device-memory 90K --backend cpu");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("areal: T.npy: "), std::string::npos) << outcome.err;
  EXPECT_EQ(others({"a.npy"}), std::vector<std::string>());
  const Outcome nowhere = run({"sat", "a.npy", "-o", "nowhere/T.npy", "--devices", "cpu"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("its folder does not exist"), std::string::npos) << nowhere.err;
}

TEST_F(CommandSatTiles, AFullDiskLeavesNothing) {
  const std::string unshare = geteuid() == 0 ? "unshare -m " : "unshare -Urm ";
  const std::string mount = "mkdir -p disk && mount -t tmpfs -o size=64k tmpfs disk && ";
  if (shell(unshare + "/bin/bash -c '" + mount + "true'").code != 0) GTEST_SKIP() << "no tmpfs may be mounted here";
  const Outcome outcome = shell(unshare + "/bin/bash -c '" + mount + areal_command() +
                                " sat a.npy -o disk/T.npy --device-memory 90K --backend cpu; echo $?; ls -A disk'");
  EXPECT_EQ(outcome.out, "1\n");
  EXPECT_NE(outcome.err.find("areal: disk/T.npy"), std::string::npos) << outcome.err;
}

// The image has 64 MiB, which may be mapped at once, and its table 256 MiB.
TEST_F(CommandSatTiles, TheTableIsNeverInMemoryAsAWhole) {
  if (std::getenv("AREAL_TEST_SHORT") != nullptr) GTEST_SKIP() << "a sanitizer takes memory of its own";
  write_zeros(work / "big.npy", 8192);
  const auto most_mib = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{areal_command(), "sat",      "big.npy", "-o",        "T.npy", "--types",
                                   "8u32u",         "--border", "none",    "--backend", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    const pid_t pid = start(words);
    int status = 0;
    rusage usage{};
    EXPECT_EQ(wait4(pid, &status, 0, &usage), pid);
    EXPECT_EQ(status, 0) << contents(folder / "io" / "err");
    return usage.ru_maxrss / 1024;
  };
  EXPECT_LT(most_mib({"--device-memory", "16M"}), 64 + 100);
  EXPECT_EQ(fs::file_size(work / "T.npy"), 128u + 4u * 8192 * 8192);
  EXPECT_GT(most_mib({}), 256);  // which the check would find
}

}  // namespace
}  // namespace areal::test
