#pragma once
/// \file region_histogram.hpp Histograms of regions, from an integral histogram or from the image itself, and distance
/// maps.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/region.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <concepts>
#include <cstdint>
#include <vector>

namespace areal {

/// The types of a histogram's entries.
template <class T>
concept CountType = std::same_as<T, double> || std::same_as<T, std::uint64_t>;

/// \name Histograms of N regions, N x bins row by row, from a tensor. O(bins) each. 64u reads tensors of 16u, 32u and
/// 64u; double reads any. Counts are exact modulo 2^k: in a tensor of 16u, those of regions of up to 65535 pixels. In
/// an `exclusive` tensor, regions that touch the image's last row or column are invalid.
/// @{
void region_histograms(const TensorView& tensor, Span<const Region> regions, Span<std::uint64_t> out,
                       const QueryOptions& options = {});
void region_histograms(const TensorView& tensor, Span<const Region> regions, Span<double> out,
                       const QueryOptions& options = {});
template <CountType T = std::uint64_t>
std::vector<T> region_histograms(const TensorView& tensor, Span<const Region> regions,
                                 const QueryOptions& options = {}) {
  std::vector<T> out(regions.size() * static_cast<std::size_t>(tensor.bins()));
  region_histograms(tensor, regions, Span<T>(out), options);
  return out;
}
///@}

/// \name The share of some rows of a tensor in the histograms of N regions: see partial_region_sums.
/// @{
void partial_region_histograms(const TensorView& rows, std::int64_t first, std::int64_t image_height,
                               Span<const Region> regions, Span<std::uint64_t> out, const Execution& execution = {});
void partial_region_histograms(const TensorView& rows, std::int64_t first, std::int64_t image_height,
                               Span<const Region> regions, Span<double> out, const Execution& execution = {});
///@}

/// \name The same histograms straight from one image (batch 1) in host memory, on the CPU. Rows are streamed once;
/// memory holds only bins x width column counts and the regions' corners, so the image's tensor need not fit. O(H W +
/// distinct rows * bins * W). Few or small regions of 8-bit images are counted pixel by pixel: O(sum of their areas).
/// With weights (one 8u, 16u, 32f or 64f for each pixel) entries are sums of weights. Throws OutOfMemory if the column
/// counts do not fit.
/// @{
void region_histograms(const ConstView& image, const Binning& binning, Span<const Region> regions,
                       Span<std::uint64_t> out, const QueryOptions& options = {});
void region_histograms(const ConstView& image, const Binning& binning, const ConstView& weights,
                       Span<const Region> regions, Span<double> out, const QueryOptions& options = {});
std::vector<std::uint64_t> region_histograms(const ConstView& image, const Binning& binning, Span<const Region> regions,
                                             const QueryOptions& options = {});
std::vector<double> region_histograms(const ConstView& image, const Binning& binning, const ConstView& weights,
                                      Span<const Region> regions, const QueryOptions& options = {});
///@}

/// The search step of a histogram tracker: the distance between `target` (bins long) and the histogram of every width x
/// height window inside the image, into `out` of (H-height+1) x (W-width+1), 32f or 64f (empty if none fits). O(bins) a
/// window. The tensor's memory decides where it runs, as the table's does for regions (see QueryOptions); `target` and
/// `out` may be of the same device or of the host. Throws what queries about regions throw, and InvalidArgument for an
/// empty window, an `exclusive` tensor, or an output that overlaps the tensor.
void distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, Span<const double> target,
                  Distance measure, const View& out, const Execution& execution = {});

}  // namespace areal
