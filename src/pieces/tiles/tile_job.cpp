#include "pieces/tiles/tile_job.hpp"
#include "api/core/require.hpp"
#include "queue/workers.hpp"

namespace areal::pieces {

void TileJob::take(const PieceOptions& options) {
  require(options.width >= 0 && options.height >= 0 && options.bins >= 0, "tiles of ", options.width, "x",
          options.height, ", groups of ", options.bins, " bins: 0 (all) or more is needed");
  require(options.pushed_width == 0 && options.pushed_height == 0, "pushed tiles: images by tiles are read");
  require(options.piece_bytes > 0, "piece_bytes 0: pieces need some memory");
  workers = options.workers;
  if (workers.empty()) workers.push_back({.backend = Backend::automatic});
  for (Worker& worker : workers)
    if (worker.backend == Backend::automatic) worker.backend = work(worker, {0, bins})->execution().backend;
  queue::require_workers(workers);
  note = options.note;
  progress = options.progress;
  piece_bytes = options.piece_bytes;
  for (const Worker& worker : workers) form = work(worker, {0, bins})->form();  // throws what a plan refuses
}

}  // namespace areal::pieces
