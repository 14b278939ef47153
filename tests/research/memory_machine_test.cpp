// The DMM, the UMM and the HMM: the papers' worked example, their rules compared with a machine that runs unit by unit,
// and the faults of programs.

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include "memory_machines/hierarchy.hpp"
#include "memory_machines/machine.hpp"

namespace areal::memory {
namespace {

using Cellset = std::vector<std::int64_t>;

// Two warps of 4 request <7, 5, 15, 0> and <10, 11, 12, 9> of a memory of width 4 and latency 5 (Nakano 2013, figure
// 3).
std::int64_t worked_example(Kind kind) {
  Machine<int> machine({kind, 8, 4, 5}, 16);
  machine.place(0, std::vector<int>(16, 1));
  const Cellset cells{7, 5, 15, 0, 10, 11, 12, 9};
  machine.read(
      8, [&](std::int64_t i) { return cells[static_cast<std::size_t>(i)]; }, [](std::int64_t, int) {});
  machine.barrier();
  return machine.time().units;
}

TEST(MemoryMachine, WorkedExample) {
  EXPECT_EQ(worked_example(Kind::dmm), 7);
  EXPECT_EQ(worked_example(Kind::umm), 9);
}

TEST(MemoryMachine, TellsItsTraceOfEveryRequest) {
  Machine<int> machine({Kind::dmm, 4, 4, 1}, 8);
  machine.place(0, std::vector<int>{10, 11, 12, 13});
  using Seen = std::tuple<std::int64_t, std::int64_t, int, bool, std::int64_t>;  // and the step
  std::vector<Seen> seen;
  machine.trace([&](std::int64_t thread, std::int64_t cell, int value, bool writes) {
    seen.emplace_back(thread, cell, value, writes, machine.time().barriers);
  });
  std::vector<int> held(2);
  machine.read(
      2, [](std::int64_t i) { return 3 - i; },
      [&](std::int64_t i, int value) { held[static_cast<std::size_t>(i)] = value; });
  machine.barrier();
  machine.write(
      2, [](std::int64_t i) { return i == 0 ? 5 : no_request; },
      [&](std::int64_t i) { return 2 * held[static_cast<std::size_t>(i)]; });
  machine.barrier();
  EXPECT_EQ(seen, (std::vector<Seen>{{0, 3, 13, false, 0}, {1, 2, 12, false, 0}, {0, 5, 26, true, 1}}));
}

// Two warps, one request each, of l = 5. The second waits for the first one's event, or both for each other's.
TEST(MemoryMachine, ARequestWaitsForEvents) {
  const auto units = [](const Cellset& of_first, const Cellset& of_second) {
    Schedule schedule({{Wiring::groups, 5}}, 8, 4);
    schedule.step(0, 0, 1, 4, 0, of_first);
    schedule.step(1, 0, 1, 4, 1, of_second);
    schedule.barrier();
    schedule.step(1, 0, 1, 4, 0, {});  // a barrier forgets events
    schedule.barrier();
    return schedule.time().units - 5;
  };
  EXPECT_EQ(units({}, {}), 6);
  EXPECT_EQ(units({}, {0}), 10);
  EXPECT_EQ(units({1}, {}), 10);
  EXPECT_THROW(units({1}, {0}), Fault);
  EXPECT_THROW(units({}, {7}), Fault);  // of no thread
}

TEST(MemoryMachine, EntriesOfAWarp) {
  Schedule schedule({{Wiring::banks, 1}}, 4, 4);
  const auto both = [&](const Cellset& cells) {
    return std::pair(schedule.entries(Wiring::banks, cells), schedule.entries(Wiring::groups, cells));
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(both({0, 1, 2, 3}), Pair(1, 1));
  EXPECT_EQ(both({1, 2, 3, 4}), Pair(1, 2));   // neighbours, in two groups
  EXPECT_EQ(both({0, 2, 4, 6}), Pair(2, 2));   // every second
  EXPECT_EQ(both({2, 4, 6, 8}), Pair(2, 3));   // and two cells further
  EXPECT_EQ(both({0, 4, 8, 12}), Pair(4, 4));  // one bank
  EXPECT_EQ(both({0, 5, 10, 15}), Pair(1, 4));
  EXPECT_EQ(both({9, 9, 9, 9}), Pair(1, 1));  // one cell
  EXPECT_EQ(both({13, 1, 13, 1}), Pair(2, 2));
  EXPECT_EQ(both({6}), Pair(1, 1));
}

// ---------------------------------------------------------------- against a machine that runs unit by unit

struct Step {
  bool meets = false;
  std::size_t memory = 0;
  std::set<std::int64_t> cells;
};

// The rules as the paper states them: in every unit, each pipeline takes one entry of the warp in turn.
class UnitByUnit {
 public:
  UnitByUnit(std::vector<Pipeline> memories, int warps, int blocks, int width)
      : memories_(std::move(memories)), warps_(warps), blocks_(blocks), width_(width) {}

  std::int64_t run(const std::vector<std::vector<Step>>& programs) const {
    struct Warp {
      std::size_t at = 0;
      std::set<std::int64_t> left;  // cells that have not entered
      bool requesting = false, entering = false;
      std::int64_t back = 0;  // when what has entered is complete
      bool waits = false;
    };
    std::vector<Warp> warps(static_cast<std::size_t>(warps_));
    std::vector<int> last(memories_.size(), warps_ - 1), current(memories_.size(), -1);
    std::int64_t end = 0;
    for (std::int64_t unit = 0;; ++unit) {
      for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t v = 0; v < warps.size(); ++v) {
          Warp& warp = warps[v];
          if (warp.requesting || warp.entering || warp.waits || warp.back > unit || warp.at == programs[v].size())
            continue;
          const Step& step = programs[v][warp.at];
          (step.meets ? warp.waits : warp.requesting) = true;
          warp.left = step.cells;
          changed = true;
        }
        const int each = warps_ / blocks_;
        for (int b = 0; b < blocks_; ++b) {
          const auto first = warps.begin() + b * each, past = first + each;
          if (!std::all_of(first, past, [](const Warp& warp) { return warp.waits; })) continue;
          std::for_each(first, past, [](Warp& warp) { warp.waits = false, ++warp.at; });
          changed = true;
        }
      }
      bool busy = false;
      for (const Warp& warp : warps) busy = busy || warp.requesting || warp.entering || warp.back > unit;
      if (!busy) return end;
      for (std::size_t m = 0; m < memories_.size(); ++m) {
        for (int next = 1; current[m] < 0 && next <= warps_; ++next) {
          const int v = (last[m] + next) % warps_;
          Warp& warp = warps[static_cast<std::size_t>(v)];
          if (!warp.requesting || programs[static_cast<std::size_t>(v)][warp.at].memory != m) continue;
          warp.requesting = false;
          warp.entering = true;
          current[m] = last[m] = v;
        }
        if (current[m] < 0) continue;
        Warp& warp = warps[static_cast<std::size_t>(current[m])];
        enter(memories_[m].wiring, warp.left);
        if (!warp.left.empty()) continue;
        warp.entering = false;
        warp.back = unit + memories_[m].latency;
        end = std::max(end, warp.back);
        ++warp.at;
        current[m] = -1;
      }
    }
  }

