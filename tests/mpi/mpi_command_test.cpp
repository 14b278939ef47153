// areal-mpi under mpirun on 1 to 4 ranks: files against sums pixel by pixel, answers, wrong use, a rank that cannot
// read, one that parts from the others, and one that is killed while the table is written.
#include <sys/stat.h>
#include <sys/wait.h>
#include <areal/region.hpp>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include "command_runner.hpp"
#include "media/media.hpp"

namespace areal::test {
namespace {

constexpr int width = 23, height = 17;

std::string mpi_command() { return of_build("apps/areal-mpi/areal-mpi"); }

class MpiCommand : public CommandTest {
 protected:
  std::vector<std::string> words_of(int ranks, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{AREAL_RUN_RANKS, std::to_string(ranks), mpi_command()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Outcome on(int ranks, const std::vector<std::string>& arguments) { return wait(start(words_of(ranks, arguments))); }
  std::string answer_on(int ranks, const std::vector<std::string>& arguments) {
    const Outcome outcome = on(ranks, arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  Outcome wait_after_kill(pid_t mpirun, const std::vector<pid_t>& ranks);
  void write_image() { write_file(work / "image.npy", npy("|u1", "17, 23", pixels(width, height))); }
};

/// The command's own words on standard error; mpirun adds some of its own.
std::string said(const Outcome& outcome) {
  std::istringstream lines(outcome.err);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("areal-mpi: ")) all += line + "\n";
  return all;
}

/// The bytes of an .npy behind its header.
template <class T>
std::vector<T> entries(const std::string& file) {
  if (file.size() < 10) return {};
  const std::size_t begin = 10 + static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
  std::vector<T> values((file.size() - begin) / sizeof(T));
  std::memcpy(values.data(), file.data() + begin, values.size() * sizeof(T));
  return values;
}

std::vector<std::uint32_t> table_by_pixels() {
  std::vector<std::uint32_t> table;
  for (int y = 0; y <= height; ++y)
    for (int x = 0; x <= width; ++x) table.push_back(static_cast<std::uint32_t>(direct_sum(0, 0, x, y)));
  return table;
}

TEST_F(MpiCommand, TheFileIsTheTableHoweverRowsAreSpread) {
  write_image();
  const std::vector<std::uint32_t> right = table_by_pixels();
  const auto written = [&](int ranks, const std::string& strips) {
    std::vector<std::string> arguments{"sat", "image.npy", "-o", "t.npy"};
    if (!strips.empty()) arguments.insert(arguments.end(), {"--strips", strips});
    answer_on(ranks, arguments);
    return entries<std::uint32_t>(contents(work / "t.npy"));
  };
  EXPECT_EQ(written(3, ""), right);
  EXPECT_EQ(written(4, "0,9,0,8"), right);
  EXPECT_EQ(others({"image.npy", "t.npy", "t.json"}), std::vector<std::string>());
  auto wrong = right;
  wrong[30] ^= 1;
  EXPECT_NE(written(2, "1,16"), wrong);
  // With the sidecar that areal's queries read.
  const media::TableFile file = media::read_table(work / "t.npy");
  EXPECT_EQ(file.border, Border::zero);
  EXPECT_EQ(file.types, "8u32u");
  EXPECT_EQ(region_sum(TableView(file.table.view(), file.border), {3, 4, 10, 11}),
            static_cast<double>(direct_sum(3, 4, 10, 11)));
}

TEST_F(MpiCommand, SquaresBordersAndMoreRanksThanRows) {
  write_file(work / "low.raw", std::string("\1\2\3\4\5\6", 6));
  answer_on(4, {"sat", "low.raw", "--raw", "3x2x8u", "-o", "t.npy", "--squares", "--border", "none"});
  EXPECT_EQ(entries<std::uint32_t>(contents(work / "t.npy")), (std::vector<std::uint32_t>{1, 3, 6, 5, 12, 21}));
  EXPECT_EQ(entries<std::uint64_t>(contents(work / "t.squares.npy")),
            (std::vector<std::uint64_t>{1, 5, 14, 17, 46, 91}));
  answer_on(4, {"sat", "low.raw", "--raw", "3x2x8u", "-o", "t.npy", "--border", "exclusive"});
  EXPECT_EQ(entries<std::uint32_t>(contents(work / "t.npy")), (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 3}));
}

/// The pixel of seed 9, as the command describes synthetic images: SplitMix64's byte at its place in the period.
std::uint64_t synthetic_pixel(std::uint64_t x, std::uint64_t y) {
  std::uint64_t z = 9 + 251 * (y % 241) + x % 251 + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) >> 56;
}

TEST_F(MpiCommand, QueriesOfASyntheticImageAreItsFormula) {
  write_file(work / "r.csv", "x,y,width,height,name\n0,0,3000,1000,all\n17,300,2500,650,part\n5,999,1,1,one\n");
  const auto sum = [](std::uint64_t x, std::uint64_t y, std::uint64_t w, std::uint64_t h) {
    std::uint64_t all = 0;
    for (std::uint64_t v = y; v < y + h; ++v)
      for (std::uint64_t u = x; u < x + w; ++u) all += synthetic_pixel(u, v);
    return std::to_string(all);
  };
  const std::string right = "region,x,y,width,height,sum\nall,0,0,3000,1000," + sum(0, 0, 3000, 1000) +
                            "\npart,17,300,2500,650," + sum(17, 300, 2500, 650) + "\none,5,999,1,1," +
                            sum(5, 999, 1, 1) + "\n";
  EXPECT_EQ(answer_on(2, {"query", "synthetic:3000x1000:9", "--regions", "r.csv"}), right);
  EXPECT_NE(answer_on(2, {"query", "synthetic:3000x1000:8", "--regions", "r.csv"}), right);
}

TEST_F(MpiCommand, MeansAndVariancesAreThePixels) {
  write_image();
  std::int64_t sum = 0, squares = 0;
  for (int y = 3; y < 14; ++y)
    for (int x = 2; x < 22; ++x) sum += pixel(x, y), squares += pixel(x, y) * pixel(x, y);
  const std::string out = answer_on(
      3, {"query", "image.npy", "--strips", "1,0,16", "--region", "2,3,20,11", "--stat", "mean,sum,variance,std"});
  std::istringstream lines(out);
  std::string head, row;
  std::getline(lines, head), std::getline(lines, row);
  EXPECT_EQ(head, "region,x,y,width,height,mean,sum,variance,std");
  std::vector<double> values;
  std::istringstream fields(row);
  for (std::string field; std::getline(fields, field, ',');) values.push_back(std::stod(field));
  ASSERT_EQ(values.size(), 9u) << row;
  const double variance = static_cast<double>(220 * squares - sum * sum) / (220.0 * 220);
  EXPECT_EQ(values[5], static_cast<double>(sum) / 220);
  EXPECT_EQ(values[6], static_cast<double>(sum));
  EXPECT_EQ(values[7], variance);
  EXPECT_EQ(values[8], std::sqrt(variance));
}

TEST_F(MpiCommand, HistogramsCountPixels) {
  write_image();
  std::array<int, 4> counts{};
  for (int y = 2; y < 15; ++y)
    for (int x = 1; x < 20; ++x) ++counts[pixel(x, y) / 64];
  std::string right = "region,x,y,width,height,bin0,bin1,bin2,bin3\n0,1,2,19,13";
  for (const int count : counts) right += "," + std::to_string(count);
  EXPECT_EQ(answer_on(3, {"hist", "image.npy", "--bins", "4", "--region", "1,2,19,13", "-o", "h.npy"}), right + "\n");
  const std::vector<std::uint32_t> tensor = entries<std::uint32_t>(contents(work / "h.npy"));
  ASSERT_EQ(tensor.size(), 4u * width * height);
  std::uint32_t of_bin_2 = 0;
  for (const std::uint8_t p : pixels(width, height)) of_bin_2 += p / 64 == 2;
  EXPECT_EQ(tensor[3u * width * height - 1], of_bin_2);
}

TEST_F(MpiCommand, WrongUseAndUnreadableFilesAreOneSentence) {
  write_image();
  const auto ends = [&](int code, const std::string& words, const std::vector<std::string>& arguments) {
    const Outcome outcome = on(2, arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(said(outcome), "areal-mpi: " + words + "\n") << outcome.err;
  };
  ends(2, "region 0 (x 0, y 0, width 24, height 1) reaches outside the image of 23x17",
       {"query", "image.npy", "--region", "0,0,24,1"});
  ends(2, "--strips 1,2: has 3 rows in all, the image 17",
       {"query", "image.npy", "--region", "0,0,1,1", "--strips", "1,2"});
  ends(2, "--stat sum,median: median is no statistic; it may be sum, mean, variance or std",
       {"query", "image.npy", "--region", "0,0,1,1", "--stat", "sum,median"});
  ends(2, "--region 0 0 1 1: separate the numbers by commas: --region 0,0,1,1",
       {"query", "image.npy", "--region", "0", "0", "1", "1"});
  ends(2, "--regoin: no option of query; did you mean --region?", {"query", "image.npy", "--regoin", "0,0,1,1"});
  write_file(work / "none.csv", "x,y,width,height\n");
  ends(2, "--regions none.csv: holds no region", {"query", "image.npy", "--regions", "none.csv"});
  ends(2, "--regions none.csv: holds no region", {"hist", "image.npy", "--regions", "none.csv"});
  fs::remove(work / "none.csv");
  ends(1, "rank 0: no/t.npy: its folder does not exist", {"sat", "image.npy", "-o", "no/t.npy"});
  EXPECT_EQ(others({"image.npy"}), std::vector<std::string>());
  const Outcome help = on(2, {"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.out.find("Summed-area tables"), help.out.rfind("Summed-area tables")) << "not once";
}

// The pixels of one rank decide for all.
TEST_F(MpiCommand, AnswersThatMayHaveWrappedOrSpreadAreRefused) {
  std::vector<std::uint64_t> wide(12, 7);
  wide[11] = std::uint64_t{1} << 63;
  write_file(work / "wide.npy", npy("<u8", "4, 3", wide));
  EXPECT_EQ(answer_on(2, {"query", "wide.npy", "--region", "2,3,1,1"}),
            "region,x,y,width,height,sum\n0,2,3,1,1,9223372036854775808\n");
  const Outcome wrapped = on(2, {"query", "wide.npy", "--region", "1,3,2,1"});
  EXPECT_EQ(wrapped.code, 2);
  EXPECT_NE(said(wrapped).find("its sum may exceed 64u, as pixels are up to 9223372036854775808"), std::string::npos);
  std::vector<float> odd(12, 0.5F);
  write_file(work / "even.npy", npy("<f4", "4, 3", odd));
  odd[1] = std::nanf("");
  write_file(work / "odd.npy", npy("<f4", "4, 3", odd));
  EXPECT_EQ(answer_on(2, {"query", "even.npy", "--region", "2,3,1,1"}), "region,x,y,width,height,sum\n0,2,3,1,1,0.5\n");
  const Outcome spread = on(2, {"query", "odd.npy", "--region", "2,3,1,1"});
  EXPECT_EQ(spread.code, 2);
  EXPECT_NE(said(spread).find("odd.npy: holds NaN or infinity"), std::string::npos);
  // A refused question writes no table.
  for (const std::vector<std::string>& question :
       {std::vector<std::string>{"sat", "wide.npy", "-o", "t.npy", "--region", "1,3,2,1"},
        {"sat", "even.npy", "-o", "t.npy", "--region", "0,0,9,9"},
        {"hist", "even.npy", "--bins", "4", "--range", "0,1", "-o", "t.npy", "--region", "0,0,9,9"}})
    EXPECT_EQ(on(2, question).code, 2);
  EXPECT_EQ(others({"wide.npy", "even.npy", "odd.npy"}), std::vector<std::string>());
}

TEST_F(MpiCommand, ValuesInNoBinAreTold) {
  std::vector<float> values(12, 0.5F);
  const auto hist = [&] {
    write_file(work / "f.npy", npy("<f4", "4, 3", values));
    const Outcome outcome = on(2, {"hist", "f.npy", "--bins", "2", "--region", "0,0,3,4"});
    EXPECT_EQ(outcome.code, 0);
    return said(outcome);
  };
  EXPECT_EQ(hist(), "");
  values[3] = 2;
  EXPECT_EQ(hist(), "areal-mpi: note: 1 of 12 values are in none of the bins\n");
  values.assign(12, 5.0F);
  EXPECT_EQ(hist(), "areal-mpi: none of the 12 values is in one of the bins: choose them with --range\n");
}

TEST_F(MpiCommand, ARankThatCannotReadEndsAll) {
  write_image();
  const std::vector<std::string> good{"sat", "image.npy", "-o", "t.npy"}, bad{"sat", "none.npy", "-o", "t.npy"};
  std::vector<std::string> words = words_of(1, good);
  for (const std::string& word : {std::string(":"), std::string("-n"), std::string("1"), mpi_command()})
    words.push_back(word);
  words.insert(words.end(), bad.begin(), bad.end());
  const Outcome outcome = wait(start(words));
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(said(outcome), "areal-mpi: rank 1: none.npy: there is no such file\n");
  EXPECT_EQ(others({"image.npy"}), std::vector<std::string>());
}

TEST_F(MpiCommand, ARankThatPartsFromTheOthersEndsAll) {
  write_image();
  std::vector<std::string> words = words_of(1, {"sat", "image.npy", "-o", "t.npy"});
  for (const std::string& word :
       {std::string(":"), std::string("-n"), std::string("1"), mpi_command(), std::string("--nonsense")})
    words.push_back(word);
  const Outcome outcome = wait(start(words));
  EXPECT_NE(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(said(outcome).starts_with("areal-mpi: rank 1: ")) << outcome.err;
  EXPECT_EQ(others({"image.npy"}), std::vector<std::string>());
}

TEST_F(MpiCommand, RanksThatAreAskedForDifferentThingsAreToldSo) {
  write_image();
  std::vector<std::string> words = words_of(1, {"sat", "image.npy", "-o", "t.npy"});
  for (const std::string& word :
       {std::string(":"), std::string("-n"), std::string("1"), mpi_command(), std::string("hist"),
        std::string("image.npy"), std::string("--region"), std::string("0,0,1,1")})
    words.push_back(word);
  const Outcome outcome = wait(start(words));
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(
      said(outcome),
      "areal-mpi: rank 1: was asked for hist --region, and the first rank for sat -o: all ranks must be started with "
      "the same of these\n");
  EXPECT_EQ(others({"image.npy"}), std::vector<std::string>());
}

/// The first line of a process's file; empty where the process has ended, before or while it is read.
std::string line_of_process(pid_t process, const std::string& file) {
  std::ifstream from("/proc/" + std::to_string(process) + "/" + file);
  std::string line;
  std::getline(from, line);
  return line;
}

/// The ranks that mpirun has started; the script before it has other children.
std::vector<pid_t> ranks_of(pid_t mpirun) {
  std::vector<pid_t> found;
  std::istringstream list(line_of_process(mpirun, "task/" + std::to_string(mpirun) + "/children"));
  for (pid_t child; list >> child;)
    if (line_of_process(child, "comm") == "areal-mpi") found.push_back(child);
  return found;
}

bool has_ended(pid_t process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
}

/// True for a rank that has ended, whether mpirun has waited for it or not.
bool is_gone(pid_t rank) {
  const std::string stat = line_of_process(rank, "stat");
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

/// Waits until mpirun or all its ranks have ended, and then for mpirun. After a rank was killed, about one mpirun of
/// Open MPI 4.1.4 in 100 never ends: it waits in PMIx_server_finalize for a mutex, with no rank left. That one is
/// killed.
Outcome MpiCommand::wait_after_kill(pid_t mpirun, const std::vector<pid_t>& ranks) {
  using std::chrono_literals::operator""ms;
  while (!has_ended(mpirun) && !std::all_of(ranks.begin(), ranks.end(), is_gone)) std::this_thread::sleep_for(1ms);
  for (int k = 0; k < 20000 && !has_ended(mpirun); ++k) std::this_thread::sleep_for(1ms);
  if (!has_ended(mpirun)) kill(mpirun, SIGKILL);
  return wait(mpirun);
}

TEST_F(MpiCommand, AKilledRankLeavesNothing) {
  const auto holds = [&](const char* extension) {
    for (const auto& entry : fs::directory_iterator(work))
      if (entry.path().extension() == extension) return true;
    return false;
  };
  // On a busy machine the table may be complete before this process sees it begun: then once more.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const pid_t mpirun = start(words_of(2, {"sat", "synthetic:6000x6000:1", "-o", "t.npy"}));
    while (!holds(".tmp") && !holds(".npy") && !has_ended(mpirun))
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::vector<pid_t> ranks = ranks_of(mpirun);
    const bool is_unfinished = holds(".tmp") && ranks.size() == 2;
    if (is_unfinished)
      kill(*std::min_element(ranks.begin(), ranks.end()), SIGKILL);  // the first, which created the file
    const Outcome outcome = is_unfinished ? wait_after_kill(mpirun, ranks) : wait(mpirun);
    if (is_unfinished && outcome.code != 0 && !holds(".npy")) {
      EXPECT_EQ(others({}), std::vector<std::string>());
      return;
    }
    ASSERT_TRUE(is_unfinished || outcome.code == 0) << outcome.err;
    for (const char* const file : {"t.npy", "t.json"}) fs::remove(work / file);
  }
  FAIL() << "the table was never seen unfinished";
}

// While it starts MPI, reads, computes or waits for messages: the other is ended, and nothing is answered.
TEST_F(MpiCommand, ARankThatDiesAtAnyMomentEndsAll) {
  int finished = 0;
  std::size_t victim = 0;
  for (const int milliseconds : {0, 100, 250, 500, 900}) {
    const pid_t mpirun = start(words_of(2, {"query", "synthetic:16000x12000:1", "--region", "0,0,16000,12000"}));
    std::vector<pid_t> ranks;
    for (int k = 0; k < 20000 && ranks.size() < 2; ++k) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      ranks = ranks_of(mpirun);
    }
    ASSERT_EQ(ranks.size(), 2u);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(ranks[victim++ % 2], SIGKILL);
    const Outcome outcome = wait_after_kill(mpirun, ranks);
    if (outcome.out.empty()) {
      EXPECT_NE(outcome.code, 0) << milliseconds;
      continue;
    }
    ++finished;  // it had answered before it was killed
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2) << milliseconds;
  }
  EXPECT_LE(finished, 2);
}

TEST_F(MpiCommand, BenchKeepsRecords) {
  const std::string lines = answer_on(2, {"bench", "--image", "300x200", "--repeat", "2", "--record", "b.json"});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2 * 4 + 2);
  const std::string file = contents(work / "b.json");
  for (const char* const part : {"\"scaling\": \"weak\"", "\"ranks\": 2", "\"exchange_us\"", "\"sent_bytes\"",
                                 "\"floor\": \"copy\"", "\"checked\": true"})
    EXPECT_NE(file.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace areal::test
