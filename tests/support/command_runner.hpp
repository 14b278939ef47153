#pragma once
// Runs the built command in its own folder and captures its output. Input files are made here, by hand.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <areal/info.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>
#include "build_tree.hpp"

extern char** environ;

namespace areal::test {

namespace fs = std::filesystem;

struct Outcome {
  std::string out, err;
  int code = -1;  // exit code, -1 if a signal ended it
  int signal = 0;
};

inline bool has_simt() {
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt) return row.available;
  return false;
}

// Whether the build has areal-lab, which runs `areal bench` and `areal model`.
inline bool has_laboratory() { return fs::exists(fs::path(areal_command()).parent_path() / "areal-lab"); }

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

inline std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();  // at once: tests read many megabytes
  return std::move(bytes).str();
}

inline void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.good()) << path;
}

// A folder that is removed after the test; `data` in it links to the shipped data.
class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "areal-command-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    fs::create_directory(folder / "io");
    fs::create_directory(folder / "work");
    fs::create_directory_symlink(fs::path(AREAL_SOURCE_DIR) / "data", folder / "work" / "data");
    work = folder / "work";
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(work, fs::perms::owner_all, ignored);
    fs::remove_all(folder, ignored);
  }

  // Starts a program with files as its standard streams.
  pid_t start(const std::vector<std::string>& words, const std::string& input = {},
              const std::vector<std::string>& environment = {}, const std::string& out_path = {}) {
    write_file(folder / "io" / "in", input);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, (folder / "io" / "in").c_str(), O_RDONLY, 0);
    const std::string out = out_path.empty() ? (folder / "io" / "out").string() : out_path;
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (folder / "io" / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, work.c_str());
    std::vector<char*> arguments, variables;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    for (char** variable = environ; *variable; ++variable) variables.push_back(*variable);
    for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), variables.data()), 0) << words[0];
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }

  Outcome wait(pid_t pid) {
    Outcome outcome;
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    outcome.out = contents(folder / "io" / "out");
    outcome.err = contents(folder / "io" / "err");
    return outcome;
  }

  Outcome run(std::vector<std::string> arguments, const std::string& input = {},
              const std::vector<std::string>& environment = {}) {
    arguments.insert(arguments.begin(), areal_command());
    return wait(start(arguments, input, environment));
  }

  Outcome shell(const std::string& script) {
    return wait(start({"/bin/bash", "-c", "areal() { " + areal_command() + " \"$@\"; }\n" + script}));
  }

  // As `run`, and it must succeed; returns its standard output.
  std::string answer(const std::vector<std::string>& arguments, const std::string& input = {}) {
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.signal, 0);
    return outcome.out;
  }

  // As `run`, and it must end with that code, nothing on standard output and one line that has the sentence.
  void expect_failure(const std::vector<std::string>& words, int code, const std::string& sentence) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err << "lacks\n" << sentence;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  // Names in the working folder other than those given: no incomplete file may remain.
  std::vector<std::string> others(const std::vector<std::string>& expected) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(work)) {
      const std::string name = entry.path().filename().string();
      if (name != "data" && std::find(expected.begin(), expected.end(), name) == expected.end()) found.push_back(name);
    }
    return found;
  }

  fs::path folder, work;
};

// The pixel of every picture made here; no two rows or columns of it are alike.
inline std::uint8_t pixel(int x, int y) { return static_cast<std::uint8_t>((x * 7 + y * 13 + x * y % 5) % 256); }

inline std::string pgm(int width, int height) {
  std::string bytes = "P5\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) bytes += static_cast<char>(pixel(x, y));
  return bytes;
}

// An .npy of version 1 with that dictionary.
inline std::string npy_with(const std::string& dictionary, const std::string& data) {
  std::string header = dictionary;
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

template <class T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values) {
  return npy_with("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }",
                  std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

inline std::vector<std::uint8_t> pixels(int width, int height) {
  std::vector<std::uint8_t> values;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) values.push_back(pixel(x, y));
  return values;
}

inline std::uint64_t direct_sum(int x0, int y0, int width, int height) {
  std::uint64_t sum = 0;
  for (int y = y0; y < y0 + height; ++y)
    for (int x = x0; x < x0 + width; ++x) sum += pixel(x, y);
  return sum;
}

}  // namespace areal::test
