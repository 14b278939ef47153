#pragma once
// A table or a tensor, piece by piece: the framed outputs of each tile leave its worker in chunks.

#include "pieces/tiles/driver.hpp"

namespace areal::pieces {

/// Entries of the whole table, in host memory.
struct TilePiece {
  std::int64_t x = 0, y = 0;                ///< of the first
  std::int64_t group = 0, first_plane = 0;  ///< the latter of the group's
  std::vector<ConstView> outputs;
  int worker = 0;
};

struct TileGiving {
  const ImageRows &rows, &second;  ///< the latter where the form has two inputs
  /// Called with every entry once. False ends the run. What it throws ends the run, too, and is no worker's failure.
  std::function<bool(const TilePiece&)> give;
  bool one_at_a_time = true;  ///< the calls of `give`
};

/// Throws InvalidArgument for rows that are missing, or that nothing asks for.
void give_pieces(const TileJob& job, TilePool& pool, const TileGiving& giving, const queue::WrapWorker& wrap = {});

}  // namespace areal::pieces
