// The HMM's clock, fed with the requests that the simulated machine charges, takes the time that follows from the rules
// of the HMM, worked out by hand.
#include <gtest/gtest.h>
#include <numeric>
#include "kernels/sat/registry.hpp"
#include "research/hierarchy_clock.hpp"
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

struct Shape {
  std::int64_t d, p, w, l;
};

HierarchyClock clock_of(const Shape& s) { return HierarchyClock({s.d, s.p, s.w, s.l, 0}); }

std::int64_t reversed(std::int64_t blocks, const Shape& shape, std::uint64_t seed = 1) {
  std::vector<float> in(static_cast<std::size_t>(256 * blocks), 1), out(in.size());
  HierarchyClock clock = clock_of(shape);
  Options options;
  options.seed = seed, options.width = static_cast<int>(shape.w), options.witness = &clock;
  Launcher launcher(options);
  add(launcher, "in", in, true, false);
  add(launcher, "out", out, false);
  launcher.launch<Reverse, Plain>(blocks, {in.data(), out.data()});
  EXPECT_EQ(clock.why_not(), "");
  return clock.units().value_or(-1);
}

TEST(HierarchyClock, OneBlockByHand) {
  // v = 256 / w warps load: warp i's request is complete at i + l. Each writes to shared memory in the next unit, the
  // last one at v + l, where they synchronise. They read one after another, and store a unit later: the last one enters
  // at 2 v + l.
  for (const std::int64_t w : {8, 16, 32})
    for (const std::int64_t l : {1, 10, 300})
      EXPECT_EQ(reversed(1, {1, 256, w, l}), 2 * 256 / w + 2 * l) << w << " " << l;
}

// The first warp loads four times more than the second one, then both store.
template <class M, class C>
struct Uneven {
  static constexpr int threads = 64;
  using Shared = NoShared;
  struct Args {
    const float* in;
    float* out;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    float sum = m.load(a.in + m.thread());
    if (m.warp() == 0)
      for (int i = 0; i < 4; ++i) sum += m.load(a.in + m.thread());
    m.sync();
    m.store(a.out + m.thread(), sum);
  }
};

TEST(HierarchyClock, TheThreadsOfABlockMeet) {
  std::vector<float> in(64, 1), out(in.size());
  for (const std::int64_t l : {2, 40}) {
    HierarchyClock clock = clock_of({1, 64, 32, l});
    Options options;
    options.witness = &clock;
    Launcher launcher(options);
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    launcher.launch<Uneven, Plain>(1, {in.data(), out.data()});
    EXPECT_EQ(clock.units(), 6 * l + 1);  // the second warp stores beside the first one, not as soon as it has loaded
  }
}

TEST(HierarchyClock, BlocksShareDmmsAndGlobalMemory) {
  const std::int64_t l = 10;
  // One DMM that holds one block: one after another.
  EXPECT_EQ(reversed(2, {1, 256, 32, l}), 2 * (16 + 2 * l));
  EXPECT_EQ(reversed(5, {2, 300, 32, l}), reversed(5, {2, 256, 32, l}));
  EXPECT_GT(reversed(5, {2, 256, 32, l}), reversed(4, {2, 256, 32, l}));
  // Two DMMs: the second one's loads enter after the first one's.
  EXPECT_EQ(reversed(2, {2, 256, 32, l}), 24 + 2 * l);
  EXPECT_EQ(reversed(2, {7, 256, 32, l}), 24 + 2 * l);
  // One DMM that holds both: at most the time of one after another, and at least that with a shared memory each.
  const std::int64_t both = reversed(2, {1, 512, 32, l});
  EXPECT_GE(both, 24 + 2 * l);
  EXPECT_LT(both, 2 * (16 + 2 * l));
  for (std::uint64_t seed = 2; seed < 6; ++seed)
    EXPECT_EQ(reversed(6, {2, 512, 32, l}, seed), reversed(6, {2, 512, 32, l}));
}

// Launches of one warp: a request enters when the one before is complete.
TEST(HierarchyClock, AWarpAloneWaitsForEachRequest) {
  const std::int64_t side = 32, l = 50;
  std::vector<float> image(static_cast<std::size_t>(side * side), 1), table(image.size());
  HierarchyClock clock = clock_of({4, 64, 32, l});
  Options options;
  options.witness = &clock;
  Launcher launcher(options);
  add(launcher, "image", image, true, false);
  add(launcher, "table", table, false);
  const kernels::TableRequest request{
      "", kernels::TableKind::pixels, {Type::f32, Type::f32}, {side, side}, Border::none, {}};
  const kernels::Plain plain{{reinterpret_cast<char*>(image.data()), side * 4, true},
                             {reinterpret_cast<char*>(table.data()), side * 4, true},
                             side,
                             side};
  kernels::TwoReadTwoWrite::sums<float, float>(launcher, request, plain, nullptr);
  const Counts c = launcher.total();
  EXPECT_EQ(c.launches, 2u);
  // Down the columns 2 * 32 requests of one group each, along the rows 32 + 31 of 32.
  EXPECT_EQ(c.reads.groups + c.writes.groups, 64u + 63 * 32);
  EXPECT_EQ(clock.units(), 64 + 63 * 32 + 127 * (l - 1));
}

