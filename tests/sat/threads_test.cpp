// Threads: everything once, in the promised order, exceptions rethrown, nothing left running. Clean under
// ThreadSanitizer, which sees the plain (not atomic) writes that tiles pass to one another.
#include "cpu/threads.hpp"
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <areal/error.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "cpu/cancellation.hpp"

namespace areal::cpu {
namespace {

constexpr int thread_counts[] = {0, 1, 2, 3, 8};

// Counts the bodies that run at once, and their maximum.
class Running {
 public:
  struct Scope {
    explicit Scope(Running& running) : running_(running) {
      const int now = ++running_.now_;
      int most = running_.most_;
      while (now > most && !running_.most_.compare_exchange_weak(most, now)) {
      }
    }
    ~Scope() { --running_.now_; }
    Running& running_;
  };
  int now() const { return now_; }
  int most() const { return most_; }

 private:
  std::atomic<int> now_{0}, most_{0};
};

TEST(ParallelFor, EachOnceAndNeverMoreThreadsThanAsked) {
  for (const int threads : thread_counts)
    for (const std::int64_t n : {-1, 0, 1, 2, 1000}) {
      SCOPED_TRACE(testing::Message() << "threads " << threads << ", n " << n);
      std::vector<int> times(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)), 0);
      Running running;
      parallel_for(threads, n, [&](std::int64_t i) {
        const Running::Scope scope(running);
        ++times.at(static_cast<std::size_t>(i));
      });
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(times.size()));
      EXPECT_EQ(running.now(), 0);
      EXPECT_LE(running.most(), threads > 0 ? threads : default_threads());
    }
}

TEST(ParallelRanges, CoverWithoutOverlapAndOneThreadStaysOnTheCaller) {
  for (const int threads : thread_counts)
    for (const std::int64_t grain : {0, 1, 7, 5000}) {
      SCOPED_TRACE(testing::Message() << "threads " << threads << ", grain " << grain);
      std::vector<int> times(1000, 0);
      std::atomic<int> elsewhere{0};
      const auto caller = std::this_thread::get_id();
      parallel_ranges(threads, 1000, grain, [&](std::int64_t begin, std::int64_t end) {
        elsewhere += std::this_thread::get_id() != caller;
        for (std::int64_t i = begin; i < end; ++i) ++times.at(static_cast<std::size_t>(i));
      });
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), 1000);
      if (threads == 1) {
        EXPECT_EQ(elsewhere, 0);
      }
    }
}

TEST(ParallelFor, ExceptionsComeOut) {
  for (const int threads : thread_counts) {
    SCOPED_TRACE(threads);
    Running running;
    const auto body = [&](std::int64_t i) {
      const Running::Scope scope(running);
      if (i == 57) throw std::runtime_error("57");
    };
    EXPECT_THROW(parallel_for(threads, 100, body), std::runtime_error);
    EXPECT_EQ(running.now(), 0);  // nothing still uses what is about to go out of scope
    int after = 0;
    parallel_for(threads, 1, [&](std::int64_t) { ++after; });
    EXPECT_EQ(after, 1);
  }
}

// When each tile began and ended; 0: never.
struct Stamps {
  explicit Stamps(const TileGrid& of)
      : grid(of), begin(static_cast<std::size_t>(of.tiles())), end(begin.size()), times(begin.size()) {}
  std::size_t index(std::int64_t plane, std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>((plane * grid.rows + row) * grid.columns + column);
  }
  TileGrid grid;
  std::vector<std::int64_t> begin, end;
  std::vector<int> times;
};

// "" or the error: a tile not run once, or begun before a neighbour ended.
std::string fault_of(const Stamps& s) {
  for (std::int64_t plane = 0; plane < s.grid.planes; ++plane)
    for (std::int64_t row = 0; row < s.grid.rows; ++row)
      for (std::int64_t column = 0; column < s.grid.columns; ++column) {
        const std::size_t tile = s.index(plane, row, column);
        if (s.times[tile] != 1) return "tile " + std::to_string(tile) + " ran " + std::to_string(s.times[tile]);
        if (row > 0 && s.begin[tile] <= s.end[s.index(plane, row - 1, column)]) return "before its upper neighbour";
        if (column > 0 && s.begin[tile] <= s.end[s.index(plane, row, column - 1)]) return "before its left neighbour";
      }
  return "";
}

