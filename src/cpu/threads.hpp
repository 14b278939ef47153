#pragma once
// Threads, through oneTBB, which only threads.cpp includes. `threads` 0 means all; 1 runs on the caller; larger numbers
// are limited to the machine's. Bodies run with the default floating-point environment (FloatEnvironment).

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>

namespace areal::cpu {

/// 1 in a forked child of a process that had called this: everything below then runs on the calling thread.
int default_threads();

/// body(i) for every i in [0, n), in any order, at most `threads` at a time. An exception of a body is rethrown.
void parallel_for(int threads, std::int64_t n, const std::function<void(std::int64_t)>& body);

/// body(begin, end) over ranges of at least `grain` that cover [0, n). This, parallel_for and wavefront throw Cancelled
/// as the caller's Cancellation requires.
void parallel_ranges(int threads, std::int64_t n, std::int64_t grain,
                     const std::function<void(std::int64_t, std::int64_t)>& body);

/// A grid of tiles in which tile (plane, row, column) may start once its left and its upper neighbour are done.
struct TileGrid {
  std::int64_t planes = 1, rows = 0, columns = 0;
  std::int64_t tiles() const { return planes * rows * columns; }
};

/// body(plane, row, column) for every tile, neighbours first, at most `threads` at a time, without spinning. `pending`
/// has grid.tiles() counters; their values on entry and exit do not matter. Tiles see the writes of the tiles that they
/// depend on. An exception of a body is rethrown; tiles not yet started are then skipped.
using Tile = std::function<void(std::int64_t plane, std::int64_t row, std::int64_t column)>;
void wavefront(int threads, const TileGrid& grid, std::atomic<std::uint8_t>* pending, const Tile& body);
/// The number of the calling thread inside the current `wavefront` or `on_threads`: 0 .. slots(threads) - 1, for its
/// own scratch.
int slots(int threads);
int slot();
/// body() on up to slots(threads) threads at once, and at most `most` times: at least once unless `most` is 0. TBB may
/// provide fewer threads, or provide them late; bodies that find no work return. An exception of a body is rethrown
/// once all have ended.
void on_threads(int threads, std::int64_t most, const std::function<void()>& body);
/// body() on the calling thread, where slot() is 0.
void on_slot_0(const std::function<void()>& body);

/// body(task, start) for the tasks of `first` and every task that a body starts with start(task), each at most once;
/// tasks are numbers in [0, count). A task sees everything written before start(task). An exception of a body is
/// rethrown; tasks not yet begun are then skipped.
using StartTask = std::function<void(std::int64_t task)>;
void run_tasks(int threads, std::int64_t count, std::span<const std::int64_t> first,
               const std::function<void(std::int64_t task, const StartTask& start)>& body);

}  // namespace areal::cpu
