// The clocks of the simulated machine compared with an oracle that shares nothing with them: random programs of
// accesses and synchronisations, ordered by one dense vector clock for each thread. If the oracle finds two unordered
// accesses, every seed must end in a fault; if it finds none, no seed may.
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <random>
#include "simt_kernels.hpp"

namespace areal::simt {
namespace {

constexpr int blocks = 2, threads = 96, all = blocks * threads, cells = 1024;

enum class Meet { none, warp, half, block, named, store_release, load_acquire };

/// The actions of a block's threads in a round: first each may touch a cell, then some synchronise.
struct Round {
  std::array<int, threads> cell;  // -1: none
  std::array<bool, threads> write;
  Meet meet = Meet::none;
  int warp = 0;               // that synchronises, or is left out of a named barrier
  int half = 0;               // of it
  bool only_arrives = false;  // warp + 1 does, at a named barrier
  int thread = 0;             // that publishes or polls
  int flag = -1;
};

struct Program {
  std::vector<std::array<Round, blocks>> rounds;  // fewer than there are named barriers
  int flags = 0;
};

Program random_program(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Program program;
  // Some programs touch few cells, some keep the blocks separate, so that both answers are common and neither is
  // obvious.
  const int busy = 1 + below(16), most = 4 << below(8), rounds = 2 + below(13);
  const bool apart = below(3) != 0;
  for (int r = 0; r < rounds; ++r) {
    auto& round = program.rounds.emplace_back();
    const int flags_before = program.flags;
    for (Round& of_block : round) {
      const int first = apart && &of_block != &round[0] ? cells / 2 : 0;
      for (int t = 0; t < threads; ++t) {
        of_block.cell[t] = below(1024) < busy ? first + below(std::min(most, cells / 2)) : -1;
        of_block.write[t] = below(3) == 0;
      }
      of_block.meet = below(3) == 0 ? Meet::block : static_cast<Meet>(below(7));
      of_block.warp = below(3);
      of_block.half = below(2);
      of_block.only_arrives = below(2) == 0;
      of_block.thread = below(threads);
      if (of_block.meet == Meet::store_release) of_block.flag = program.flags++;
      if (of_block.meet == Meet::load_acquire) {
        of_block.flag = flags_before > 0 ? below(flags_before) : -1;
        if (of_block.flag < 0) of_block.meet = Meet::block;
      }
    }
  }
  return program;
}

unsigned half_mask(const Round& round) { return round.half == 0 ? 0x0000ffffu : 0xffff0000u; }

bool oracle_sees_race(const Program& program) {
  using Clock = std::array<int, all>;
  struct Access {
    int thread, time;
    bool write;
  };
  std::vector<Clock> clock(all);
  for (int t = 0; t < all; ++t) {
    clock[t].fill(0);
    clock[t][t] = 1;
  }
  std::vector<Clock> flags(static_cast<std::size_t>(program.flags));
  std::vector<std::vector<Access>> touched(cells);
  const auto join = [](Clock& a, const Clock& b) {
    for (int i = 0; i < all; ++i) a[i] = std::max(a[i], b[i]);
  };
  // Threads that bring their clocks, and those of them that also take the others'.
  const auto meet = [&](const std::vector<int>& bring, const std::vector<int>& take) {
    Clock together{};
    for (const int t : bring) join(together, clock[t]);
    for (const int t : take) join(clock[t], together);
    for (const int t : bring) ++clock[t][t];
  };
  for (const auto& round : program.rounds) {
    for (int b = 0; b < blocks; ++b)
      for (int t = 0; t < threads; ++t) {
        const int cell = round[b].cell[t], me = b * threads + t;
        if (cell < 0) continue;
        for (const Access& other : touched[cell])
          if (other.thread != me && (other.write || round[b].write[t]) && clock[me][other.thread] < other.time)
            return true;
        touched[cell].push_back({me, clock[me][me], round[b].write[t]});
      }
    for (int b = 0; b < blocks; ++b) {
      const Round& of_block = round[b];
      const int who = b * threads + of_block.thread;
      std::vector<int> bring, take;
      for (int t = 0; t < threads; ++t) {
        const int warp = t / 32, me = b * threads + t;
        const bool in = of_block.meet == Meet::block || (of_block.meet == Meet::named && warp != of_block.warp) ||
                        (of_block.meet == Meet::warp && warp == of_block.warp) ||
                        (of_block.meet == Meet::half && warp == of_block.warp && t % 32 / 16 == of_block.half);
        if (!in) continue;
        bring.push_back(me);
        if (of_block.meet != Meet::named || !of_block.only_arrives || warp != (of_block.warp + 1) % 3)
          take.push_back(me);
      }
      meet(bring, take);
      if (of_block.meet == Meet::store_release) {
        flags[of_block.flag] = clock[who];
        ++clock[who][who];
      }
    }
    for (int b = 0; b < blocks; ++b)  // flags of earlier rounds only
      if (round[b].meet == Meet::load_acquire) join(clock[b * threads + round[b].thread], flags[round[b].flag]);
  }
  return false;
}

template <class M, class C>
struct Interpreter {
  static constexpr int threads = simt::threads;
  using Shared = NoShared;
  struct Args {
    const Program* program;
    std::uint32_t* cells;
    std::uint32_t* flags;
  };
  M m;
  Args a;
  AREAL_DEVICE void operator()() {
    for (const auto& round : a.program->rounds) {
      const Round& now = round[static_cast<std::size_t>(m.block())];
      const int t = m.thread();
      if (now.cell[t] >= 0 && now.write[t]) m.store(a.cells + now.cell[t], 1);
      if (now.cell[t] >= 0 && !now.write[t]) m.load(a.cells + now.cell[t]);
      switch (now.meet) {
        case Meet::none:
          break;
        case Meet::warp:
          if (m.warp() == now.warp) m.sync_warp(full_mask);
          break;
        case Meet::half:
          if (m.warp() == now.warp && (half_mask(now) >> m.lane() & 1) != 0) m.any(true, half_mask(now));
          break;
        case Meet::block:
          m.sync();
          break;
        case Meet::named:
          if (m.warp() == now.warp) break;
          if (now.only_arrives && m.warp() == (now.warp + 1) % 3)
            m.arrive(1 + static_cast<int>(&round - a.program->rounds.data()), 64);
          else
            m.sync(1 + static_cast<int>(&round - a.program->rounds.data()), 64);
          break;
        case Meet::store_release:
          if (t == now.thread) m.store_release(a.flags + now.flag, 1);
          break;
        case Meet::load_acquire:
          if (t == now.thread)
            while (m.load_acquire(a.flags + now.flag) == 0) m.pause();
          break;
      }
    }
  }
};

TEST(SimtOrder, AgreesWithDenseClocks) {
  std::mt19937 random(20240521);
  int racy = 0, clean = 0;
  const int programs = std::getenv("AREAL_TEST_SHORT") != nullptr ? 150 : 1000;
  for (int p = 0; p < programs; ++p) {
    const Program program = random_program(random);
    const bool race = oracle_sees_race(program);
    ++(race ? racy : clean);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<std::uint32_t> memory(cells), flags(64);
      Options options;
      options.seed = seed;
      Launcher launcher(options);
      add(launcher, "cells", memory);
      add(launcher, "flags", flags);
      bool found = false;
      std::string what = "no fault";
      try {
        launcher.launch<Interpreter, Plain>(blocks, {&program, memory.data(), flags.data()});
      } catch (const Fault& fault) {
        found = true;
        what = fault.what();
        EXPECT_TRUE(fault.kind == FaultKind::race || fault.kind == FaultKind::hand_over) << what;
      }
      ASSERT_EQ(found, race) << "program " << p << ", seed " << seed << ": " << what;
    }
  }
  EXPECT_GT(racy, programs / 5) << "the programs hardly race: nothing is proved";
  EXPECT_GT(clean, programs / 5) << "the programs nearly all race: nothing is proved";
  RecordProperty("racy", racy);
  RecordProperty("clean", clean);
}

}  // namespace
}  // namespace areal::simt
