#pragma once
/// \file histogram.hpp Integral histograms: the b x h x w tensor, planned and executed.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/border.hpp>
#include <areal/carry.hpp>
#include <areal/execution.hpp>
#include <areal/histogram_tensor.hpp>
#include <areal/plan.hpp>
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
  bool carries = false;            ///< executes will be given a carry: as SatOptions::carries
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
  /// Of a piece of a larger tensor: added to every entry while it is written, those of a border included. `auto`,
  /// `fused` and `reduce-then-scan` take it.
  Carry carry = {};
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
  /// The same with views of your own, or of a piece of a larger tensor. Throws InvalidArgument where the algorithm is a
  /// paper's, which takes no carry.
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

}  // namespace areal
