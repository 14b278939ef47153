// areal sat -o T.zarr, areal query T.zarr, areal info T.zarr: chunked tables by the command.

#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <thread>
#include "command_answers.hpp"

namespace areal::test {
namespace {

using namespace std::chrono_literals;

std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::string bytes(entry.file_size(), '\0');
    std::ifstream(entry.path(), std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    files[entry.path().lexically_relative(folder).string()] = bytes;
  }
  return files;
}

std::size_t unfinished_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& [name, bytes] : files_below(folder)) count += name.ends_with(".partial");
  return count;
}

/// The synthetic image as its help and its recipe describe it, a pixel at a time.
std::uint64_t synthetic_pixel(std::uint64_t seed, std::int64_t x, std::int64_t y) {
  std::uint64_t z = seed + static_cast<std::uint64_t>(251 * (y % 241) + x % 251) + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return (z ^ (z >> 31)) >> 56;
}

class CommandChunked : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "430, 610", pixels(610, 430)));
  }
};

TEST_F(CommandChunked, WritesAnswersAndDescribes) {
  EXPECT_EQ(answer({"sat", "a.npy", "-o", "T.zarr", "--tile", "64"}), "");
  EXPECT_EQ(others({"a.npy", "T.zarr"}), std::vector<std::string>());
  EXPECT_EQ(answer({"query", "T.zarr"}),
            "region,x,y,width,height,sum\n0,0,0,610,430," + std::to_string(direct_sum(0, 0, 610, 430)) + "\n");
  const std::string expected = std::to_string(direct_sum(100, 20, 300, 400));
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--unchecked"}, {"--memory", "300M"}, {"--threads", "1"}, {"--outside", "clip"}}) {
    std::vector<std::string> words{"query", "T.zarr", "--region", "100,20,300,400"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(answer(words), "region,x,y,width,height,sum\n0,100,20,300,400," + expected + "\n");
  }
  write_file(work / "r.csv", "x,y,width,height,name\n1,2,3,4,nose\n600,400,50,50,edge\n5,5,0,9,none\n-8,0,8,9,out\n");
  const std::vector<Json> found = json_lines(
      answer({"query", "T.zarr", "--regions", "r.csv", "--outside", "clip", "--stat", "sum,mean", "--json"}));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0]["sum"], direct_sum(1, 2, 3, 4));
  EXPECT_EQ(found[0]["mean"], static_cast<double>(direct_sum(1, 2, 3, 4)) / 12);
  EXPECT_EQ(found[1]["sum"], direct_sum(600, 400, 10, 30));
  EXPECT_EQ(found[1]["mean"], static_cast<double>(direct_sum(600, 400, 10, 30)) / 300);
  EXPECT_EQ(found[2]["sum"], 0);
  EXPECT_TRUE(found[2]["mean"].is_null() && found[3]["mean"].is_null());
  EXPECT_EQ(answer({"info", "T.zarr"}), "T.zarr: chunked table of 610x430 pixels of uint8, in tiles of 64\n");
  EXPECT_EQ(answer({"info", "T.zarr", "--verify"}),
            "T.zarr: chunked table of 610x430 pixels of uint8, in tiles of 64\nevery checksum is right\n");
  const Json info = Json::parse(answer({"info", "T.zarr", "--verify", "--json"}));
  EXPECT_EQ(info, (Json{{"table", "T.zarr"},
                        {"width", 610},
                        {"height", 430},
                        {"dtype", "uint8"},
                        {"tile", 64},
                        {"damage", Json::array()}}));
  const Json written = Json::parse(answer({"sat", "a.npy", "-o", "T.zarr", "--overwrite", "--json"}));
  EXPECT_EQ(written["tile"], 1024);
  EXPECT_EQ(written["tables"], Json::array({"T.zarr"}));
}

TEST_F(CommandChunked, PicturesAndSixteenBits) {
  write_file(work / "p.pgm", pgm(90, 70));
  answer({"sat", "p.pgm", "-o", "P.zarr"});
  EXPECT_NE(
      answer({"query", "P.zarr", "--region", "3,4,50,60"}).find("," + std::to_string(direct_sum(3, 4, 50, 60)) + "\n"),
      std::string::npos);
  std::vector<std::uint16_t> wide;
  std::uint64_t sum = 0;
  for (const std::uint8_t value : pixels(61, 43)) sum += wide.emplace_back(static_cast<std::uint16_t>(value * 257));
  write_file(work / "w.npy", npy("<u2", "43, 61", wide));
  answer({"sat", "w.npy", "-o", "W.zarr"});
  EXPECT_NE(answer({"query", "W.zarr"}).find("," + std::to_string(sum) + "\n"), std::string::npos);
  EXPECT_EQ(Json::parse(answer({"info", "W.zarr", "--json"}))["tile"], 256);
  // Colour becomes luma, or is one channel.
  std::vector<std::uint8_t> colours;
  for (int y = 0; y < 43; ++y)
    for (int x = 0; x < 61; ++x)
      for (const int c : {0, 1, 2}) colours.push_back(pixel(x + c, y));
  write_file(work / "c.npy", npy("|u1", "43, 61, 3", colours));
  answer({"sat", "c.npy", "-o", "C.zarr", "--channel", "1"});
  EXPECT_NE(answer({"query", "C.zarr"}).find("," + std::to_string(direct_sum(1, 0, 61, 43)) + "\n"), std::string::npos);
  answer({"sat", "c.npy", "-o", "L.zarr"});
  answer({"sat", "c.npy", "-o", "L.npy"});
  EXPECT_EQ(answer({"query", "L.zarr"}), answer({"query", "L.npy"}));
}

