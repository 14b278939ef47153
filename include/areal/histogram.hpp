#pragma once
/// \file histogram.hpp Integral histograms: the b x h x w tensor, planned and executed.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
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

}  // namespace areal
