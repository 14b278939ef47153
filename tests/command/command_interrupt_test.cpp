// The command stopped at each call that makes, renames or removes a file (stop_at.cpp): by a signal to the thread that
// calls, by one to another thread meanwhile, killed, and refused.

#include <csignal>
#include <map>
#include "command_runner.hpp"
#include "extent.hpp"

namespace areal::test {
namespace {

using Files = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = contents(entry.path());
  return files;
}

class CommandInterrupt : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", array(61, 43, 1));
  }
  static std::string array(int width, int height, int factor) {
    std::string pixels;
    for (int i = 0; i < width * height; ++i) pixels += static_cast<char>(i * factor % 251);
    const std::string shape = std::to_string(height) + ", " + std::to_string(width);
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + pixels;
  }
  Outcome stopped(const Words& words, const std::string& how, int call, const std::string& where) {
    const std::string at = how + " " + std::to_string(call) + " " + where;
    return run(words, {}, {"LD_PRELOAD=" + of_build("tests/stop_at.so"), "AREAL_STOP_AT=" + at});
  }
  // Those that the command has written.
  Files outputs() {
    Files files;
    for (const std::string& name : others({"a.npy"})) files[name] = contents(work / name), fs::remove(work / name);
    return files;
  }
};

// Every output is made under a temporary name and renamed, so that there are two calls for each.
TEST_F(CommandInterrupt, LeavesNoPartialFileAtAnyCall) {
  const struct {
    Words words;
    int least_calls;
  } cases[] = {{{"sat", "a.npy", "-o", "T.npy"}, 4},
               {{"sat", "a.npy", "--squares", "-o", "T.npy"}, 6},
               {{"sat", "a.npy", "-o", "T.tif"}, 4},
               {{"sat", "a.npy", "-o", "T.npy", "--device-memory", "90K", "--backend", "cpu"}, 4},
               {{"hist", "a.npy", "--bins", "4", "-o", "H.npy"}, 4},
               {{"window", "a.npy", "--size", "3x3", "--mean", "-o", "w.npy"}, 2},
               {{"window", "a.npy", "--size", "3x3", "--mean", "-o", "w.png"}, 2},
               {{"window", "a.npy", "--size", "3x3", "--mean", "-o", "w.npy", "--memory", "300M"}, 2},
               {{"track", "data/vtest.avi", "--box", "254,220,31,89", "--frames", "2", "--draw", "o.avi"}, 2}};
  int number = 0;
  for (const auto& [words, least_calls] : cases) {
    SCOPED_TRACE(words[0] + " " + words.back());
    const Outcome whole = run(words);
    if (whole.err.find("cannot be read or written") != std::string::npos) continue;  // without that plug-in
    ASSERT_EQ(whole.code, 0) << whole.err;
    const Files expected = outputs();
    for (const std::string how : {"before", "after", "beside"}) {
      if (extent() == Extent::few && number++ % 4 != 0) continue;  // each in turn
      int calls = 0;
      for (;; ++calls) {
        const Outcome outcome = stopped(words, how, calls, "/.areal-");
        const Files left = outputs();
        if (outcome.code == 0) {
          EXPECT_EQ(left.size(), expected.size());
          break;
        }
        EXPECT_EQ(outcome.signal, SIGTERM) << how << " " << calls << ": " << outcome.err;
        EXPECT_EQ(outcome.err, "") << how << " " << calls;
        for (const auto& [name, bytes] : left) {
          ASSERT_TRUE(expected.contains(name)) << how << " " << calls << " left " << name;
          // A picture has its date, a sidecar the number of its run and the checksum of its table.
          const bool has_own = name.ends_with(".tif") || name.ends_with(".avi");
          const bool is_complete = name.ends_with(".json") ? bytes.starts_with("{") && bytes.ends_with("}\n")
                                   : has_own               ? bytes.size() == expected.at(name).size()
                                                           : bytes == expected.at(name);
          EXPECT_TRUE(is_complete) << how << " " << calls << ": " << name << " is not complete";
        }
        ASSERT_LT(calls, 40);
      }
      EXPECT_GE(calls, least_calls) << how;
    }
  }
}

// Nothing of an old chunked table is gone on with, wherever its replacement was killed or refused.
class CommandReplaces : public CommandInterrupt, public testing::WithParamInterface<const char*> {};

TEST_P(CommandReplaces, NothingOfTheOldTableStays) {
  if (run({"sat", "a.npy", "-o", "t.zarr"}).err.find("libareal_chunked") != std::string::npos)
    GTEST_SKIP() << "built without chunked tables";
  write_file(work / "old.npy", array(90, 4096 + 70, 7));
  write_file(work / "new.npy", array(90, 4096 + 70, 11));
  const Words replace{"sat", "new.npy", "-o", "t.zarr", "--tile", "1024", "--threads", "1", "--overwrite"};
  const Words resume{"sat", "new.npy", "-o", "t.zarr", "--tile", "1024", "--resume"};
  const auto write = [&](const char* input) {
    fs::remove_all(work / "t.zarr");
    const Outcome outcome = run({"sat", input, "-o", "t.zarr", "--tile", "1024"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return files_in(work / "t.zarr");
  };
  const Files expected = write("new.npy"), old = write("old.npy");
  fs::copy(work / "t.zarr", work / "old.zarr", fs::copy_options::recursive);
  ASSERT_FALSE(old == expected);
  // Until a few calls after all of the old table has gone; ChunkedResume has the states after that.
  int stops = 0, stops_after = 0;
  const int step = (std::string(GetParam()) == "kill" ? 1 : 3) * (extent() == Extent::few ? 3 : 1);
  for (int call = 0; stops_after < 3; call += step) {
    fs::remove_all(work / "t.zarr");
    fs::copy(work / "old.zarr", work / "t.zarr", fs::copy_options::recursive);
    const Outcome outcome = stopped(replace, GetParam(), call, "t.zarr");
    ASSERT_NE(outcome.code, 0);
    ++stops;
    if (std::string(GetParam()) == "kill") {
      EXPECT_EQ(outcome.signal, SIGKILL);
    } else {
      EXPECT_EQ(outcome.code, 1);
      EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos) << outcome.err;
    }
    const Files left = files_in(work / "t.zarr");
    if (left.at("zarr.json") == old.at("zarr.json")) {
      for (const auto& [name, bytes] : old) EXPECT_TRUE(left.contains(name) && left.at(name) == bytes) << name;
      continue;
    }
    EXPECT_EQ(left.at("zarr.json").find("\"complete\""), std::string::npos) << call;
    if (left.at("zarr.json").find("\"replacing\"") == std::string::npos) ++stops_after;
    const Outcome resumed = run(resume);
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    ASSERT_TRUE(files_in(work / "t.zarr") == expected) << call << ": rows of the old table stay";
    ASSERT_LT(call, 100);
  }
  EXPECT_GT(stops * step, 30);
}

INSTANTIATE_TEST_SUITE_P(Stops, CommandReplaces, testing::Values("kill", "refuse"));

}  // namespace
}  // namespace areal::test
