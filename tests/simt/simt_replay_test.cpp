// The seed determines everything: the same seed gives the same order of events, counts and faults; another seed another
// order.
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

struct Outcome {
  std::uint64_t order = 0;
  std::uint64_t events = 0;  // a hash of the whole trace
  std::uint64_t polls = 0;
  std::vector<std::uint32_t> out;

  bool operator==(const Outcome&) const = default;
};

// A buffer's address differs from run to run and must not matter.
Outcome look_back(std::uint64_t seed, bool checks = true) {
  constexpr std::int64_t blocks = 24;
  std::vector<std::uint32_t> in(128 * blocks, 3), out(in.size());
  std::vector<Word> words(blocks);
  Outcome run;
  Options options;
  options.seed = seed;
  options.checks = checks;
  options.trace = [&](const Event& e) {
    for (const std::uint64_t part : {e.step, static_cast<std::uint64_t>(e.block), static_cast<std::uint64_t>(e.thread),
                                     static_cast<std::uint64_t>(e.op), static_cast<std::uint64_t>(e.site.line)})
      run.events = (run.events ^ part) * 0x100000001b3u;
  };
  Launcher launcher(options);
  add(launcher, "in", in, true, false);
  add(launcher, "out", out, false);
  add(launcher, "words", words);
  launcher.launch<LookBackScan, Plain>(blocks, {in.data(), out.data(), words.data()});
  run.order = launcher.launches().at(0).order;
  run.polls = launcher.total().polls;
  run.out = out;
  return run;
}

TEST(SimtReplay, SameSeedSameRun) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Outcome first = look_back(seed);
    EXPECT_NE(first.events, 0u);
    for (int again = 0; again < 2; ++again) EXPECT_EQ(look_back(seed), first) << "seed " << seed;
    Outcome elsewhere;  // several launches run at once, each on its own thread
    std::thread([&] { elsewhere = look_back(seed); }).join();
    EXPECT_EQ(elsewhere, first) << "seed " << seed;
  }
}

TEST(SimtReplay, ChecksDoNotChangeTheOrder) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) EXPECT_EQ(look_back(seed, false), look_back(seed, true));
}

TEST(SimtReplay, AnotherSeedAnotherOrder) {
  std::set<std::uint64_t> orders, events;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    const Outcome run = look_back(seed);
    orders.insert(run.order);
    events.insert(run.events);
  }
  EXPECT_EQ(orders.size(), 32u);
  EXPECT_EQ(events.size(), 32u);
}

}  // namespace
}  // namespace areal::simt