TEST(Wavefront, TheCheckCanFail) {
  const TileGrid grid{1, 2, 2};
  Stamps good(grid);
  for (std::size_t i = 0; i < 4; ++i) {
    good.times[i] = 1;
    good.begin[i] = static_cast<std::int64_t>(2 * i + 1);
    good.end[i] = static_cast<std::int64_t>(2 * i + 2);
  }
  EXPECT_EQ(fault_of(good), "");
  Stamps twice = good, early_row = good, early_column = good;
  twice.times[3] = 2;
  early_row.begin[2] = 0;
  early_column.begin[1] = 1;
  EXPECT_EQ(fault_of(twice), "tile 3 ran 2");
  EXPECT_EQ(fault_of(early_row), "before its upper neighbour");
  EXPECT_EQ(fault_of(early_column), "before its left neighbour");
}

constexpr TileGrid grids[] = {{1, 0, 0}, {0, 3, 3}, {1, 1, 1}, {1, 1, 9},  {1, 9, 1},
                              {1, 7, 5}, {4, 3, 6}, {9, 1, 1}, {1, 40, 40}};

TEST(Wavefront, EachTileOnceAfterItsNeighbours) {
  for (const int threads : thread_counts)
    for (const TileGrid& grid : grids) {
      SCOPED_TRACE(testing::Message() << "threads " << threads << ", grid " << grid.planes << " of " << grid.rows << "x"
                                      << grid.columns);
      std::vector<std::atomic<std::uint8_t>> pending(static_cast<std::size_t>(grid.tiles()));
      for (auto& p : pending) p = 0xa5;
      Stamps stamps(grid);
      Running running;
      std::atomic<std::int64_t> clock{0};
      std::vector<std::atomic<int>> in_slot(static_cast<std::size_t>(slots(threads)));
      wavefront(threads, grid, pending.data(), [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
        const Running::Scope scope(running);
        const std::size_t tile = stamps.index(plane, row, column);
        EXPECT_EQ(in_slot.at(static_cast<std::size_t>(slot()))++, 0);  // no other thread has its scratch
        stamps.begin[tile] = ++clock;
        ++stamps.times[tile];
        stamps.end[tile] = ++clock;
        --in_slot[static_cast<std::size_t>(slot())];
      });
      EXPECT_EQ(fault_of(stamps), "");
      EXPECT_EQ(running.now(), 0);
      EXPECT_LE(running.most(), threads > 0 ? threads : default_threads());
    }
}

// Only plain memory passes between the tiles, so no atomic of the test orders them: a carry that came too late gives a
// wrong number here, and a race in ThreadSanitizer.
TEST(Wavefront, CarriesAreSeen) {
  const TileGrid grid{2, 60, 60};
  const Stamps at(grid);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::atomic<std::uint8_t>> pending(static_cast<std::size_t>(grid.tiles()));
    std::vector<std::uint64_t> sums(pending.size());
    wavefront(0, grid, pending.data(), [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
      const std::uint64_t up = row ? sums[at.index(plane, row - 1, column)] : 1;
      const std::uint64_t left = column ? sums[at.index(plane, row, column - 1)] : 1;
      sums[at.index(plane, row, column)] = up + left;
    });
    for (std::int64_t plane = 0; plane < grid.planes; ++plane)
      for (std::int64_t row = 0; row < grid.rows; ++row)
        for (std::int64_t column = 0; column < grid.columns; ++column)
          ASSERT_EQ(sums[at.index(plane, row, column)], (row ? sums[at.index(plane, row - 1, column)] : 1) +
                                                            (column ? sums[at.index(plane, row, column - 1)] : 1));
  }
}

TEST(Wavefront, AnExceptionLeavesOutWhatHasNotBegun) {
  const TileGrid grid{2, 12, 12};
  for (const int threads : thread_counts) {
    SCOPED_TRACE(threads);
    std::vector<std::atomic<std::uint8_t>> pending(static_cast<std::size_t>(grid.tiles()));
    Stamps stamps(grid);
    Running running;
    const auto run = [&](bool thrown) {
      wavefront(threads, grid, pending.data(), [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
        const Running::Scope scope(running);
        ++stamps.times[stamps.index(plane, row, column)];
        if (thrown && plane == 0 && row == 5 && column == 4) throw std::runtime_error("5, 4");
      });
    };
    EXPECT_THROW(run(true), std::runtime_error);
    EXPECT_EQ(running.now(), 0);
    for (std::int64_t row = 5; row < 12; ++row)
      for (std::int64_t column = 4; column < 12; ++column)
        EXPECT_EQ(stamps.times[stamps.index(0, row, column)], row == 5 && column == 4);
    EXPECT_LE(*std::max_element(stamps.times.begin(), stamps.times.end()), 1);

    stamps = Stamps(grid);  // what an exception left in `pending` does not matter
    run(false);
    EXPECT_EQ(std::count(stamps.times.begin(), stamps.times.end(), 1), grid.tiles());
  }
}

