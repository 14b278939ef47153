#pragma once
// The fused integral histogram: binning and both scans in one pass over tiles that wait for their left and upper
// neighbours. Reads a pixel once for up to 255 bins, writes 1 per element, nothing twice, no zero fill before. A row in
// 64 and a column in 512 pass through the workspace. If threads need more tiles, tiles have fewer bins, and the bins of
// their pixels are precomputed once; with more than 255 bins or weights, each group finds them itself. Workspace: one
// row and one column of sums a bin, and precomputed bins, of the images in flight. The same floats for any number of
// threads and any SIMD target: the order of additions follows from the shape alone. The carry of a piece of a larger
// tensor is added on the way: `above` when a column of tiles begins, `left` as each row is written.

#include <areal/border.hpp>
#include <areal/carry.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <functional>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal::cpu {

struct FusedHistogram {
  // The request.
  Shape image;
  std::int64_t bins = 0;
  Type counter = Type::u32;
  Border border = Border::none;
  bool weighted = false;
  int threads = 0;

  // Derived from the request.
  std::int64_t width = 0, height = 0;  ///< pixels in the tensor: without the last row and column for `exclusive`
  std::int64_t rows = 0, columns = 0;  ///< tiles of one image
  int tile_height = 0;
  std::int64_t group = 0, groups = 0;            ///< bins of a tile
  std::int64_t images_at_once = 0;               ///< of the batch
  std::int64_t above_pitch = 0, left_pitch = 0;  ///< elements for each bin, 0 without a carry
  std::int64_t rel_pitch = 0;                    ///< bytes of a row of precomputed bins, or 0
  bool stream = false;                           ///< the tensor is stored past the caches
  std::size_t workspace_bytes = 0;

  std::int64_t tiles() const { return image.batch * groups * std::max<std::int64_t>(1, rows * columns); }
};

/// Plans the tiles.
FusedHistogram plan_fused(FusedHistogram request);

/// Computes the tensor, or the piece that `carry` describes. `weights` may be 8u, 16u, 32f or 64f. `finished` is called
/// after each tile, from any thread.
void run_fused(const FusedHistogram& plan, const PixelBins& rule, const ConstView& image, const ConstView& weights,
               const View& tensor, const Carry& carry, void* workspace, const std::function<void()>& finished);

}  // namespace areal::cpu