TEST_F(CommandChunked, ASyntheticImageHasTheSumsOfItsFormula) {
  const std::uint64_t seed = 12345;
  std::string regions = "x,y,width,height\n";
  std::vector<std::uint64_t> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    const std::int64_t x = random() % 900, y = random() % 700, w = random() % (901 - x), h = random() % (701 - y);
    regions += std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(w) + "," + std::to_string(h) + "\n";
    std::uint64_t sum = 0;
    for (std::int64_t v = y; v < y + h; ++v)
      for (std::int64_t u = x; u < x + w; ++u) sum += synthetic_pixel(seed, u, v);
    expected.push_back(sum);
  }
  write_file(work / "r.csv", regions);
  answer({"sat", "synthetic:900x700:12345", "-o", "S.zarr", "--tile", "128"});
  const std::string by_table = answer({"query", "S.zarr", "--regions", "r.csv"});
  EXPECT_EQ(answer({"query", "synthetic:900x700:12345", "--regions", "r.csv"}), by_table);
  EXPECT_NE(answer({"query", "synthetic:900x700:12346", "--regions", "r.csv"}), by_table);
  std::istringstream lines(by_table);
  std::string line;
  std::getline(lines, line);
  for (const std::uint64_t sum : expected) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(line.ends_with("," + std::to_string(sum))) << line << " instead of " << sum;
  }
  // A hundred gigapixels, far from the corner, by the formula.
  EXPECT_TRUE(answer({"query", "synthetic:316228x316228:1", "--region", "316000,316000,2,1"})
                  .ends_with("," +
                             std::to_string(synthetic_pixel(1, 316000, 316000) + synthetic_pixel(1, 316001, 316000)) +
                             "\n"));
}

// Without a table: the image passes once, strip by strip.
TEST_F(CommandChunked, AnswersByStrips) {
  write_file(work / "r.csv",
             "x,y,width,height,name\n1,2,3,4,nose\n600,400,10,30,edge\n5,5,0,9,none\n0,0,610,430,all\n");
  for (const char* stats : {"sum", "sum,mean,variance,std"})
    EXPECT_EQ(answer({"sat", "a.npy", "--regions", "r.csv", "--memory", "300M", "--stat", stats}),
              answer({"sat", "a.npy", "--regions", "r.csv", "--stat", stats}));
  EXPECT_EQ(answer({"sat", "synthetic:3000x2000:9", "--region", "17,1000,2900,999", "--memory", "200M"}),
            answer({"query", "synthetic:3000x2000:9", "--region", "17,1000,2900,999"}));
  if (shell("ulimit -v $((240 * 1024)); areal info").code == 0) {
    const Outcome limited =
        shell("ulimit -v $((240 * 1024)); areal sat synthetic:16384x9000:3 --region 5,6,16000,8000 --memory 240M");
    EXPECT_EQ(limited.code, 0) << limited.err;
    EXPECT_EQ(limited.out, answer({"query", "synthetic:16384x9000:3", "--region", "5,6,16000,8000"}));
  }
  expect_failure({"sat", "a.npy", "--region", "0,0,611,1", "--memory", "1G"}, 2, "610x430");
  // Requests that strips do not support use the whole image if it fits.
  for (const char* stats : {"sum", "tilted"}) {
    const std::vector<std::string> words{"sat", "a.npy", "--region", "90,7,30,40", "--stat", stats, "--tilted"};
    std::vector<std::string> limited = words;
    limited.insert(limited.end(), {"--memory", "165M"});
    EXPECT_EQ(answer(limited), answer(words));
  }
  expect_failure({"sat", "synthetic:9000x9000:1", "--region", "0,0,1,1", "--memory", "165M", "--stat", "tilted"}, 2,
                 "--stat tilted: not with --memory 165M; ");
}

