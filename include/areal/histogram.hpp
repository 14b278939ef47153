#pragma once
/// \file histogram.hpp Integral histograms: the b x h x w tensor, and answers without keeping it.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/plan.hpp>
#include <areal/region.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace areal {

/// What to compute. The defaults: the inclusive b x h x w tensor of 32-bit counts.
struct HistogramOptions {
  Border border = Border::none;
  Type counter = Type::u32;        ///< 32u or 64u; 16u (modulo 2^16) on cuda and simt; 32f or 64f with weights
  bool weighted = false;           ///< a weight image (8u, 16u, 32f or 64f; one channel) comes with the image
  std::string algorithm = "auto";  ///< an id of the catalogue's family `histogram`
  std::uint64_t memory_limit = 0;  ///< refuse a tensor of more bytes than this; 0: what the machine has free
  Progress progress = {};          ///< may cancel; the CPU's: on cuda and simt it is not called
};

/// What one execute reads and writes. The tensor is planar: channels = bins; batch = images. Each view says in which
/// memory it lies; HistogramPlan::execute says which memory it takes.
struct HistogramArguments {
  ConstView image;
  View tensor;
  ConstView weights = {};
};

/// Everything decided before the data is there. See Plan and Workspace.
class HistogramPlan : public Plan {
 public:
  /// A plan for images of that shape and element type. Backend::automatic is chosen as by SatPlan. Does not allocate:
  /// `require_fit` says whether the tensor would fit.
  /// Throws InvalidArgument for what cannot be, Unavailable for a backend that this build or machine lacks, or that
  /// lacks the algorithm.
  HistogramPlan(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options = {},
                const Execution& execution = {});

  std::uint64_t tensor_bytes() const noexcept;
  /// Throws OutOfMemory, naming the bytes and the limit, where the tensor does not fit (in host memory, where no limit
  /// was set).
  void require_fit() const;
  /// A tensor for one execute, not initialised, where the plan runs or in the memory that is named.
  /// Throws OutOfMemory with the bytes, as `require_fit` where it is the host's.
  HistogramTensor allocate(std::optional<MemoryPlace> memory = {}) const;
  /// Computes the tensor: O(b H W) an image. Which memory it takes, and when it has ended, is as SatPlan::execute says.
  /// Throws InvalidArgument for views of another shape, type or memory, for views that share memory, and for a
  /// workspace of another plan; Cancelled; DeviceError where a launch is refused.
  void execute(const ConstView& image, HistogramTensor& into, Workspace& workspace,
               const ConstView& weights = {}) const;
  /// The same with views of your own.
  void execute(const HistogramArguments& arguments, Workspace& workspace) const;
  /// Throws InvalidArgument where an execute with an owned workspace would refuse these views.
  void check(const HistogramArguments& arguments) const;

  const Shape& image_shape() const noexcept;
  Type image_type() const noexcept;
  Shape tensor_shape() const noexcept;
  const Binning& binning() const noexcept;
  const HistogramOptions& options() const noexcept;

  struct State;  // of the library
  explicit HistogramPlan(std::shared_ptr<const State> state) noexcept;

 private:
  const State& state() const noexcept;
};

/// One line: plan (refused with its bytes where it cannot fit), workspace, execute. O(b H W) an image. The tensor lies
/// where the image does, and is complete on return. `weights`, in the same memory: see
/// HistogramOptions::weighted, whose counter must be 32f or 64f.
HistogramTensor integral_histogram(const ConstView& image, const Binning& binning, const HistogramOptions& options = {},
                                   const Execution& execution = {}, const ConstView& weights = {});

/// Histograms of N regions, N x bins row by row. O(bins) each. 64u takes integer tensors, double any. Counts are exact
/// modulo 2^k: in a tensor of 16u, those of regions of up to 65535 pixels.
void region_histograms(const TensorView& tensor, std::span<const Region> regions, std::span<std::uint64_t> out,
                       Outside outside = Outside::error, int threads = 0);
void region_histograms(const TensorView& tensor, std::span<const Region> regions, std::span<double> out,
                       Outside outside = Outside::error, int threads = 0);

/// The same answers straight from the image, for images whose tensor does not fit: rows are streamed once, and only
/// bins x width column counts and the corners that regions touch are kept. O(H W + distinct rows * bins * W).
void region_histograms(const ConstView& image, const Binning& binning, std::span<const Region> regions,
                       std::span<std::uint64_t> out, Outside outside = Outside::error, int threads = 0);
void region_histograms(const ConstView& image, const Binning& binning, const ConstView& weights,
                       std::span<const Region> regions, std::span<double> out, Outside outside = Outside::error,
                       int threads = 0);

/// \name Of one histogram (counts or weights, bins long). Negative entries, which rounding of weights may leave, are 0.
///@{
/// h / sum(h); all zeros where the sum is zero.
void normalise(std::span<const double> histogram, std::span<double> out);
/// Shannon entropy in bits; 0 for an empty histogram.
double entropy(std::span<const double> histogram);
/// Value below which `percent` of the mass lies, interpolated linearly inside its bin (edges: bins + 1 values).
/// NaN for an empty histogram. Throws InvalidArgument unless 0 <= percent <= 100.
double percentile(std::span<const double> histogram, std::span<const double> edges, double percent);
double median(std::span<const double> histogram, std::span<const double> edges);
/// The fullest bin (the first of equals), -1 for an empty histogram.
std::int64_t mode(std::span<const double> histogram);
/// Mean of the bin centres, weighted. NaN for an empty histogram.
double mean(std::span<const double> histogram, std::span<const double> edges);
///@}

/// Distances between histograms, named "l1", "l2", "chi-square", "hellinger", "intersection", "emd" and
/// "kolmogorov-smirnov". Each is of the normalised histograms. Two empty ones have distance 0; one empty
/// one has the largest distance that the measure can take between the two. The distance to oneself is exactly 0.
enum class Distance : std::uint8_t {
  l1,                 ///< sum |p-q|, 0..2
  l2,                 ///< sqrt(sum (p-q)^2), 0..sqrt 2
  chi_square,         ///< sum (p-q)^2 / (p+q), 0..2
  hellinger,          ///< sqrt(1 - sum sqrt(p q)), 0..1: what OpenCV calls Bhattacharyya
  intersection,       ///< 1 - sum min(p, q), 0..1
  emd,                ///< 1-D earth mover's distance in bins: sum |P-Q| over the cumulative ones, 0..bins-1
  kolmogorov_smirnov  ///< max |P-Q|, 0..1
};
std::string_view name_of(Distance distance) noexcept;
std::optional<Distance> distance_named(std::string_view name) noexcept;
double distance(Distance measure, std::span<const double> a, std::span<const double> b);

/// The search step of a histogram tracker: the distance between `target` (bins long) and the histogram of every
/// width x height window inside the image, into `out` of (H-height+1) x (W-width+1), 32f or 64f (0 where none fits).
/// O(bins) a window. Throws InvalidArgument for an empty window, sizes that differ, an `exclusive` tensor.
void distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, std::span<const double> target,
                  Distance measure, const View& out, int threads = 0);

}  // namespace areal