// A block takes a ticket, waits for the word of the one before it, and publishes its own.
template <class M, class C>
struct Chain {
  static constexpr int threads = 32;
  struct Shared {
    std::uint64_t ticket;
  };
  struct Args {
    std::uint64_t* tickets;
    std::uint32_t* words;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) m.put(s.ticket, m.atomic_add(a.tickets, std::uint64_t{1}));
    m.sync();
    const std::uint64_t ticket = m.get(s.ticket);
    if (m.thread() != 0) return;
    std::uint32_t sum = 1;
    if (ticket > 0) {
      std::uint32_t before = 0;
      while ((before = m.load_relaxed(a.words + ticket - 1)) == 0) m.pause();
      sum += before;
    }
    m.store_relaxed(a.words + ticket, sum);
  }
};

std::int64_t chained(std::int64_t blocks, const Shape& shape, std::uint64_t seed, StartOrder start) {
  std::vector<std::uint64_t> tickets(1);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(blocks));
  HierarchyClock clock = clock_of(shape);
  Options options;
  options.seed = seed, options.start = start, options.width = static_cast<int>(shape.w), options.witness = &clock;
  Launcher launcher(options);
  add(launcher, "tickets", tickets);
  add(launcher, "words", words);
  launcher.launch<Chain, Plain>(blocks, {tickets.data(), words.data()});
  EXPECT_EQ(words.back(), blocks);
  EXPECT_EQ(clock.why_not(), "");
  return clock.units().value_or(-1);
}

TEST(HierarchyClock, WhoWaitsForAWordReadsItOnceWhenItIsThere) {
  // A ticket arrives at l, in shared memory at l + 1, and at all threads at l + 2; the word at 2 l + 2. Every other
  // block has its ticket by then: it reads the word before it, and publishes its own, 2 l later. The order in which
  // blocks ran and the number of polls do not matter.
  for (const std::int64_t l : {20, 300})
    for (const std::int64_t blocks : {1, 2, 9})
      for (std::uint64_t seed = 1; seed < 5; ++seed)
        for (const StartOrder start : {StartOrder::ascending, StartOrder::descending, StartOrder::random})
          EXPECT_EQ(chained(blocks, {4, 128, 32, l}, seed, start), 2 * blocks * l + 2)
              << l << " " << blocks << " seed " << seed;
  // One block at a time: each after the first waits for its ticket, for the word, and for its own.
  EXPECT_EQ(chained(5, {1, 32, 32, 20}, 3, StartOrder::descending), 2 * 20 + 2 + 4 * (3 * 20 + 2));
}

// Threads that add to one cell of shared memory do so one after another.
template <class M, class C>
struct AddShared {
  static constexpr int threads = 32;
  struct Shared {
    std::uint32_t cell[32];
  };
  struct Args {
    int apart;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.put(s.cell[m.thread()], 0u);
    m.sync();
    m.shared_add(s.cell[m.thread() / a.apart], 1u);
  }
};

TEST(HierarchyClock, SharedAtomicsConflict) {
  for (const int apart : {1, 2, 8, 32}) {
    HierarchyClock clock = clock_of({1, 32, 32, 7});
    Options options;
    options.witness = &clock;
    Launcher launcher(options);
    launcher.launch<AddShared, Plain>(1, {apart});
    EXPECT_EQ(clock.units(), 1 + apart);
    EXPECT_EQ(clock.stages(), 1 + apart);
    EXPECT_EQ(clock.global_units(), 0);
  }
}

// Operations that the HMM does not define.
TEST(HierarchyClock, SaysWhyThereIsNoTime) {
  EXPECT_THROW(clock_of({1, 32, 64, 1}), memory::Fault);
  EXPECT_THROW(clock_of({1, 32, 3, 1}), memory::Fault);
  HierarchyClock small = clock_of({1, 128, 32, 1}), waits = clock_of({4, 1024, 32, 1});
  for (HierarchyClock* const clock : {&small, &waits}) {
    Options options;
    options.witness = clock;
    Launcher launcher(options);
    constexpr std::int64_t blocks = 4;
    std::vector<float> from(256, 1), to(256);
    add(launcher, "from", from, true, false);
    add(launcher, "to", to, false);
    std::vector<std::uint32_t> in(128 * blocks, 3), out(in.size());
    std::vector<Word> words(blocks);
    add(launcher, "in", in, true, false);
    add(launcher, "out", out, false);
    add(launcher, "words", words);
    launcher.launch<Reverse, Plain>(1, {from.data(), to.data()});
    if (clock == &waits) {
      launcher.launch<LookBackScan, Plain>(blocks, {in.data(), out.data(), words.data()});
      EXPECT_TRUE(clock->units().has_value());
    }
    EXPECT_EQ(clock->units().has_value(), clock == &waits);
  }
  EXPECT_EQ(small.why_not(), "a block has 256 threads, a DMM 128");
  EXPECT_EQ(small.global_units(), std::nullopt);
}

}  // namespace
}  // namespace areal::simt
