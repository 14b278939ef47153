// Which tiles begin and what they take over, on planted workers that fail at any point of an attempt: seeded runs, with
// the seed in the message. Each tile is one pixel, so its table is one addition.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include "cluster/sat_tiles.hpp"
#include "queue/task_queue.hpp"

namespace areal::cluster {
namespace {

struct Board {
  std::int64_t columns, rows;
  std::vector<std::uint64_t> pixels, table;  // the latter as it must be
  std::vector<int> delivered;
  std::mutex mutex;
  std::mt19937_64 random;
  std::string wrong;
  int running_attempts = 0;

  Board(std::int64_t c, std::int64_t r, std::uint64_t seed) : columns(c), rows(r), random(seed) {
    const auto n = static_cast<std::size_t>(columns * rows);
    pixels.resize(n), table.resize(n), delivered.resize(n);
    for (std::size_t i = 0; i < n; ++i) pixels[i] = random();
    for (std::int64_t y = 0; y < rows; ++y) {
      std::uint64_t row = 0;
      for (std::int64_t x = 0; x < columns; ++x) {
        const auto i = static_cast<std::size_t>(y * columns + x);
        row += pixels[i];
        table[i] = row + (y > 0 ? table[i - static_cast<std::size_t>(columns)] : 0);
      }
    }
  }
  std::uint64_t choice(std::uint64_t n) {
    const std::lock_guard lock(mutex);
    return random() % n;
  }
};

class BoardWorker final : public queue::TaskWorker {
 public:
  BoardWorker(Board& board, SatTiles& tiles, int lanes, bool may_die, std::uint64_t failing)
      : board_(board), tiles_(tiles), lanes_(lanes), may_die_(may_die), failing_(failing) {}
  std::string name() const override { return "board"; }
  int lanes() const override { return lanes_; }
  bool work(int, const queue::Task& task) override try {
    const std::int64_t id = task.id;
    const auto i = static_cast<std::size_t>(id);
    if (tiles_.is_delivered(id)) return false;
    perhaps_fail();
    tiles_.fetched(id);
    perhaps_fail();
    if (!tiles_.wait_for_carries(id)) return false;
    perhaps_fail();
    std::uint64_t above[2] = {}, left = 0;
    tiles_.take(id, 0, above, &left);
    const std::uint64_t sum = board_.pixels[i] + above[1] + left - above[0];
    tiles_.publish(id, 0, &sum, &sum, 8);
    perhaps_fail();
    tiles_.computed(id);
    perhaps_fail();
    if (tiles_.may_deliver(id)) {
      const std::lock_guard lock(board_.mutex);
      ++board_.delivered[i];
      if (sum != board_.table[i]) board_.wrong = "tile " + std::to_string(id) + " is wrong";
    } else {
      return false;
    }
    tiles_.delivered(id);
    perhaps_fail();
    return true;
  } catch (...) {
    tiles_.failed(task.id);
    throw;
  }

 private:
  void perhaps_fail() {
    const std::uint64_t c = board_.choice(failing_);
    if (c == 0) throw DeviceError("planted", false);
    if (c == 1 && may_die_) throw DeviceError("planted loss", true);
    if (c == 2) std::this_thread::yield();
  }
  Board& board_;
  SatTiles& tiles_;
  int lanes_;
  bool may_die_;
  std::uint64_t failing_;
};

/// Empty, or what is wrong.
std::string fault_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  Board board(1 + below(6), 1 + below(9), seed);
  TiledGrid grid;
  grid.columns = board.columns, grid.rows = board.rows, grid.tile_width = grid.tile_height = 1;
  queue::TaskQueue* queue = nullptr;
  SatTiles tiles({board.columns, board.rows}, grid, {8}, [&](std::int64_t tile) {
    queue::Task task;
    task.id = tile;
    queue->push(task);
  });
  queue::QueueOptions options;
  options.attempts = 1 << 20;
  options.finished = [&](const queue::Task&, const queue::Outcome& outcome) {
    if (outcome.error) tiles.stop(outcome.error);
  };
  std::vector<std::unique_ptr<queue::TaskWorker>> workers;
  const int count = static_cast<int>(1 + below(3));
  for (int w = 0; w < count; ++w)
    workers.push_back(std::make_unique<BoardWorker>(board, tiles, static_cast<int>(1 + below(3)), w > 0,
                                                    static_cast<std::uint64_t>(12 + below(60))));
  {
    queue::TaskQueue of_run(std::move(workers), std::move(options));
    queue = &of_run;
    tiles.start();
    of_run.wait_idle();
  }
  if (tiles.error()) return "an error that was to be tried again";
  for (std::size_t i = 0; i < board.delivered.size(); ++i)
    if (board.delivered[i] != 1)
      return "tile " + std::to_string(i) + " of " + std::to_string(board.columns) + "x" + std::to_string(board.rows) +
             " was delivered " + std::to_string(board.delivered[i]) + " times";
  return board.wrong;
}

TEST(SatTilesStress, EachTileOnceAndRightWhateverFails) {
  const char* const text = std::getenv("AREAL_TEST_SEEDS");
  const std::uint64_t seeds = text ? std::strtoull(text, nullptr, 10) : 300;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) ASSERT_EQ(fault_of(seed), "") << "seed " << seed;
}

TEST(SatTilesStress, AStopEndsWhatWaits) {
  TiledGrid grid;
  grid.columns = 1, grid.rows = 2, grid.tile_width = grid.tile_height = 1;
  std::vector<std::int64_t> pushed;
  SatTiles tiles({1, 2}, grid, {8}, [&](std::int64_t tile) { pushed.push_back(tile); });
  tiles.start();
  tiles.fetched(0);
  EXPECT_EQ(pushed, (std::vector<std::int64_t>{0, 1}));
  tiles.fetched(1);
  bool went_on = true;
  std::thread waiting([&] { went_on = tiles.wait_for_carries(1); });
  tiles.stop(std::make_exception_ptr(Cancelled("stop")));
  waiting.join();
  EXPECT_FALSE(went_on);
  EXPECT_FALSE(tiles.may_deliver(0));
  EXPECT_TRUE(tiles.error() != nullptr);
}

TEST(SatTilesStress, WhoWaitsForAFailedTileGivesUpAndComesAgain) {
  TiledGrid grid;
  grid.columns = 1, grid.rows = 2, grid.tile_width = grid.tile_height = 1;
  std::vector<std::int64_t> pushed;
  SatTiles tiles({1, 2}, grid, {8}, [&](std::int64_t tile) { pushed.push_back(tile); });
  tiles.start();
  tiles.fetched(0);
  tiles.fetched(1);
  bool went_on = true;
  std::thread waiting([&] { went_on = tiles.wait_for_carries(1); });
  tiles.failed(0);
  waiting.join();
  EXPECT_FALSE(went_on);
  EXPECT_EQ(pushed.size(), 2u);
  tiles.fetched(0);  // the other attempt
  EXPECT_EQ(pushed, (std::vector<std::int64_t>{0, 1, 1}));
}

}  // namespace
}  // namespace areal::cluster
