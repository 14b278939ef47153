#include "cpu/threads.hpp"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_for_each.h>
#include <oneapi/tbb/task_arena.h>
#include <algorithm>
#include <vector>

namespace areal::cpu {

int default_threads() { return tbb::info::default_concurrency(); }

int slots(int threads) { return threads > 0 ? threads : default_threads(); }
int slot() { return std::max(0, tbb::this_task_arena::current_thread_index()); }

namespace {
// Runs f in an arena of exactly that many slots.
template <class F>
void with_threads(int threads, F&& f) {
  tbb::task_arena arena(slots(threads));
  arena.execute(f);
}
bool alone(int threads) { return slots(threads) == 1; }
}  // namespace

void parallel_for(int threads, std::int64_t n, const std::function<void(std::int64_t)>& body) {
  parallel_ranges(threads, n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

void parallel_ranges(int threads, std::int64_t n, std::int64_t grain,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (n <= 0) return;
  if (alone(threads) || n <= grain) return body(0, n);
  with_threads(threads, [&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, n, static_cast<std::size_t>(std::max<std::int64_t>(1, grain))),
        [&](const tbb::blocked_range<std::int64_t>& range) { body(range.begin(), range.end()); });
  });
}

void wavefront(int threads, const TileGrid& grid, std::atomic<std::uint8_t>* pending, const Tile& body) {
  const std::int64_t tiles = grid.tiles(), per_plane = grid.rows * grid.columns;
  if (tiles <= 0) return;
  const auto run = [&](std::int64_t tile) {
    body(tile / per_plane, tile % per_plane / grid.columns, tile % grid.columns);
  };
  if (alone(threads) || tiles == 1) {
    tbb::task_arena arena(1);  // so that slot() is 0, whatever arena the caller runs in
    arena.execute([&] {
      for (std::int64_t tile = 0; tile < tiles; ++tile) run(tile);
    });
    return;
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t row = tile % per_plane / grid.columns, column = tile % grid.columns;
    pending[tile].store(static_cast<std::uint8_t>((row > 0) + (column > 0)), std::memory_order_relaxed);
  }
  std::vector<std::int64_t> first(static_cast<std::size_t>(grid.planes));
  for (std::int64_t plane = 0; plane < grid.planes; ++plane) first[static_cast<std::size_t>(plane)] = plane * per_plane;
  with_threads(threads, [&] {
    tbb::parallel_for_each(first.begin(), first.end(), [&](std::int64_t tile, tbb::feeder<std::int64_t>& feeder) {
      run(tile);
      // acq_rel: the last of the two neighbours to finish makes what both wrote visible to the tile it starts.
      const auto finished = [&](std::int64_t next) {
        if (pending[next].fetch_sub(1, std::memory_order_acq_rel) == 1) feeder.add(next);
      };
      const std::int64_t row = tile % per_plane / grid.columns, column = tile % grid.columns;
      if (row + 1 < grid.rows) finished(tile + grid.columns);
      if (column + 1 < grid.columns) finished(tile + 1);
    });
  });
}

}  // namespace areal::cpu