 private:
  // Removes what one entry can hold: one cell of every bank, or all of the first cell's group.
  void enter(Wiring wiring, std::set<std::int64_t>& left) const {
    std::set<std::int64_t> banks, rest;
    const std::int64_t group = *left.begin() / width_;
    for (const std::int64_t cell : left)
      if (wiring == Wiring::banks ? !banks.insert(cell % width_).second : cell / width_ != group) rest.insert(cell);
    left = rest;
  }
  std::vector<Pipeline> memories_;
  int warps_, blocks_, width_;
};

TEST(MemoryMachine, RunsAsTheRulesSayUnitByUnit) {
  const unsigned seed = 20131;
  std::mt19937 random(seed);
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  for (int round = 0; round < 400; ++round) {
    const int blocks = round % 3 == 0 ? pick(1, 4) : 1, width = pick(1, 8), warps = blocks * pick(1, 7);
    std::vector<Pipeline> memories;
    if (blocks > 1) memories.assign(static_cast<std::size_t>(blocks), {Wiring::banks, 1});
    memories.push_back({pick(0, 1) ? Wiring::banks : Wiring::groups, pick(1, 20)});
    Schedule schedule(memories, warps * width, width, blocks);
    std::vector<std::vector<Step>> programs(static_cast<std::size_t>(warps));
    const std::int64_t spread = pick(1, 40);
    for (int step = pick(1, 12); step > 0; --step) {
      if (blocks > 1 && pick(0, 3) == 0) {
        schedule.block_barrier();
        for (auto& program : programs) program.push_back({true, 0, {}});
        continue;
      }
      const bool global = blocks == 1 || pick(0, 1) == 0;
      std::vector<std::int64_t> cells;  // of each thread; a third of the warps request nothing
      for (int warp = 0; warp < warps; ++warp) {
        const bool idle = pick(0, 2) == 0;
        for (int lane = 0; lane < width; ++lane)
          cells.push_back(idle || pick(0, 9) == 0 ? no_request : pick(0, static_cast<int>(spread)));
      }
      const int each = warps / blocks;
      for (int b = 0; b < (global ? 1 : blocks); ++b) {
        const std::size_t memory = global ? memories.size() - 1 : static_cast<std::size_t>(b);
        schedule.step(
            global ? 0 : b * each * width, (global ? warps : each) * width, memory,
            [&](std::int64_t i) { return cells[static_cast<std::size_t>(i)]; }, [](std::int64_t, std::int64_t) {});
      }
      for (int warp = 0; warp < warps; ++warp) {
        Step next{false, global ? memories.size() - 1 : static_cast<std::size_t>(warp / each), {}};
        for (int lane = 0; lane < width; ++lane)
          if (cells[static_cast<std::size_t>(warp * width + lane)] != no_request)
            next.cells.insert(cells[static_cast<std::size_t>(warp * width + lane)]);
        if (!next.cells.empty()) programs[static_cast<std::size_t>(warp)].push_back(next);
      }
    }
    schedule.barrier();
    const std::int64_t told = UnitByUnit(memories, warps, blocks, width).run(programs);
    ASSERT_EQ(schedule.time().units, told) << "seed " << seed << ", round " << round;
    schedule.barrier();  // nothing is left of it
    ASSERT_EQ(schedule.time().units, told) << "seed " << seed << ", round " << round;
  }
}

// ---------------------------------------------------------------- what programs see

// Without a barrier between the rounds, a thread waits only for its own request: p/w warps fill l units between them.
TEST(MemoryMachine, AThreadWaitsForItsOwnRequest) {
  for (const std::int64_t warps : {1, 3, 7, 8, 20}) {
    const std::int64_t w = 4, l = 7, rounds = 5, p = warps * w;
    Machine<int> machine({Kind::umm, p, w, l}, rounds * p);
    machine.place(0, std::vector<int>(static_cast<std::size_t>(rounds * p)));
    for (std::int64_t t = 0; t < rounds; ++t)
      machine.read(
          p, [&](std::int64_t i) { return t * p + i; }, [](std::int64_t, int) {});
    machine.barrier();
    EXPECT_EQ(machine.time().units, (rounds - 1) * std::max(warps, l) + warps + l - 1) << warps;
    EXPECT_EQ(machine.time().requests, rounds * p);
    EXPECT_EQ(machine.time().entries, rounds * warps);
  }
}

template <class Program>
std::string fault_of(const Program& program) {
  try {
    program();
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "none";
}

TEST(MemoryMachine, FaultsOfPrograms) {
  const auto own = [](std::int64_t i) { return i; };
  const auto next = [](std::int64_t i) { return (i + 1) % 8; };
  const auto one = [](std::int64_t) { return std::int64_t{1}; };
  const auto nowhere = [](std::int64_t, int) {};
  const auto value = [](std::int64_t) { return 5; };
  const auto machine = [] {
    Machine<int> made({Kind::dmm, 8, 4, 2}, 8);
    made.place(0, std::vector<int>(8));
    return made;
  };
  EXPECT_EQ(fault_of([&] {
              auto m = machine();
              m.write(8, own, value), m.read(8, next, nowhere);
            }),
            "memory, cell 1: thread 0 reads what another thread wrote (thread 1), with no barrier in between");
  EXPECT_EQ(fault_of([&] {
              auto m = machine();
              m.read(8, next, nowhere), m.write(8, own, value);
            }),
            "memory, cell 0: thread 0 writes what another thread read (thread 7), with no barrier in between");
  EXPECT_EQ(fault_of([&] {
              auto m = machine();
              m.read(8, one, nowhere), m.write(8, one, value);
            }),
            "memory, cell 1: thread 0 writes what another thread read (several did), with no barrier in between");
  EXPECT_EQ(fault_of([&] {
              auto m = machine();
              m.write(8, one, value);
            }),
            "memory, cell 1: thread 1 writes what another thread wrote (thread 0), with no barrier in between");
  EXPECT_EQ(fault_of([&] {
              auto m = machine();
              m.read(
                  8, [](std::int64_t i) { return i + 1; }, nowhere);
            }),
            "memory, cell 8: thread 7 requests a cell that does not exist");
  EXPECT_EQ(fault_of([&] {
              Machine<int> m({Kind::dmm, 8, 4, 2}, 8);
              m.read(8, own, nowhere);
            }),
            "memory, cell 0: thread 0 reads a cell that no thread filled");
  EXPECT_EQ(fault_of([&] {
              auto m = machine();
              m.write(8, own, value), m.read(8, own, nowhere), m.write(8, own, value), m.barrier();
              m.read(8, next, nowhere), m.read(8, one, nowhere), m.barrier(), m.write(8, own, value);
            }),
            "none");
  EXPECT_NE(fault_of([] { Machine<int>({Kind::dmm, 6, 4, 2}, 8); }), "none");
  EXPECT_NE(fault_of([] { Machine<int>({Kind::dmm, 4, 0, 2}, 8); }), "none");
  EXPECT_NE(fault_of([] { Machine<int>({Kind::dmm, 0, 4, 2}, 8); }), "none");
  EXPECT_NE(fault_of([] { Machine<int>({Kind::dmm, 4, 4, 0}, 8); }), "none");
}

// ---------------------------------------------------------------- the hierarchy

// A w x w tile for each DMM, transposed through its shared memory, cell (y, x) of a tile at column (y + x * skew) mod
// w.
Time transposed_tiles(std::int64_t skew, std::vector<int>& result) {
  const std::int64_t w = 4, tiles = 3, l = 10, cells = w * w;
  Hierarchy<int> machine({tiles, cells, w, l, cells}, 2 * tiles * cells);
  std::vector<int> input(static_cast<std::size_t>(tiles * cells));
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int>(100 + i);
  machine.place(0, input);
  std::vector<int> held(input.size());
  const auto take = [&](std::int64_t i, int value) { held[static_cast<std::size_t>(i)] = value; };
  const auto value = [&](std::int64_t i) { return held[static_cast<std::size_t>(i)]; };
  const auto stored = [&](std::int64_t y, std::int64_t x) { return y * w + (x + y * skew) % w; };
  machine.read_global([](std::int64_t i) { return i; }, take);
  machine.write_shared([&](std::int64_t i) { return stored(i % cells / w, i % w); }, value);
  machine.block_barrier();
  machine.read_shared([&](std::int64_t i) { return stored(i % w, i % cells / w); }, take);
  machine.write_global([&](std::int64_t i) { return tiles * cells + i; }, value);
  machine.barrier();
  result = machine.look(tiles * cells, tiles * cells);
  return machine.time();
}

TEST(MemoryHierarchy, ATileIsTransposedInSharedMemory) {
  std::vector<int> skewed, plain;
  const Time diagonal = transposed_tiles(1, skewed), straight = transposed_tiles(0, plain);
  for (std::size_t i = 0; i < skewed.size(); ++i) {
    const std::size_t tile = i / 16, y = i % 16 / 4, x = i % 4;
    EXPECT_EQ(skewed[i], static_cast<int>(100 + tile * 16 + x * 4 + y));
  }
  EXPECT_EQ(plain, skewed);
  // 12 warps, each two requests of global memory and two of shared memory; a straight column is one bank.
  EXPECT_EQ(diagonal.entries, 12 * 4);
  EXPECT_EQ(straight.entries, 12 * (3 + 4));
  EXPECT_GT(straight.units, diagonal.units);
}

TEST(MemoryHierarchy, SharedMemoryIsLostAtABarrier) {
  Hierarchy<int> machine({2, 4, 4, 3, 4}, 8);
  const auto own = [](std::int64_t i) { return i % 4; };
  const auto across = [](std::int64_t i) { return 3 - i % 4; };
  const auto value = [](std::int64_t) { return 1; };
  const auto nowhere = [](std::int64_t, int) {};
  machine.write_shared(own, value);
  EXPECT_EQ(fault_of([&] { machine.read_shared(across, nowhere); }),
            "shared memory of DMM 0, cell 3: thread 0 reads what another thread wrote (thread 3), with no barrier in "
            "between");
  machine.block_barrier();
  EXPECT_EQ(fault_of([&] { machine.read_shared(across, nowhere); }), "none");
  machine.barrier();
  EXPECT_EQ(fault_of([&] { machine.read_shared(own, nowhere); }),
            "shared memory of DMM 0, cell 0: thread 0 reads a cell that no thread filled");
  // A block's synchronisation is not enough for global memory.
  machine.write_global([](std::int64_t i) { return i; }, value);
  machine.block_barrier();
  EXPECT_NE(fault_of([&] { machine.read_global([](std::int64_t i) { return i ^ 1; }, nowhere); }), "none");
  EXPECT_NE(fault_of([] { Hierarchy<int>({2, 6, 4, 3, 4}, 8); }), "none");
  EXPECT_NE(fault_of([] { Hierarchy<int>({0, 4, 4, 3, 4}, 8); }), "none");
}

// C/w + S + (B + 1)(l - 1) is the time if every thread requests once between two barriers.
TEST(MemoryHierarchy, AccessCostIsTheTimeOfOneRequestAStep) {
  const std::int64_t w = 4, l = 9, side = 16, n = side * side;
  Hierarchy<int> machine({4, n / 4, w, l, 0}, 2 * n);
  machine.place(0, std::vector<int>(static_cast<std::size_t>(n), 3));
  std::vector<int> held(static_cast<std::size_t>(n));
  machine.read_global([](std::int64_t i) { return i; },
                      [&](std::int64_t i, int value) { held[static_cast<std::size_t>(i)] = value; });
  machine.barrier();
  machine.write_global([&](std::int64_t i) { return n + i % side * side + i / side; },  // strided: a transpose
                       [&](std::int64_t i) { return held[static_cast<std::size_t>(i)]; });
  machine.barrier();
  const std::int64_t coalesced = n, strided = n, barriers_between = 1;
  EXPECT_EQ(machine.time().units, coalesced / w + strided + (barriers_between + 1) * (l - 1));
}

// 2R2W with one thread a column, then one a row: its cost counts entries, not threads that wait l units each time.
TEST(MemoryHierarchy, ColumnsAfterColumnsCostLessThanTheyTake) {
  const std::int64_t w = 4, l = 50, side = 16, n = side * side;
  Hierarchy<std::int64_t> machine({2, side / 2, w, l, 0}, n);
  std::vector<std::int64_t> image(static_cast<std::size_t>(n)), sums(static_cast<std::size_t>(side)), read = sums;
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::int64_t>(i * i % 29);
  machine.place(0, image);
  for (const bool rows : {false, true}) {
    for (std::int64_t j = 0; j < side; ++j) {
      const auto cell = [&](std::int64_t i) { return rows ? i * side + j : j * side + i; };
      machine.read_global(cell, [&](std::int64_t i, std::int64_t value) {
        auto& s = sums[static_cast<std::size_t>(i)];
        s = j == 0 ? value : s + value;
      });
      if (j > 0) machine.write_global(cell, [&](std::int64_t i) { return sums[static_cast<std::size_t>(i)]; });
    }
    machine.barrier();
    const std::int64_t requests = 2 * side - 1, warps = side / w;
    if (!rows) {
      EXPECT_EQ(machine.time().units, (requests - 1) * l + warps + l - 1);
    }
  }
  const auto table = machine.look(0, n);
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      std::int64_t wanted = 0;
      for (std::int64_t v = 0; v <= y; ++v)
        for (std::int64_t u = 0; u <= x; ++u) wanted += image[static_cast<std::size_t>(v * side + u)];
      EXPECT_EQ(table[static_cast<std::size_t>(y * side + x)], wanted);
    }
  const std::int64_t each = 2 * n - side, cost = each / w + each + 2 * (l - 1);
  EXPECT_EQ(machine.time().entries, each / w + each);
  EXPECT_GT(machine.time().units, 3 * cost);
}

}  // namespace
}  // namespace areal::memory
