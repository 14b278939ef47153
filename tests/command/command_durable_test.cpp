// The command on a file system that fails, is killed or loses power at each operation (fail_at.cpp): afterwards the
// output's name has what was there, what was to be there, or what is refused with a sentence, and a second call makes
// it whole. AREAL_TEST_FULL=1 tries every operation, others some.

#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

constexpr unsigned seed = 20261126;
const bool is_full = std::getenv("AREAL_TEST_FULL") != nullptr, is_short = std::getenv("AREAL_TEST_SHORT") != nullptr;

std::string array(int width, int height, int factor) {
  std::string pixels;
  for (int i = 0; i < width * height; ++i) pixels += static_cast<char>(i * factor % 251);
  const std::string shape = std::to_string(height) + ", " + std::to_string(width);
  return npy_with("{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }", pixels);
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words no_sync{"--no-sync"};  // of calls that nothing happens to: it would only take time

struct Output {
  const char* name;
  Words input;         // of the call that is watched, and of the one before, in which `a.npy` stands for `b.npy`
  Words when_there{};  // to replace one
  Words again{};       // to go on
  Words question{};    // of tables; others are compared
};

const Output outputs[] = {
    {"t.npy", {"sat", "a.npy"}, {}, {}, {"query", "t.npy", "--region", "3,2,20,11"}},
    {"t.npy", {"sat", "a.npy", "--squares"}, {}, {}, {"query", "t.npy", "--region", "3,2,20,11", "--stat", "sum,std"}},
    {"t.zarr",
     {"sat", "tall.npy", "--tile", "512"},
     {"--overwrite"},
     {"--resume"},
     {"query", "t.zarr", "--region", "1,2,50,4000"}},
    {"w.npy", {"window", "a.npy", "--mean", "--size", "3x3"}},
    {"w.png", {"window", "a.npy", "--mean", "--size", "3x3"}},
};

class CommandDurable : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", array(61, 43, 1));
    write_file(work / "b.npy", array(61, 43, 7));
    write_file(work / "tall.npy", array(60, 4096 + 70, 3));
    write_file(work / "other-tall.npy", array(60, 4096 + 70, 11));
    std::string name = fs::canonical(work).string();
    canonical = name;
  }

  static Words call(const Output& output, const Words& more = {}) {
    return with(with(output.input, {"-o", output.name, "--threads", "1"}), more);
  }
  static Words call_of_another(const Output& output) {
    Words words = call(output);
    for (std::string& word : words) {
      if (word == "a.npy") word = "b.npy";
      if (word == "tall.npy") word = "other-tall.npy";
    }
    return words;
  }

  void clear() {
    for (const std::string& name : others({"a.npy", "b.npy", "tall.npy", "other-tall.npy"}))
      fs::remove_all(work / name);
    fs::remove_all(folder / "notes");
    fs::create_directory(folder / "notes");
  }
  void put_back(const fs::path& from) {
    clear();
    fs::copy(from, work, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  void save(const fs::path& to) {
    fs::remove_all(to);
    fs::create_directory(to);
    for (const std::string& name : others({"a.npy", "b.npy", "tall.npy", "other-tall.npy"}))
      fs::copy(work / name, to / name, fs::copy_options::recursive);
  }

  Outcome failing(const Words& words, const std::string& how, long at) {
    const std::string notes = fs::canonical(folder / "notes").string();
    return run(words, {},
               {"LD_PRELOAD=" + of_build("tests/fail_at.so"),
                "AREAL_FAIL_AT=" + how + " " + std::to_string(at) + " " + canonical + " " + notes});
  }
  long count(const Words& words) {
    EXPECT_EQ(failing(words, "count", -2).code, 0);
    return std::stol("0" + contents(folder / "notes" / "count"));
  }

  /// What the output holds: an answer, or its bytes. None where it is not there, or is refused in a sentence.
  std::string held(const Output& output) {
    if (output.question.empty()) return fs::exists(work / output.name) ? contents(work / output.name) : "";
    const Outcome outcome = run(output.question);
    if (outcome.code == 0) return outcome.out;
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.code << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
    return "";
  }

  std::string canonical;
};

std::vector<long> some_of(long count, std::size_t most, std::mt19937& random) {
  std::vector<long> all;
  for (long n = 0; n < count; ++n) all.push_back(n);
  if (is_full || all.size() <= most) return all;
  std::shuffle(all.begin(), all.end(), random);
  all.resize(most);
  return all;
}

TEST_F(CommandDurable, EveryOperationMayFailOrBeTheLast) {
  std::mt19937 random(seed);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  long stops = 0, failures = 0;
  for (const Output& output : outputs) {
    clear();
    const Outcome first = run(with(call_of_another(output), no_sync));
    const bool lacks = first.err.find("cannot be read or written") != std::string::npos ||
                       first.err.find("libareal_chunked") != std::string::npos;
    if (lacks) continue;
    ASSERT_EQ(first.code, 0) << first.err;
    const std::string old = held(output);
    save(folder / "old");
    clear();
    ASSERT_EQ(run(call(output, no_sync)).code, 0);
    const std::string right = held(output);
    ASSERT_NE(old, right);
    for (const bool is_there : {false, true}) {
      if (is_short && random() % 2 == 0) continue;
      const Words words = call(output, is_there ? output.when_there : Words{});
      const auto begin = [&] { is_there ? put_back(folder / "old") : clear(); };
      begin();
      const long operations = count(words);
      EXPECT_GT(operations, 4);
      for (const std::string how : {"fail", "before", "after", "zeroed", "lost"})
        for (const long at : some_of(operations, 1, random)) {
          SCOPED_TRACE(testing::Message() << words[0] << " -o " << output.name << (is_there ? " over another" : "")
                                          << ", " << words[2] << ": " << how << ' ' << at << " of " << operations);
          begin();
          const Outcome outcome = failing(words, how, at);
          const std::string found = held(output);
          ++stops;
          if (how != "fail") {
            EXPECT_EQ(outcome.signal, SIGKILL) << outcome.code << outcome.err;
          } else if (outcome.code == 0) {  // what may fail, such as the room that is reserved
            EXPECT_EQ(found, right);
          } else {
            ++failures;
            EXPECT_EQ(outcome.code, 1);
            EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
            for (const std::string& name : others({})) EXPECT_FALSE(name.starts_with(".areal-")) << name;
          }
          EXPECT_TRUE(found == right || found.empty() || (is_there && found == old)) << found.substr(0, 300);
          // The name of a file of its own always has one of the two.
          if (is_there && output.question.empty()) {
            EXPECT_FALSE(found.empty());
          }
          // A table that is still the old one as a whole is not one to go on with.
          const bool is_old = is_there && found == old;
          const Words how_again = is_old || output.again.empty() ? output.when_there : output.again;
          const Outcome again = run(call(output, with(how_again, no_sync)));
          EXPECT_EQ(again.code, 0) << again.err;
          EXPECT_EQ(held(output), right);
        }
    }
  }
  EXPECT_GT(stops, is_short ? 5 : 30);
  EXPECT_GT(failures, 0);
}

// A command that exits with 0 has its output on the disk; without the flush it has not, so that this test can fail.
TEST_F(CommandDurable, WhatIsReportedIsOnTheDisk) {
  for (const Output& output : outputs) {
    clear();
    const Outcome first = run(call(output, no_sync));
    if (first.code != 0) continue;  // without that plug-in
    const std::string right = held(output);
    for (const std::string how : {"zeroed", "lost"})
      for (const bool syncs : {true, false}) {
        SCOPED_TRACE(testing::Message() << output.name << ", " << output.input.back() << ", " << how << ", " << syncs);
        // Pictures are written by the C library, whose writes are not seen.
        if (!syncs && how == "zeroed" && std::string(output.name) == "w.png") continue;
        clear();
        const Outcome outcome = failing(call(output, syncs ? Words{} : Words{"--no-sync"}), how, -1);
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(held(output) == right, syncs);
      }
  }
}

// `--repair` checks every object of a complete table, and says which one it found.
TEST_F(CommandDurable, RepairsACompleteTable) {
  const Words make{"sat", "tall.npy", "--tile", "512", "-o", "t.zarr", "--no-sync"}, repair = with(make, {"--repair"});
  const Outcome first = run(make);
  if (first.code != 0) GTEST_SKIP() << "built without chunked tables";
  const auto files = [&] {
    Files found;
    for (const auto& entry : fs::recursive_directory_iterator(work / "t.zarr"))
      if (entry.is_regular_file()) found[entry.path().lexically_relative(work).string()] = contents(entry.path());
    return found;
  };
  const Files sound = files();
  const Outcome nothing = run(repair);
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(nothing.err, "");
  EXPECT_EQ(files(), sound);
  std::mt19937 random(seed);
  for (const std::string name : {"local/c/0/0", "local/c/1/0", "left/c/0/8", "left/c/0/1", "corner/c/8/0",
                                 "corner/c/3/0", "top/c/0/0", "top/c/8/0", "top/c/5/0"}) {
    const std::string bytes = sound.at("t.zarr/" + name);
    std::string flipped = bytes, index = bytes;
    flipped[random() % bytes.size()] ^= 4;
    index[bytes.size() - 9] ^= 1;
    for (const std::string& damaged :
         {flipped, bytes.substr(0, bytes.size() / 2), index, std::string(bytes.size(), '\0'), std::string()}) {
      if (!is_full && random() % (is_short ? 8 : 4) != 0) continue;
      write_file(work / "t.zarr" / name, damaged);
      const Outcome outcome = run(repair);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
      EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find("written again"), std::string::npos) << outcome.err;
      EXPECT_EQ(files(), sound) << name;
    }
    if (!is_full && random() % 4 != 0) continue;
    fs::remove(work / "t.zarr" / name);
    EXPECT_EQ(run(repair).code, 0);
    EXPECT_EQ(files(), sound) << name;
  }
  // A repair that is killed leaves a table that is not complete, which another one completes.
  for (const long at : {3L, 6L, 9L}) {
    write_file(work / "t.zarr/local/c/0/0", "none");
    fs::create_directories(folder / "notes");
    EXPECT_EQ(failing({"sat", "tall.npy", "--tile", "512", "-o", "t.zarr", "--repair"}, "before", at).signal, SIGKILL);
    expect_failure({"query", "t.zarr", "--region", "1,2,3,4"}, 1, "t.zarr");
    EXPECT_EQ(run(repair).code, 0);
    EXPECT_EQ(files(), sound);
  }
  expect_failure(with(make, {"--repair", "--overwrite"}), 2, "--repair and --overwrite: only one of the two");
  expect_failure({"sat", "a.npy", "-o", "t.npy", "--repair"}, 2,
                 "--repair: not with -o t.npy; it is for chunked tables");
  expect_failure({"sat", "a.npy", "-o", "t.zarr", "--repair"}, 1, "t.zarr: is the table of 60x4166 pixels");
}

}  // namespace
}  // namespace areal::test
