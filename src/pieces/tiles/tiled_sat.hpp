#pragma once
// What a TiledSat has decided before the data is there.

#include <areal/tiled.hpp>
#include "pieces/tiles/tile_pieces.hpp"

namespace areal::pieces {

struct TiledTables {
  TileJob job;
  SatPlan whole;  ///< of the whole image, for its shapes and types
  bool counts;    ///< there is a table of counts
};

/// Checks, and cuts the image.
TiledTables tiled_tables(const Shape& image, Type type, const SatOptions& options, const PieceOptions& tiles);

}  // namespace areal::pieces
