#pragma once
// How the tests plant a fault: a kernel with C::bad breaks one rule, and the same kernel without it does not.
#include <gtest/gtest.h>
#include <fstream>
#include <functional>
#include <string>
#include "simt_kernels.hpp"

namespace areal::simt {

struct Bad {
  static constexpr bool bad = true;
};
struct Good {
  static constexpr bool bad = false;
};

/// The line of that file of this folder that ends with "// @mark". A compiler cache makes __FILE__ a relative path.
inline int line_of(const std::string& file, const std::string& mark) {
  std::ifstream in(AREAL_SOURCE_DIR "/tests/simt" + file.substr(file.rfind('/')));
  int number = 0, found = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string end = "// @" + mark;
    if (line.size() >= end.size() && line.compare(line.size() - end.size(), end.size(), end) == 0) {
      EXPECT_EQ(found, 0) << "two lines are marked @" << mark;
      found = number;
    }
  }
  EXPECT_NE(found, 0) << "no line of " << file << " is marked @" << mark;
  return found;
}

struct Expected {
  FaultKind kind;
  std::string kernel;
  std::string mark;        // of the line of the fault
  std::int64_t block = 0;  // -1: any
  int thread = -1;         // -1: any
  std::string other = {};  // mark of the line that it conflicts with
  int seeds = 1;           // of 16 seeds that must show it
  int residents = 0;       // blocks; 0: one to three
};

/// Runs body(launcher, bad) for 16 seeds: good never faults, bad faults as expected.
inline void expect_fault(const char* file, const Expected& expected, const std::function<void(Launcher&, bool)>& body) {
  SCOPED_TRACE(expected.kernel + " @" + expected.mark);
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Options options;
    options.seed = seed;
    options.patience = 50;
    options.residents = expected.residents > 0 ? expected.residents : 1 + static_cast<int>(seed % 3);
    {
      Launcher launcher(options);
      EXPECT_NO_THROW(body(launcher, false));
    }
    Launcher launcher(options);
    try {
      body(launcher, true);
    } catch (const Fault& fault) {
      ++shown;
      const std::string what = fault.what();
      EXPECT_EQ(name(fault.kind), std::string(name(expected.kind))) << what;
      EXPECT_EQ(fault.kernel, expected.kernel) << what;
      EXPECT_EQ(fault.site.line, line_of(file, expected.mark)) << what;
      EXPECT_EQ(std::string(fault.site.file), file);
      if (expected.block >= 0) {
        EXPECT_EQ(fault.block, expected.block) << what;
      }
      if (expected.thread >= 0) {
        EXPECT_EQ(fault.thread, expected.thread) << what;
        EXPECT_EQ(fault.lane, expected.thread % 32) << what;
      }
      if (!expected.other.empty()) {
        EXPECT_EQ(fault.other.line, line_of(file, expected.other)) << what;
      }
      EXPECT_EQ(fault.seed, seed);
      EXPECT_NE(what.find(expected.kernel), std::string::npos) << what;
      EXPECT_NE(what.find("seed " + std::to_string(seed)), std::string::npos) << what;
      if (shown == 1) testing::Test::RecordProperty("first_seed", static_cast<int>(seed));
      if (shown == 1 && std::getenv("AREAL_TEST_FAULTS") != nullptr) std::puts(what.c_str());
    }
  }
  EXPECT_GE(shown, expected.seeds) << "too few seeds show the fault";
}

/// The same for a kernel template: launches K<.., Bad> or K<.., Good>.
template <template <class, class> class K, class Args>
void launch_either(Launcher& launcher, bool bad, std::int64_t blocks, const Args& args) {
  if (bad)
    launcher.launch<K, Bad>(blocks, {args});
  else
    launcher.launch<K, Good>(blocks, {args});
}

/// The arguments of most of these kernels: memory that holds zeros, memory that holds nothing, a word that holds zero.
struct Buffers {
  const std::uint32_t* in;
  std::uint32_t* out;
  std::uint32_t* flag;
};

/// 1024 numbers to read, 1024 to write, one flag; blocks_each: of a cluster, 0 for none.
template <template <class, class> class K>
void expect_fault_of(const char* file, const Expected& expected, std::int64_t blocks = 1, int blocks_each = 0) {
  std::vector<Vec<std::uint32_t, 4>> in(256), out(256), flag(1);
  expect_fault(file, expected, [&](Launcher& launcher, bool bad) {
    flag[0] = {};
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    add(launcher, "flag", flag);
    const Buffers buffers{in[0].at, out[0].at, flag[0].at};
    if (blocks_each > 0 && bad)
      launcher.launch_clusters<K, Bad>(blocks_each, blocks / blocks_each, buffers);
    else if (blocks_each > 0)
      launcher.launch_clusters<K, Good>(blocks_each, blocks / blocks_each, buffers);
    else if (bad)
      launcher.launch<K, Bad>(blocks, buffers);
    else
      launcher.launch<K, Good>(blocks, buffers);
  });
}

// A kernel of these tests, but for its Shared and its call operator.
#define AREAL_TEST_KERNEL(count)        \
  static constexpr int threads = count; \
  using Args = Buffers;                 \
  M m;                                  \
  Args a;                               \
  AREAL_DEVICE void operator()()

}  // namespace areal::simt
