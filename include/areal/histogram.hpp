#pragma once
/// \file histogram.hpp Integral histograms: the b x h x w tensor, and answers without keeping it.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/region.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <memory>
#include <span>
#include <string>

namespace areal {

/// What to compute and how. The defaults: the inclusive b x h x w tensor of 32-bit counts.
struct HistogramOptions {
  Border border = Border::none;
  Type counter = Type::u32;        ///< 32u or 64u; 16u (modulo 2^16) on cuda and simt; 32f or 64f with weights
  bool weighted = false;           ///< a weight image (8u, 16u, 32f or 64f; one channel) comes with the image
  std::string algorithm = "auto";  ///< an id of the catalogue's family `histogram`
  /// Where it runs. `automatic` is the CPU for a plan, whose views are then host memory; the one-line form, which
  /// copies where it must, takes a GPU where there is one that can do what is asked for, see best_backend.
  Backend backend = Backend::automatic;
  int device = 0;                  ///< number of the device, for cuda
  int tile = 32;                   ///< side of the tiles of cw-tis and wf-tis: 16, 32 or 64. Others have none
  int tile_threads = 0;            ///< of a block on such a tile, one of tile_threads(tile); 0: the default
  int threads = 0;                 ///< CPU threads; 0 means all
  std::uint64_t memory_limit = 0;  ///< refuse a tensor of more bytes than this; 0: what the machine has free
  Progress progress;               ///< may cancel
  LaunchReport launched;           ///< told of each launch on cuda and simt
};

/// Threads that a block of cw-tis and wf-tis may have on tiles of that side, ascending: those that kernels are compiled
/// for with counters of 32u, others having the default alone. None where tiles have no such side.
std::span<const int> tile_threads(int tile) noexcept;
/// What HistogramOptions::tile_threads 0 stands for: 512, on tiles of 16 256.
int default_tile_threads(int tile) noexcept;

/// What one execute reads and writes. The tensor is planar: channels = bins; batch = images. The memory is the
/// backend's: for a plan on cuda the device's, else the host's.
struct HistogramArguments {
  ConstView image;
  View tensor;
  ConstView weights = {};
};

/// Everything decided before the data is there; see SatPlan for the contract.
class HistogramPlan {
 public:
  /// Throws InvalidArgument for what cannot be, Unavailable for a backend that this build or machine lacks, or that
  /// lacks the algorithm. Does not allocate: `require_fit()` says whether the tensor would fit.
  HistogramPlan(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options = {});

  std::uint64_t tensor_bytes() const noexcept;
  /// Throws OutOfMemory, naming the bytes and the limit, where the tensor does not fit (in host memory, where no limit
  /// was set).
  void require_fit() const;
  std::size_t workspace_bytes() const noexcept;
  /// Makes a new workspace ready. Once per workspace, not per execute. Throws InvalidArgument while the stream is being
  /// captured into a CUDA graph: what is copied here is the plan's, which a graph may outlive.
  void prepare(void* workspace, Stream stream = Stream::host()) const;
  /// Computes. A plan on cuda queues its work on the stream and returns, allocating nothing; `progress` is the CPU's.
  void execute(const HistogramArguments& arguments, void* workspace, Stream stream = Stream::host()) const;
  /// Throws InvalidArgument where execute would refuse these views.
  void check(const HistogramArguments& arguments) const;

  const Shape& image_shape() const noexcept;
  Type image_type() const noexcept;
  Backend backend() const noexcept;  ///< never automatic
  Shape tensor_shape() const noexcept;
  const Binning& binning() const noexcept;
  const HistogramOptions& options() const noexcept;
  const std::string& algorithm() const noexcept;
  const std::string& reason() const noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

inline HistogramPlan make_plan(const Shape& image, Type type, const Binning& binning,
                               const HistogramOptions& options = {}) {
  return HistogramPlan(image, type, binning, options);
}

/// A plan and the memory that it needs: the tensors of host images one after another, on whatever the plan runs. On
/// cuda it copies the image and the weights to the device and the tensor back. Not for several threads at once.
class HistogramRunner {
 public:
  /// Throws OutOfMemory, with the bytes, where the host or the device lacks them. The tensor's are the caller's on the
  /// host: see HistogramPlan::require_fit.
  explicit HistogramRunner(HistogramPlan plan);
  /// Host views, as HistogramPlan::execute on the CPU.
  void execute(const HistogramArguments& arguments);
  const HistogramPlan& plan() const noexcept { return plan_; }

 private:
  struct Device;
  HistogramPlan plan_;
  Array workspace_;
  std::shared_ptr<Device> device_;
};

/// The best backend for host images of that shape with these options: cuda where the device can do all that is asked
/// for and its free memory holds image, tensor and workspace, else cpu.
Backend best_backend(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options);

/// One line: plan (refused with its bytes where it cannot fit), workspace, execute.
Array integral_histogram(const ConstView& image, const Binning& binning, const HistogramOptions& options = {},
                         const ConstView& weights = {});

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
