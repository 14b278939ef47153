#pragma once
// Histograms of regions without the tensor. Rows are read once, from the top; each column counts its pixels so far. At
// a row where a region begins or ends, the counts between its columns are subtracted or added. The image is cut into
// strips of columns that run in parallel, with counts that stay in the caches. Strips and sums follow from the shape
// and the regions alone, so floats are the same for any number of threads.

#include <areal/region.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include "cpu/histogram/pixel_bins.hpp"

namespace areal::cpu {

/// The counts of regions of an image whose rows arrive in strips.
class StreamedCounts {
 public:
  /// Every region must lie inside the image. The caller keeps the regions and the rule alive. `out`: regions x bins.
  StreamedCounts(const PixelBins& rule, const Shape& image, std::span<const Region> regions,
                 std::span<std::uint64_t> out, int threads);
  ~StreamedCounts();
  /// Bytes that it allocates.
  static std::uint64_t bytes(const Shape& image, std::int64_t bins, std::int64_t regions);
  /// Adds the next rows of the image.
  void add(const ConstView& rows);
  /// After the last row: `out` is complete.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes of workspace for the call below: the counts of all columns in flight and the partial answers of the strips.
std::uint64_t streamed_bytes(const Shape& image, std::int64_t bins, std::int64_t regions, int threads);

/// out: regions x bins. Every region must lie inside the image. One image (batch 1).
void streamed_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                     std::span<std::uint64_t> out, int threads);
/// The same for weights (8u, 16u, 32f or 64f), added as doubles.
void streamed_weights(const PixelBins& rule, const ConstView& image, const ConstView& weights,
                      std::span<const Region> regions, std::span<double> out, int threads);

}  // namespace areal::cpu
