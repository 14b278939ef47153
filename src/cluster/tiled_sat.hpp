#pragma once
// What a TiledSat has decided before the data is there, and one run of it.

#include <areal/tiled.hpp>
#include <functional>
#include <memory>
#include <vector>
#include "cluster/sat_tiles.hpp"
#include "queue/task.hpp"

namespace areal::cluster {

struct TiledSatWork {
  Shape image;  ///< with border `exclusive`, without its last row and column
  Type type = Type::u8;
  Shape whole_image, table_shape;
  SatOptions options;        ///< of a tile's plan: with types; border `exclusive` has become `zero`
  std::vector<Type> tables;  ///< of the sum and, where asked for, of the squares
  TiledOptions tiled;
  Progress progress;
  TiledGrid grid;

  /// Columns and rows of a tile's table before its first sum.
  std::int64_t offset() const { return options.border == Border::none ? 0 : 1; }
};

/// Checks, and cuts the image.
TiledSatWork tiled_sat_work(const Shape& image, Type type, const SatOptions& options, TiledOptions tiled);

/// The callers of one run.
struct SatRun {
  const TiledSatWork& work;
  const ImageRows& rows;
  const SatSink& sink;
  bool one_at_a_time = true;  ///< the sink's calls
};

/// A worker for the tiles of a run.
std::unique_ptr<queue::TaskWorker> sat_tile_worker(const Worker& worker, const SatRun& run, SatTiles& tiles,
                                                   std::mutex& reading,
                                                   const std::function<void(const SatPiece&)>& deliver);

/// Each piece once. `wrap` may replace each worker; tests plant others with it.
void run_sat_tiles(const SatRun& run, const queue::WrapWorker& wrap = {});

}  // namespace areal::cluster
