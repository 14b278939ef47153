#pragma once
/// \file region_histogram.hpp Histograms of regions, from an integral histogram or from the image itself, and distance
/// maps.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/histogram_measures.hpp>
#include <areal/plan.hpp>
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

/// \name The same histograms straight from one image (batch 1), without its tensor. On the CPU rows are streamed once;
/// memory holds only bins x width column counts and the regions' corners. O(H W + distinct rows * bins * W). Few or
/// small regions of 8-bit images are counted pixel by pixel: O(sum of their areas), as always on cuda and simt. The
/// image's memory decides where it runs, as the table's does for regions (see QueryOptions); with `execution.backend`
/// cuda an image in host memory is copied to the device. With weights (one 8u, 16u, 32f or 64f for each pixel, in the
/// image's memory) entries are sums of weights, in an order that depends on the backend but not on threads or the
/// device. On a device the call queues its work as described in QueryOptions, except that images of more than 8 bits
/// need a copy of the binning, and more than 1024 regions memory allocated in stream order: a RegionHistogramPlan has
/// both. Throws OutOfMemory if the column counts do not fit.
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

struct RegionHistogramOptions {
  Outside outside = Outside::error;
  bool weighted = false;  ///< executes get weights
};

/// The histograms of regions straight from images of one shape, for sequences of frames: on cuda an execute with device
/// memory allocates nothing and may be captured in a CUDA graph. See Plan and Workspace.
class RegionHistogramPlan : public Plan {
 public:
  /// For up to `regions` regions an execute. Backend::automatic is cuda if the execution has a CUDA stream, else the
  /// CPU. Throws InvalidArgument for a batch, a binning that does not read such images, or a negative number;
  /// Unavailable.
  RegionHistogramPlan(const Shape& image, Type type, const Binning& binning, std::int64_t regions,
                      const RegionHistogramOptions& options = {}, const Execution& execution = {});

  const Shape& image_shape() const noexcept;
  Type image_type() const noexcept;
  const Binning& binning() const noexcept;
  std::int64_t regions() const noexcept;  ///< the most of an execute
  const RegionHistogramOptions& options() const noexcept;

  /// N x bins counts or sums of weights, row by row. `first_invalid` is one number or none, as in QueryOptions. Accepts
  /// memory and completes as SatPlan::execute. Throws InvalidArgument for arguments of other shapes, types or memory,
  /// more regions than planned, weights without a plan for them, and a workspace of another plan; DeviceError.
  void execute(const ConstView& image, Span<const Region> regions, Span<std::uint64_t> out, Workspace& workspace,
               Span<std::int64_t> first_invalid = {}) const;
  void execute(const ConstView& image, const ConstView& weights, Span<const Region> regions, Span<double> out,
               Workspace& workspace, Span<std::int64_t> first_invalid = {}) const;

  struct State;  // of the library

 private:
  const State& state() const noexcept;
};

/// The search step of a histogram tracker: the distance between `target` (bins long) and the histogram of every width x
/// height window inside the image, into `out` of (H-height+1) x (W-width+1), 32f or 64f (empty if none fits). O(bins) a
/// window. The tensor's memory decides where it runs, as the table's does for regions (see QueryOptions); `target` and
/// `out` may be of the same device or of the host. Throws what queries about regions throw, and InvalidArgument for an
/// empty window, an `exclusive` tensor, or an output that overlaps the tensor.
void distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, Span<const double> target,
                  Distance measure, const View& out, const Execution& execution = {});
/// The same straight from an image in host memory, on the CPU, without a tensor: O(bins) a window, and at most
/// 4 (bins + 1) (width + 1024) bytes a thread. The bits are those of a tensor's map. Throws InvalidArgument for several
/// images, and as histograms of regions do for the binning; Unavailable for another backend; OutOfMemory.
void distance_map(const ConstView& image, const Binning& binning, std::int64_t width, std::int64_t height,
                  Span<const double> target, Distance measure, const View& out, const Execution& execution = {});

}  // namespace areal
