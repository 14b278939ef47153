// Verbs under a limit of address space that neither their image nor what they write fits, and a table whose writer is
// killed at seeded moments.

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include "command_runner.hpp"
#include "extent.hpp"

namespace areal::test {
namespace {

using namespace std::chrono_literals;

constexpr int limit_mb = 280;

class CommandLargeMemory : public CommandTest {
 protected:
  /// The command with that much address space and no more (RLIMIT_AS).
  Outcome limited(const std::string& words) { return shell(limit() + "areal " + words); }
  static std::string limit() { return "ulimit -v " + std::to_string(limit_mb * 1024) + "; "; }
  /// Under a sanitizer the command does not even start in it.
  bool starts() { return shell(limit() + "areal info").code == 0; }
  std::string right(const std::string& words) {
    const Outcome outcome = limited(words + " --memory " + std::to_string(limit_mb) + "M");
    EXPECT_EQ(outcome.code, 0) << words << "\n" << outcome.err;
    return outcome.out;
  }
  /// An .npy of 8u whose pixels are 0 but for those that are set.
  void write_sparse(const std::string& name, std::int64_t width, std::int64_t height,
                    const std::map<std::pair<std::int64_t, std::int64_t>, std::uint8_t>& set) {
    const std::string head = npy_with("{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(height) +
                                          ", " + std::to_string(width) + "), }",
                                      "");
    write_file(work / name, head);
    fs::resize_file(work / name, head.size() + static_cast<std::uintmax_t>(width * height));
    std::fstream file(work / name, std::ios::in | std::ios::out | std::ios::binary);
    for (const auto& [place, value] : set) {
      file.seekp(static_cast<std::streamoff>(head.size()) + place.second * width + place.first);
      file.put(static_cast<char>(value));
    }
  }
};

// 600 MB of pixels in 280 MB.
TEST_F(CommandLargeMemory, RegionsOfAPicture) {
  if (!starts()) GTEST_SKIP() << "the command does not start in that address space: it is sanitized";
  write_sparse("big.npy", 30000, 20000,
               {{{0, 0}, 200}, {{29999, 19999}, 7}, {{20000, 15000}, 90}, {{20001, 15000}, 3}});
  const std::string regions = " --region 0,0,30000,20000 --region 20000,15000,9999,4999 --region 20001,14000,2,2000";
  const std::string rows =
      "region,x,y,width,height,sum\n0,0,0,30000,20000,300\n1,20000,15000,9999,4999,93\n2,20001,14000,2,2000,3\n";
  EXPECT_EQ(right("query big.npy" + regions), rows);
  EXPECT_EQ(right("sat big.npy" + regions), rows);
  EXPECT_EQ(right("hist big.npy --bins 2 --region 0,0,30000,20000 --region 20001,14000,2,2000"),
            "region,x,y,width,height,bin0,bin1\n0,0,0,30000,20000,599999999,1\n1,20001,14000,2,2000,4000,0\n");
  // The check can fail: a call that takes no heed of the limit does not go.
  for (const char* words :
       {"sat big.npy --tilted --region 0,0,30000,20000", "hist synthetic:8192x8192:1 --bins 4 -o T.npy --memory 4G",
        "window big.npy --mean --size 9x9 -o w.npy --memory 4G"}) {
    const Outcome outcome = limited(words);
    EXPECT_EQ(outcome.code, 1) << words;
    EXPECT_NE(outcome.err.find("could not be allocated"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(others({"big.npy"}), std::vector<std::string>());
}

// A tensor of 512 MB, and windows of 384 MB.
TEST_F(CommandLargeMemory, WhatIsWritten) {
  if (!starts()) GTEST_SKIP() << "the command does not start in that address space: it is sanitized";
  const std::string image = "synthetic:10000x6400:3";
  right("hist " + image + " --bins 2 -o T.npy");
  ASSERT_EQ(fs::file_size(work / "T.npy"), 128u + 2u * 4 * 10000 * 6400);
  // The tensor's last entry of each bin, inclusive, is the histogram of the whole.
  std::ifstream file(work / "T.npy", std::ios::binary);
  std::string counts;
  for (const std::int64_t bin : {1, 2}) {
    std::uint32_t count = 0;
    file.seekg(128 + 4 * (bin * 10000 * 6400 - 1));
    file.read(reinterpret_cast<char*>(&count), 4);
    counts += "," + std::to_string(count);
  }
  EXPECT_TRUE(answer({"hist", image, "--bins", "2"}).ends_with("6400" + counts + "\n")) << counts;
  fs::remove(work / "T.npy");

  // Only .npy: the libraries of picture formats need more address space than that.
  const std::string windows = "synthetic:8000x6000:3";
  right("window " + windows + " --sum --size 1x1 -o w.npy");
  ASSERT_EQ(fs::file_size(work / "w.npy"), 128u + 8u * 8000 * 6000);
  const std::string sums = right("query w.npy --picture --region 0,0,8000,6000 --region 123,3000,7000,2999");
  EXPECT_EQ(sums, answer({"query", windows, "--region", "0,0,8000,6000", "--region", "123,3000,7000,2999"}));
  fs::remove(work / "w.npy");
}

// Killed at seeded moments of its work, and gone on with each time: the bytes of an uninterrupted run. A moment
// is when the table's folder has gained so many files, as a machine may be slow.
TEST_F(CommandLargeMemory, KilledAtManyMoments) {
  const unsigned seed = 14;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const std::vector<std::string> words{"sat", "synthetic:200x24000:5", "--tile", "64", "--threads", "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  const auto names = [&](const fs::path& table) {
    std::vector<fs::path> found;
    std::error_code gone;  // a file may be renamed or removed meanwhile
    for (fs::recursive_directory_iterator entry(table, gone), end; !gone && entry != end; entry.increment(gone))
      if (entry->is_regular_file(gone)) found.push_back(entry->path());
    return found;
  };
  const auto files = [&](const fs::path& table) {
    std::map<std::string, std::string> found;
    for (const fs::path& path : names(table)) found[path.lexically_relative(table).string()] = contents(path);
    return found;
  };
  answer(with({"-o", "whole.zarr"}));
  const std::size_t all = names(work / "whole.zarr").size();
  ASSERT_GE(all, 8u);
  std::mt19937 random(seed);
  int kills = 0, unfinished = 0;
  const int moments = extent() == Extent::few ? 6 : 20;
  for (int moment = 0; moment < moments; ++moment) {
    std::vector<std::string> call = with({"-o", "T.zarr", "--resume"});
    call.insert(call.begin(), areal_command());
    const std::size_t enough = names(work / "T.zarr").size() + random() % (all / 2);
    const std::chrono::microseconds later(random() % 3000);
    const pid_t pid = start(call);
    siginfo_t ended{};
    while (names(work / "T.zarr").size() < enough && waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0)
      std::this_thread::sleep_for(200us);
    std::this_thread::sleep_for(later);
    kill(pid, SIGKILL);
    const Outcome outcome = wait(pid);
    kills += outcome.signal == SIGKILL;
    unfinished += fs::exists(work / "T.zarr") && run({"query", "T.zarr"}).code == 1;
    if (outcome.code == 0) fs::remove_all(work / "T.zarr");  // it was complete: begin anew
  }
  EXPECT_GE(kills, moments / 4);
  EXPECT_GE(unfinished, 1);
  answer(with({"-o", "T.zarr", "--resume"}));
  EXPECT_TRUE(files(work / "T.zarr") == files(work / "whole.zarr"));
}

}  // namespace
}  // namespace areal::test
