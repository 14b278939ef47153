#pragma once
// A table or a tensor, piece by piece: the framed outputs of each tile leave its worker in chunks.

#include "pieces/tiles/driver.hpp"

namespace areal::pieces {

struct TileGiving {
  const ImageReader &read, &read_second;  ///< the latter where the form has two inputs
  /// Called with every entry once. What it throws ends the run, and is no worker's failure.
  const PieceSink& sink;
  bool one_at_a_time = true;  ///< the calls of `sink`
};

/// Throws InvalidArgument for a reader or a sink that is missing, or a reader that nothing asks for.
void give_pieces(const TileJob& job, TilePool& pool, const TileGiving& giving, const queue::WrapWorker& wrap = {});

}  // namespace areal::pieces