// The table has 268 MB and the image 67 MB; the process may not have more address space than --memory.
TEST_F(CommandChunked, MemoryIsObeyed) {
  if (shell("ulimit -v $((240 * 1024)); areal info").code != 0)
    GTEST_SKIP() << "the command does not start in that address space: it is sanitized";
  const std::string limited = "ulimit -v $((240 * 1024)); ";
  const Outcome written = shell(limited + "areal sat synthetic:16384x4096:3 -o T.zarr --memory 240M");
  EXPECT_EQ(written.code, 0) << written.err;
  std::string regions = "x,y,width,height\n";
  for (int i = 0; i < 3000; ++i)
    regions += std::to_string(i) + "," + std::to_string(i % 100) + "," + std::to_string(3 * i) + "," +
               std::to_string(i) + "\n";
  write_file(work / "r.csv", regions);
  const Outcome answered = shell(limited + "areal query T.zarr --regions r.csv --memory 240M");
  EXPECT_EQ(answered.code, 0) << answered.err;
  EXPECT_EQ(answered.out, answer({"query", "synthetic:16384x4096:3", "--regions", "r.csv"}));
  // The check can fail: a verb that holds the whole table does not run.
  write_file(work / "big.raw", "");
  fs::resize_file(work / "big.raw", std::uintmax_t{16384} * 4096);
  const Outcome whole = shell(limited + "areal sat big.raw --raw 16384x4096x8u -o W.npy --tilted");
  EXPECT_EQ(whole.code, 1);
  // Too little is one sentence.
  expect_failure({"sat", "synthetic:16384x4096:3", "-o", "U.zarr", "--memory", "161M"}, 1, "--memory 161M: at least ");
  expect_failure({"sat", "synthetic:16384x4096:3", "-o", "U.zarr", "--memory", "10M"}, 1,
                 "the command itself takes 160M");
  EXPECT_FALSE(fs::exists(work / "U.zarr"));
}