TEST(Wavefront, ManyAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> tiles{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      const TileGrid grid{1, 16, 16};
      std::vector<std::atomic<std::uint8_t>> pending(256);
      for (int round = 0; round < 20; ++round)
        wavefront(2, grid, pending.data(), [&](std::int64_t, std::int64_t, std::int64_t) { ++tiles; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(tiles, 4 * 20 * 256);
}

// Work that takes ten seconds, in steps of a millisecond, is stopped long before; the caller alone is asked.
TEST(Cancellation, StopsRangesAndTilesAndAsksTheCallerAlone) {
  const auto caller = std::this_thread::get_id();
  const TileGrid grid{1, 100, 100};
  std::vector<std::atomic<std::uint8_t>> pending(static_cast<std::size_t>(grid.tiles()));
  for (const int threads : thread_counts)
    for (const bool tiles : {false, true}) {
      SCOPED_TRACE(testing::Message() << "threads " << threads << (tiles ? ", tiles" : ", ranges"));
      std::atomic<int> asked{0}, elsewhere{0}, steps{0};
      const auto step = [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++steps;
      };
      const auto work = [&] {
        if (tiles)
          wavefront(threads, grid, pending.data(), [&](std::int64_t, std::int64_t, std::int64_t) { step(); });
        else
          parallel_for(threads, grid.tiles(), [&](std::int64_t) { step(); });
      };
      {
        Cancellation cancellation([&] {
          if (std::this_thread::get_id() != caller) ++elsewhere;
          return ++asked < 2;
        });
        EXPECT_EQ(Cancellation::current(), &cancellation);
        EXPECT_THROW(work(), Cancelled);
        EXPECT_THROW(work(), Cancelled) << "once stopped";
      }
      EXPECT_EQ(Cancellation::current(), nullptr);
      EXPECT_EQ(asked, 2);
      EXPECT_EQ(elsewhere, 0);
      EXPECT_GT(steps, 0);
      EXPECT_LT(steps, 5000);
    }
}

TEST(Cancellation, CoversEverythingOnceWhereItGoesOnAndTheInnermostCounts) {
  const Cancellation outer([] { return false; });
  const Cancellation inner([] { return true; });
  for (const int threads : thread_counts)
    for (const std::int64_t grain : {0, 1, 7, 5000})
      for (const std::int64_t n : {1, 999, 5000}) {
        std::vector<int> times(static_cast<std::size_t>(n), 0);
        std::atomic<bool> small{false};
        parallel_ranges(threads, n, grain, [&](std::int64_t begin, std::int64_t end) {
          if (end <= begin) small = true;
          for (std::int64_t i = begin; i < end; ++i) ++times.at(static_cast<std::size_t>(i));
        });
        EXPECT_EQ(std::count(times.begin(), times.end(), 1), n);
        EXPECT_FALSE(small);
      }
}

// A child of fork has none of TBB's threads.
TEST(Fork, AChildRunsOnOneThreadAndEnds) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a process that forks while it has threads";
#endif
  const TileGrid grid{2, 9, 11};
  const auto sum_of_tiles = [&](bool& left_the_caller) {
    const auto caller = std::this_thread::get_id();
    std::vector<std::atomic<std::uint8_t>> pending(static_cast<std::size_t>(grid.tiles()));
    std::atomic<std::int64_t> sum{0};
    std::atomic<bool> elsewhere{false};
    const auto add = [&](std::int64_t i) {
      if (std::this_thread::get_id() != caller || slot() >= slots(0)) elsewhere = true;
      sum += i;
    };
    parallel_for(0, 1000, add);
    wavefront(0, grid, pending.data(), [&](std::int64_t, std::int64_t row, std::int64_t column) { add(row * column); });
    left_the_caller = elsewhere;
    return sum.load();
  };
  bool left_the_caller = false;
  const std::int64_t truth = sum_of_tiles(left_the_caller);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(60);  // it would hang
    const bool right = sum_of_tiles(left_the_caller) == truth && !left_the_caller && default_threads() == 1;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GE(default_threads(), 1);
}

}  // namespace
}  // namespace areal::cpu
