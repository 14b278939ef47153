#pragma once
// How a tensor that fits no device is cut into parts: tiles of the image, groups of bins.

#include <areal/tiled.hpp>
#include <cstdint>
#include <vector>

namespace areal::cluster {

/// The largest value of [1, most] that fits, 0 where none does; what is smaller than one that fits, fits.
template <class Fits>
std::int64_t largest(std::int64_t most, const Fits& fits) {
  std::int64_t none = 0, beyond = most + 1;
  while (beyond - none > 1) {
    const std::int64_t middle = none + (beyond - none) / 2;
    (fits(middle) ? none : beyond) = middle;
  }
  return none;
}

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
