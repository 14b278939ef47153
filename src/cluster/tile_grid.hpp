#pragma once
// How a tensor that fits no device is cut into parts: tiles of the image, groups of bins.

#include <areal/tiled.hpp>
#include <cstdint>
#include <vector>
#include "api/core/largest.hpp"

namespace areal::cluster {

/// What a TiledHistogram was made of.
struct TiledSubject {
  Shape image;
  Type type;
  Binning binning;
  TiledOptions options;

  Execution execution_of(const Worker& worker) const {
    return {.backend = worker.backend, .device = worker.device, .threads = worker.threads};
  }
  /// One part's pixels.
  Shape shape_of(std::int64_t width, std::int64_t height) const {
    return {width, height, image.channels, 1, image.layout};
  }
  int lanes_of(const Worker& worker) const { return worker.backend == Backend::cuda ? 2 : 1; }
};

/// One part. Parts of one tile follow each other.
struct TensorPart {
  std::int64_t number, row, column, group;
  Region tile;
  std::int64_t first_bin, bins;
};
TensorPart part_of(const TiledGrid& grid, const TiledSubject& subject, std::int64_t number);

/// Tiles of all bins: rows first, columns where one row does not fit. Several regions are answered from one tile's
/// tensor, and the image crosses the link once, while other tiles are computed; of groups of bins every device would
/// wait for the whole image. Throws OutOfMemory where one column of one row fits no worker.
TiledGrid grid_of_answers(const TiledSubject& subject);
/// Groups of bins of the whole image, which need nothing of each other, where one bin fits every worker; otherwise
/// tiles.
TiledGrid grid_of_pieces(const TiledSubject& subject);

}  // namespace areal::cluster
