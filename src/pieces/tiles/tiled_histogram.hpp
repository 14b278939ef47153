#pragma once
// What a TiledHistogram has decided before the data is there, and the runs of its two calls.

#include <areal/tiled.hpp>
#include <span>
#include <vector>
#include "pieces/tiles/tile_pieces.hpp"

namespace areal::pieces {

/// What a TiledHistogram was made of.
struct TiledBins {
  Shape image;
  Type type;
  Binning binning;
  HistogramOptions options;  ///< of pieces
  PieceOptions tiles;
  Type weights = Type::f32;
};

/// Tiles of all bins: rows first, columns where one row does not fit. Several regions are answered from one tile's
/// tensor, and the image crosses the link once, while other tiles are computed; of groups of bins every device would
/// wait for the whole image. Throws OutOfMemory where one column of one row fits no worker.
TileJob job_of_answers(const TiledBins& bins);
/// Not cut yet: throws what plans of its parts refuse.
TileJob job_of_pieces(const TiledBins& bins);
/// Groups of bins of the whole image, which need nothing of each other, where one bin fits every worker; otherwise
/// tiles.
TiledGrid cut_of_pieces(const TiledBins& bins, const TileJob& job);

/// Counts of regions, as TiledHistogram::answers.
void answer_regions(const TiledBins& bins, const TileJob& job, TilePool& pool, const ImageReader& read,
                    std::span<const Region> regions, std::span<std::uint64_t> counts,
                    const queue::WrapWorker& wrap = {});

}  // namespace areal::pieces
