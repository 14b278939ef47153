// Tiles in the order of their carries.
#include <vector>
#include "cpu/cancellation.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {

void wavefront(int threads, const TileGrid& grid, std::atomic<std::uint8_t>* pending, const Tile& body) {
  const std::int64_t tiles = grid.tiles(), per_plane = grid.rows * grid.columns;
  if (tiles <= 0) return;
  Cancellation* const cancellation = Cancellation::current();
  const auto run = [&](std::int64_t tile) {
    if (cancellation != nullptr && !cancellation->go_on()) return;
    body(tile / per_plane, tile % per_plane / grid.columns, tile % grid.columns);
  };
  if (slots(threads) == 1 || tiles == 1) {
    on_slot_0([&] {
      for (std::int64_t tile = 0; tile < tiles; ++tile) run(tile);
    });
    if (cancellation != nullptr) cancellation->check();
    return;
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t row = tile % per_plane / grid.columns, column = tile % grid.columns;
    pending[tile].store(static_cast<std::uint8_t>((row > 0) + (column > 0)), std::memory_order_relaxed);
  }
  std::vector<std::int64_t> first(static_cast<std::size_t>(grid.planes));
  for (std::int64_t plane = 0; plane < grid.planes; ++plane) first[static_cast<std::size_t>(plane)] = plane * per_plane;
  run_tasks(threads, tiles, first, [&](std::int64_t tile, const StartTask& start) {
    run(tile);
    // acq_rel: the last of the two neighbours to finish makes the writes of both visible to the tile that it starts.
    const auto finished = [&](std::int64_t next) {
      if (pending[next].fetch_sub(1, std::memory_order_acq_rel) == 1) start(next);
    };
    const std::int64_t row = tile % per_plane / grid.columns, column = tile % grid.columns;
    if (row + 1 < grid.rows) finished(tile + grid.columns);
    if (column + 1 < grid.columns) finished(tile + 1);
  });
  if (cancellation != nullptr) cancellation->check();
}

}  // namespace areal::cpu
