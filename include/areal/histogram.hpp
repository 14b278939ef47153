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
  bool weighted = false;           ///< the execute gets a weight image (8u, 16u, 32f or 64f; one channel)
  bool carries = false;            ///< executes get a carry: as SatOptions::carries
  std::string algorithm = "auto";  ///< an id of the catalogue's family `histogram`
  std::uint64_t memory_limit = 0;  ///< refuse a larger tensor, bytes; 0: what the machine has free
  Progress progress = {};          ///< may cancel. CPU only: cuda and simt do not call it
};

/// What one execute reads and writes. The tensor is planar: channels = bins; batch = images. Each view names its
/// memory; HistogramPlan::execute says which it accepts.
struct HistogramArguments {
  ConstView image;
  View tensor;
  ConstView weights = {};
  /// For a piece of a larger tensor: added to every entry on writing, border included. Supported by `auto`, `fused` and
  /// `reduce-then-scan`.
  Carry carry = {};
};

/// Fixes shapes, types and algorithm in advance. See Plan and Workspace.
class HistogramPlan : public Plan {
 public:
  /// A plan for images of that shape and element type. Backend::automatic is chosen as by SatPlan. Does not allocate;
  /// `require_fit` checks whether the tensor would fit.
  /// Throws InvalidArgument for invalid options; Unavailable for a backend or algorithm that this build or machine
  /// lacks.
  HistogramPlan(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options = {},
                const Execution& execution = {});

  std::uint64_t tensor_bytes() const noexcept;
  /// Throws OutOfMemory, naming the bytes and the limit, if the tensor exceeds the memory limit, by default the free
  /// host memory.
  void require_fit() const;
  /// An uninitialised tensor for one execute, in the plan's memory or the one named.
  /// Throws OutOfMemory with the bytes; for host memory as `require_fit`.
  HistogramTensor allocate(std::optional<MemoryPlace> memory = {}) const;
  /// Computes the tensor: O(b H W) an image. Accepts memory and completes as SatPlan::execute.
  /// Throws InvalidArgument for views of another shape, type or memory, for views that share memory, and for a
  /// workspace of another plan; Cancelled; DeviceError if a launch is refused.
  void execute(const ConstView& image, HistogramTensor& into, Workspace& workspace,
               const ConstView& weights = {}) const;
  /// The same with views that you supply, or for a piece of a larger tensor. Throws InvalidArgument if the algorithm is
  /// a paper's and gets a carry.
  void execute(const HistogramArguments& arguments, Workspace& workspace) const;
  /// Throws InvalidArgument if an execute with an owned workspace would refuse these views.
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

/// Plan, workspace and execute in one line; refused, with its bytes, if the tensor cannot fit. O(b H W) an image. The
/// tensor lies in the image's memory and is complete on return. `weights`, in the same memory: see
/// HistogramOptions::weighted; the counter must then be 32f or 64f. Throws what HistogramPlan and its execute throw.
HistogramTensor integral_histogram(const ConstView& image, const Binning& binning, const HistogramOptions& options = {},
                                   const Execution& execution = {}, const ConstView& weights = {});

}  // namespace areal
