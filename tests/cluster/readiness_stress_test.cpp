// Which parts begin and what they take over, on planted workers that fail at any point of an attempt: seeded runs, with
// the seed in the message. Each tile is one pixel, so its table is one addition.
#include <gtest/gtest.h>
#include <areal/error.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include "pieces/core/edge_carries.hpp"
#include "pieces/tiles/readiness.hpp"
#include "queue/task_queue.hpp"

namespace areal::pieces {
namespace {

struct Board {
  std::int64_t columns, rows;
  std::vector<std::uint64_t> pixels, table;  // the latter as it must be
  std::vector<int> delivered;
  std::mutex mutex;
  std::mt19937_64 random;
  std::string wrong;

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

/// One run: the parts of a board, and what they have handed on.
struct Round {
  Board& board;
  TileGrid grid;
  Readiness readiness;
  EdgeCarries carries;
  queue::TaskQueue* queue = nullptr;

  explicit Round(Board& of)
      : board(of),
        grid({of.columns, of.rows}, TiledGrid{of.rows, of.columns, 1, 1, 1, 0}, false),
        readiness(grid, true),
        carries(grid) {}

  void arrived(std::optional<std::int64_t> part) {
    if (!part || !readiness.arrived(*part)) return;
    queue::Task task;
    task.id = *part;
    queue->push(task);
  }
};

Memory block_of(std::uint64_t corner, std::uint64_t sum) {
  Memory block(16, MemoryPlace{});
  std::memcpy(block.at(0), &corner, 8), std::memcpy(block.at(8), &sum, 8);
  return block;
}

class BoardWorker final : public queue::TaskWorker {
 public:
  BoardWorker(Round& round, int lanes, bool may_die, std::uint64_t failing)
      : round_(round), board_(round.board), lanes_(lanes), may_die_(may_die), failing_(failing) {}
  std::string name() const override { return "board"; }
  int lanes() const override { return lanes_; }
  bool work(int, const queue::Task& task) override {
    const auto i = static_cast<std::size_t>(task.id);
    perhaps_fail();
    std::uint64_t above[2] = {}, left[2] = {};
    if (const void* const row = round_.carries.above(task.id)) std::memcpy(above, row, 16);
    if (const void* const column = round_.carries.left(task.id)) std::memcpy(left, column, 16);
    const std::uint64_t sum = board_.pixels[i] + above[1] + left[1] - above[0];
    perhaps_fail();
    if (round_.readiness.commits(task.id)) {
      round_.carries.keep(task.id, {block_of(left[1], sum), block_of(0, sum)});
      round_.arrived(round_.grid.below(task.id));
      round_.arrived(round_.grid.right(task.id));
      const std::lock_guard lock(board_.mutex);
      ++board_.delivered[i];
      if (sum != board_.table[i]) board_.wrong = "tile " + std::to_string(task.id) + " is wrong";
    }
    perhaps_fail();
    return true;
  }

