// The command as a process: outputs that cannot be written, readers that close early.

#include "command_runner.hpp"

namespace areal::test {
namespace {

class CommandProcess : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "43, 61", pixels(61, 43)));
  }
};

TEST_F(CommandProcess, AFullStandardOutputIsAFailure) {
  const Outcome outcome = wait(start({areal_command(), "algorithms"}, "", {}, "/dev/full"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "areal: standard output: No space left on device\n");
}

TEST_F(CommandProcess, AReaderThatLeavesEndsItQuietly) {
  std::string regions = "x,y,width,height\n";
  for (int i = 0; i < 200000; ++i) regions += "1,2,3,4\n";
  write_file(work / "r.csv", regions);
  const Outcome outcome = shell("areal sat a.npy --regions r.csv | head -n 2; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(outcome.out, "region,x,y,width,height,sum\n0,1,2,3,4," + std::to_string(direct_sum(1, 2, 3, 4)) + "\n0\n");
  EXPECT_EQ(outcome.err, "");
  // If the reader does not close, all rows come.
  EXPECT_EQ(shell("areal sat a.npy --regions r.csv | wc -l").out, "200001\n");
}

TEST_F(CommandProcess, OutputsThatMayNotBeWritten) {
  fs::create_directory(work / "folder.npy");
  const Outcome taken = run({"sat", "a.npy", "-o", "folder.npy"});
  EXPECT_EQ(taken.code, 1);
  EXPECT_NE(taken.err.find("areal: folder.npy: is a folder"), std::string::npos) << taken.err;
  const Outcome nowhere = run({"sat", "a.npy", "-o", "nowhere/T.npy"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("areal: nowhere/T.npy: its folder does not exist"), std::string::npos) << nowhere.err;
  EXPECT_EQ(others({"a.npy", "folder.npy"}), std::vector<std::string>());
}

TEST_F(CommandProcess, AnOutputThatIsReadOnlyIsKept) {
  write_file(work / "T.npy", "precious");
  fs::permissions(work / "T.npy", fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder, fs::perms::all);
  fs::permissions(work, fs::perms::all);
  // Root may write anything, so the test runs as nobody.
  const std::string line = areal_command() + " sat a.npy -o T.npy";
  if (geteuid() == 0 &&
      (shell("command -v setpriv").code != 0 ||
       shell("setpriv --reuid 65534 --regid 65534 --clear-groups " + areal_command() + " --version").code != 0))
    GTEST_SKIP() << "as root, and nobody cannot run " << areal_command();
  const Outcome outcome = shell((geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "") + line);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("areal: T.npy: exists and may not be written"), std::string::npos) << outcome.err;
  EXPECT_EQ(contents(work / "T.npy"), "precious");
  EXPECT_EQ(others({"a.npy", "T.npy"}), std::vector<std::string>());
}

// The libraries of pictures abort the process where their static constructors get no memory.
TEST_F(CommandProcess, LittleAddressSpaceForPicturesIsOneSentence) {
  if (shell("ulimit -v 200000; areal info").code != 0)
    GTEST_SKIP() << "the command does not start in that address space: it is sanitized";
  ASSERT_EQ(run({"sat", AREAL_SOURCE_DIR "/data/sudoku.png", "--region", "0,0,9,9"}).code, 0);
  for (const int mib : {200, 400, 440, 470, 500}) {
    const Outcome outcome = shell("ulimit -v " + std::to_string(mib * 1024) +
                                  "; areal sat " AREAL_SOURCE_DIR "/data/sudoku.png --region 0,0,9,9");
    EXPECT_EQ(outcome.code, 1) << mib << " MiB\n" << outcome.err;
    EXPECT_NE(outcome.err.find("areal: pictures cannot be read or written: the libraries for them take 460 MiB of "
                               "address space, of which its limit (ulimit -v) leaves"),
              std::string::npos)
        << outcome.err;
  }
}

TEST_F(CommandProcess, AFileThatGrowsTooLargeLeavesNothing) {
  // ulimit counts in KiB; the table has 62 * 44 * 4 bytes.
  const Outcome outcome = shell("ulimit -f 4; areal sat a.npy -o T.npy");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("areal: T.npy: "), std::string::npos) << outcome.err;
  EXPECT_EQ(others({"a.npy"}), std::vector<std::string>());
  EXPECT_EQ(shell("ulimit -f 400; areal sat a.npy -o T.npy").code, 0);
}

TEST_F(CommandProcess, AFullDiskLeavesNothing) {
  const std::string unshare = geteuid() == 0 ? "unshare -m " : "unshare -Urm ";
  const std::string mount = "mkdir -p disk && mount -t tmpfs -o size=64k tmpfs disk && ";
  if (shell(unshare + "/bin/bash -c '" + mount + "true'").code != 0) GTEST_SKIP() << "no tmpfs may be mounted here";
  write_file(work / "b.npy", npy("|u1", "200, 300", pixels(300, 200)));
  for (const char* verb :
       {"sat b.npy -o disk/T.npy", "hist b.npy -o disk/H.npy", "window b.npy --size 3x3 --mean -o disk/w.npy"}) {
    const Outcome outcome =
        shell(unshare + "/bin/bash -c '" + mount + areal_command() + " " + verb + "; echo $?; ls -A disk'");
    EXPECT_EQ(outcome.out, "1\n") << verb;
    EXPECT_NE(outcome.err.find("areal: disk/"), std::string::npos) << outcome.err;
  }
  // The check can fail: a small table fits.
  EXPECT_EQ(
      shell(unshare + "/bin/bash -c '" + mount + areal_command() + " sat a.npy -o disk/T.npy; echo $?; ls disk'").out,
      "0\nT.json\nT.npy\n");
}

TEST_F(CommandProcess, AVideoIsStreamed) {
  // The rows of the first arrays come while the producer is still working: the producer waits for them.
  const Outcome outcome = shell(
      "mkfifo in; areal sat - --region 1,2,3,4 < in > out.csv & exec 3> in; cat a.npy a.npy >&3;"
      "for i in $(seq 100); do [ \"$(wc -l < out.csv)\" -ge 2 ] && break; sleep 0.1; done; wc -l < out.csv; cat a.npy "
      ">&3;"
      "exec 3>&-; wait; wc -l < out.csv");
  const int early = std::stoi(outcome.out);
  EXPECT_GE(early, 2);
  EXPECT_LE(early, 3);
  EXPECT_EQ(outcome.out.substr(outcome.out.find('\n')), "\n4\n");
}

}  // namespace
}  // namespace areal::test