// Interrupted, terminated and killed in turn, resumed each time, with the same bytes at the end.
TEST_F(CommandChunked, InterruptAndResume) {
  const std::string image = "synthetic:700x40000:5";
  answer({"sat", image, "-o", "whole.zarr", "--tile", "256"});
  const auto expected = files_below(work / "whole.zarr");
  fs::remove_all(work / "whole.zarr");
  int interrupted = 0;
  std::size_t objects = 0;
  for (const int signal : {SIGINT, SIGKILL, SIGTERM, SIGINT}) {
    const pid_t pid =
        start({areal_command(), "sat", image, "-o", "T.zarr", "--resume", "--tile", "256", "--threads", "1"});
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    // Until it has come two rows of shards further, or is done.
    const auto rows = [&] {
      std::error_code error;
      std::size_t count = 0;
      for (auto at = fs::directory_iterator(work / "T.zarr/local/c", error); !error && at != fs::directory_iterator();
           at.increment(error))
        ++count;
      return count;
    };
    while (rows() < objects + 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(500us);
    objects = rows();
    kill(pid, signal);
    const Outcome outcome = wait(pid);
    if (outcome.code == 0) break;  // it was faster
    ++interrupted;
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_EQ(outcome.err, signal == SIGINT ? "areal: note: T.zarr: interrupted, and not complete; the same call with "
                                              "--resume goes on\n"
                                            : "");
    if (signal == SIGINT) {
      EXPECT_EQ(unfinished_in(work / "T.zarr"), 0u);
    }
    expect_failure({"query", "T.zarr"}, 1, "T.zarr: the table is not complete");
    expect_failure({"sat", image, "-o", "T.zarr", "--tile", "256"}, 1, "the option resume (--resume) goes on with it");
    expect_failure({"sat", "a.npy", "-o", "T.zarr", "--resume"}, 1, "T.zarr: is the table of 700x40000 pixels");
  }
  EXPECT_GE(interrupted, 1);
  answer({"sat", image, "-o", "T.zarr", "--resume"});
  EXPECT_TRUE(files_below(work / "T.zarr") == expected);
}

TEST_F(CommandChunked, AFullDiskLeavesWhatCanBeResumed) {
  const std::string unshare = geteuid() == 0 ? "unshare -m " : "unshare -Urm ";
  const std::string mount = "mkdir -p disk && mount -t tmpfs -o size=1200k tmpfs disk && ";
  if (shell(unshare + "/bin/bash -c '" + mount + "true'").code != 0) GTEST_SKIP() << "no tmpfs may be mounted here";
  // Three rows of shards need 64 * 2 tiles of 16 KiB each, and the disk holds none of them whole.
  const std::string call = areal_command() + " sat synthetic:100x9000:1 -o disk/T.zarr --tile 64 --resume; echo $?; ";
  const Outcome outcome =
      shell(unshare + "/bin/bash -c '" + mount + call + "find disk -name \"*.partial\" | wc -l; " +
            "mount -o remount,size=20m disk; " + call + areal_command() + " info disk/T.zarr --verify | tail -n 1'");
  EXPECT_EQ(outcome.out, "1\n0\n0\nevery checksum is right\n");
  EXPECT_EQ(outcome.err, "areal: disk/T.zarr/local/c/0/0: could not be written (No space left on device)\n");
}

TEST_F(CommandChunked, DamageIsNamed) {
  answer({"sat", "a.npy", "-o", "T.zarr", "--tile", "64"});
  std::string shard = contents(work / "T.zarr/local/c/0/0");
  shard[3 * 16388 + 100] = static_cast<char>(shard[3 * 16388 + 100] ^ 16);
  write_file(work / "T.zarr/local/c/0/0", shard);
  const std::string finding = "T.zarr/local/c/0/0: tile (0, 3) of local is damaged, as its checksum tells";
  const Outcome outcome = run({"info", "T.zarr", "--verify"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("\n" + finding + "\n"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "areal: T.zarr: 1 of its parts is damaged\n");
  expect_failure({"query", "T.zarr", "--region", "0,0,200,20"}, 1, finding);
  EXPECT_NE(answer({"query", "T.zarr", "--region", "0,0,100,20"}), "");  // another tile
}

TEST_F(CommandChunked, WrongUse) {
  answer({"sat", "a.npy", "-o", "T.zarr"});
  write_file(work / "f.npy", npy("<f4", "3, 4", std::vector<float>(12)));
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"sat", "a.npy", "-o", "U.zarr", "--types", "8u64u"}, "--types 8u64u: not with -o U.zarr"},
      {{"sat", "a.npy", "-o", "U.zarr", "--border", "exclusive"}, "--border exclusive: not with"},
      {{"sat", "a.npy", "-o", "U.zarr", "--squares"}, "--squares: not with"},
      {{"sat", "a.npy", "-o", "U.zarr", "--tilted"}, "--tilted: not with"},
      {{"sat", "a.npy", "-o", "U.zarr", "--region", "0,0,1,1"}, "--region 0,0,1,1: not with"},
      {{"sat", "a.npy", "-o", "U.zarr", "--algorithm", "serial"}, "--algorithm serial: not with"},
      {{"sat", "a.npy", "-o", "U.zarr", "--tile", "100"}, "tile 100: of uint8 pixels it may be 64, 128"},
      {{"sat", "a.npy", "-o", "U.zarr", "--tile", "x"}, "--tile x: not a whole number"},
      {{"sat", "a.npy", "-o", "U.zarr", "--memory", "much"}, "--memory much: may be bytes"},
      {{"sat", "a.npy", "-o", "U.zarr", "--resume", "--overwrite"}, "--resume and --overwrite: only one"},
      {{"sat", "a.npy", "-o", "U.npy", "--resume"}, "--resume: not with -o U.npy; it is for chunked tables"},
      {{"sat", "f.npy", "-o", "U.zarr"}, "pixels of 32f; chunked tables are of 8u and 16u"},
      {{"sat", "synthetic:10", "-o", "U.zarr"}, "synthetic:10: may be synthetic:WxH:SEED"},
      {{"sat", "synthetic:10x-1:1", "-o", "U.zarr"}, "may not be less than 0"},
      {{"query", "T.zarr", "--stat", "std"}, "--stat std: not with T.zarr; a chunked table answers sums and means"},
      {{"query", "T.zarr", "--squares", "T.zarr"}, "--squares T.zarr: not with T.zarr; it is for a table"},
      {{"query", "T.zarr", "--entropy"}, "--entropy: not with T.zarr; it is for a tensor"},
      {{"query", "T.zarr", "--region", "600,400,11,1"}, "reaches outside the image of 610x430"},
      {{"query", "a.npy", "--unchecked"}, "--unchecked: not with a.npy; it is for chunked tables"},
      {{"info", "--verify"}, "--verify: needs a chunked table"},
  };
  for (const auto& [words, sentence] : wrong) expect_failure(words, 2, sentence);
  expect_failure({"sat", "-", "-o", "U.zarr"}, 1, "standard input: holds no .npy array");
  expect_failure({"query", "data"}, 1, "data/zarr.json: the metadata is missing");
  expect_failure({"sat", "a.npy", "-o", "T.zarr"}, 1, "T.zarr: a chunked table is there");
  expect_failure({"sat", "a.npy", "-o", "data.zarr/T.zarr"}, 1, "data.zarr/T.zarr: the folder could not be made");
  expect_failure({"info", "a.npy", "--verify"}, 2, "--verify: a.npy is a picture");
  EXPECT_EQ(others({"a.npy", "f.npy", "T.zarr"}), std::vector<std::string>());
}

}  // namespace
}  // namespace areal::test