 private:
  void perhaps_fail() {
    const std::uint64_t c = board_.choice(failing_);
    if (c == 0) throw DeviceError("planted", false);
    if (c == 1 && may_die_) throw DeviceError("planted loss", true);
    if (c == 2) std::this_thread::yield();
  }
  Round& round_;
  Board& board_;
  int lanes_;
  bool may_die_;
  std::uint64_t failing_;
};

/// Empty, or what is wrong.
std::string fault_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  Board board(1 + below(6), 1 + below(9), seed);
  Round round(board);
  std::string failed;
  queue::QueueOptions options;
  options.attempts = 1 << 20;
  options.finished = [&](const queue::Task& task, const queue::Outcome& outcome) {
    if (!outcome.error) return round.carries.finished(task.id);
    const std::lock_guard lock(board.mutex);
    failed = "an error that was to be tried again";
  };
  std::vector<std::unique_ptr<queue::TaskWorker>> workers;
  const int count = static_cast<int>(1 + below(3));
  for (int w = 0; w < count; ++w)
    workers.push_back(std::make_unique<BoardWorker>(round, static_cast<int>(1 + below(3)), w > 0,
                                                    static_cast<std::uint64_t>(12 + below(60))));
  {
    queue::TaskQueue queue(std::move(workers), std::move(options));
    round.queue = &queue;
    for (const std::int64_t tile : round.grid.by_diagonals()) round.arrived(tile);  // their pixels
    queue.wait_idle();
  }
  if (!failed.empty()) return failed;
  for (std::size_t i = 0; i < board.delivered.size(); ++i)
    if (board.delivered[i] != 1)
      return "tile " + std::to_string(i) + " of " + std::to_string(board.columns) + "x" + std::to_string(board.rows) +
             " was delivered " + std::to_string(board.delivered[i]) + " times";
  return board.wrong;
}

TEST(ReadinessStress, EachTileOnceAndRightWhateverFails) {
  const char* const text = std::getenv("AREAL_TEST_SEEDS");
  const std::uint64_t seeds = text ? std::strtoull(text, nullptr, 10) : 300;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) ASSERT_EQ(fault_of(seed), "") << "seed " << seed;
}

TEST(ReadinessStress, APartBeginsWithTheLastThatItNeeds) {
  const TileGrid grid({3, 2}, TiledGrid{2, 3, 1, 1, 2, 1}, false);  // two groups of bins
  Readiness carried(grid, true), alone(grid, false);
  for (std::int64_t part = 0; part < grid.parts(); ++part) EXPECT_TRUE(alone.arrived(part)) << part;
  EXPECT_TRUE(carried.arrived(1));   // in the corner: pixels alone
  EXPECT_FALSE(carried.arrived(3));  // beside it
  EXPECT_TRUE(carried.arrived(3));
  for (int needed = 1; needed < 3; ++needed) EXPECT_FALSE(carried.arrived(9)) << needed;
  EXPECT_TRUE(carried.arrived(9));
  EXPECT_TRUE(carried.commits(9));
  EXPECT_FALSE(carried.commits(9));
  EXPECT_TRUE(carried.commits(8));
}

TEST(ReadinessStress, DiagonalsKeepTheOrderAndTheMirroredGridTurnsIt) {
  for (std::int64_t rows = 1; rows < 6; ++rows)
    for (std::int64_t columns = 1; columns < 6; ++columns)
      for (const bool mirrored : {false, true}) {
        const Shape image{columns * 4 - 1, rows * 3 - 2};
        const TileGrid grid(image, TiledGrid{rows, columns, 4, 3, 1, 0}, mirrored);
        std::vector<bool> there(static_cast<std::size_t>(grid.parts()));
        std::int64_t pixels = 0;
        for (const std::int64_t tile : grid.by_diagonals()) {
          const Region at = grid.part(tile).pixels;
          pixels += at.width * at.height;
          if (const auto above = grid.above(tile)) {
            const Region other = grid.part(*above).pixels;
            EXPECT_TRUE(there[static_cast<std::size_t>(*above)]);
            EXPECT_EQ(other.x, at.x);
            EXPECT_EQ(mirrored ? at.y + at.height : other.y + other.height, mirrored ? other.y : at.y);
          }
          if (const auto left = grid.left(tile)) {
            const Region other = grid.part(*left).pixels;
            EXPECT_TRUE(there[static_cast<std::size_t>(*left)]);
            EXPECT_EQ(other.y, at.y);
            EXPECT_EQ(mirrored ? at.x + at.width : other.x + other.width, mirrored ? other.x : at.x);
          }
          EXPECT_FALSE(there[static_cast<std::size_t>(tile)]);
          there[static_cast<std::size_t>(tile)] = true;
        }
        EXPECT_EQ(pixels, image.width * image.height);
      }
}

}  // namespace
}  // namespace areal::pieces
