#pragma once
// How large tiles are: as large as the workers' memory takes, and enough of them for all.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "pieces/tiles/tile_job.hpp"

namespace areal::pieces {

/// a / b, rounded up.
inline std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct CutRule {
  std::vector<std::uint64_t> limits = {};  ///< bytes of a lane of each worker
  /// What a tile takes of a worker's memory.
  std::function<std::uint64_t(std::size_t worker, std::int64_t width, std::int64_t height)> bytes = {};
  std::int64_t lanes = 0;         ///< of all workers
  std::int64_t multiple = 1;      ///< of the rows and columns of tiles that have more of them
  std::int64_t least_rows = 64;   ///< of a tile that is made smaller than memory takes
  std::uint64_t most_bytes = 0;   ///< of a tile's outputs; 0: any
  std::uint64_t pixel_bytes = 0;  ///< of one pixel's outputs
  std::string one = {};           ///< "one pixel's table does not fit"

  bool fits(std::int64_t width, std::int64_t height) const;
};

/// Bytes of a part where it is computed: inputs, outputs, carries and workspace.
std::uint64_t part_bytes(const Work& work, std::int64_t width, std::int64_t height);
/// What a CUDA worker may take: what the caller says, or nine tenths of what is free.
std::uint64_t device_limit(const Worker& worker, std::uint64_t memory);

/// Tiles of that size, each with all bins.
TiledGrid fixed_tiles(const TileJob& job, const PieceOptions& options);

/// Whole rows, or squares where one row does not fit; with room for `lanes` to compute and copy at the same time.
/// Throws OutOfMemory where one pixel does not fit. Of an image without pixels, one tile.
TiledGrid cut_tiles(const Shape& image, const CutRule& rule);

}  // namespace areal::pieces
