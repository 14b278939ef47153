#pragma once
// What a TiledSat has decided before the data is there, and one run of it.

#include <areal/tiled.hpp>
#include "pieces/tiles/tile_pieces.hpp"

namespace areal::pieces {

struct TiledTables {
  TileJob job;
  SatPlan whole;  ///< of the whole image, for its shapes and types
  bool counts;    ///< there is a table of counts

  SatPiece piece_of(const TilePiece& piece) const;
};

/// Checks, and cuts the image.
TiledTables tiled_tables(const Shape& image, Type type, const SatOptions& options, const TiledOptions& tiled);

/// Each piece once. `mask` where the options ask for it.
void run_tables(const TiledTables& tables, const ImageRows& rows, const ImageRows& mask, const SatSink& sink,
                bool one_at_a_time, const queue::WrapWorker& wrap = {});

}  // namespace areal::pieces
