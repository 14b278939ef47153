#pragma once
/// \file sat.hpp Summed-area tables: plan, prepare, execute; and the one-line form that owns its table.

#include <areal/array.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/research/launch_counts.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace areal {

/// What to compute and how. The defaults: the sum, border `zero`, the best algorithm of this machine.
struct SatOptions {
  Border border = Border::zero;
  std::string algorithm = "auto";  ///< an id of the catalogue's family `sat`
  /// Where it runs. `automatic` is the CPU for a plan, whose views are then host memory, and so for a SatRunner of that
  /// plan. The one-line form `sat`, which copies where it must, takes a GPU where there is one that can do what is
  /// asked for (`best_backend`).
  Backend backend = Backend::automatic;
  int device = 0;   ///< number of the device, for cuda
  int threads = 0;  ///< CPU threads; 0 means all
  /// Also the table of squares, in this type (32u, 64u or 64f), in the same pass over the image. On a GPU that is
  /// `lookback`'s, whatever algorithm was asked for.
  std::optional<Type> squares = {};
  bool tilted = false;      ///< also the 45 degree table, (H+1)x(W+1), equal to OpenCV's definition
  bool mask = false;        ///< a mask (8u, 0 means leave out) comes with the image; also the table of counts (32u)
  bool ignore_nan = false;  ///< as a mask that leaves out NaN (float input); also the table of counts
  bool volume = false;      ///< the batch is the depth of one volume, and is summed along, too
  /// The share of the pixels, above 0 and below 1, that hybrid-1r1w leaves to its two triangles; the plan's reason says
  /// which share they have, as triangles are made of tiles. Other algorithms have none.
  double r = 0.25;
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column; others have no choice
  Layout tables = Layout::planar;         ///< for several channels: separate tables, or one interleaved table
  Progress progress = {};                 ///< may cancel
  LaunchReport launched = {};             ///< told of each launch on cuda and simt
};

/// What one execute reads and writes. Views that were not asked for stay empty. The memory is the backend's: for a plan
/// on cuda the device's, else the host's.
struct SatArguments {
  ConstView image;
  View sum;
  ConstView mask = {};
  View squares = {};
  View tilted = {};
  View count = {};
};

/// Everything decided before the data is there. Cheap to copy, thread-safe, and may execute at once on several
/// threads with a workspace each.
class SatPlan {
 public:
  /// The image's shape (the table's follow from it), the type pair and the options, checked: throws InvalidArgument for
  /// what cannot be, Unavailable for a backend or algorithm that this build or machine lacks.
  SatPlan(const Shape& image, TypePair types, const SatOptions& options = {});

  /// Bytes of workspace that an execute needs (any alignment; 0 is possible).
  std::size_t workspace_bytes() const noexcept;
  /// Makes a new workspace ready. Once per workspace, not per execute.
  void prepare(void* workspace, Stream stream = Stream::host()) const;
  /// Computes. Allocates no memory of the image's size, leaves the workspace ready for the next execute. A plan on cuda
  /// queues its work on the stream and returns; it may be captured in a CUDA graph, and runs at once on several streams
  /// with a workspace each. Throws DeviceError where a launch is refused.
  /// In place (sum.data == image.data) where input and table type have the same size and the border is `none`.
  void execute(const SatArguments& arguments, void* workspace, Stream stream = Stream::host()) const;
  /// Throws InvalidArgument where execute would refuse these views.
  void check(const SatArguments& arguments) const;

  const Shape& image_shape() const noexcept;
  Shape table_shape() const noexcept;  ///< of the sum and of the squares
  Shape count_shape() const noexcept;  ///< of the table of counts (one channel)
  Shape tilted_shape() const noexcept;
  TypePair types() const noexcept;
  const SatOptions& options() const noexcept;
  Backend backend() const noexcept;               ///< never automatic
  std::uint64_t table_bytes() const;              ///< of all the tables asked for, contiguous
  const std::string& algorithm() const noexcept;  ///< the id that `auto` chose
  const std::string& reason() const noexcept;     ///< and why

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// A plan for that image; the constructor by its verb.
inline SatPlan make_plan(const Shape& image, TypePair types, const SatOptions& options = {}) {
  return SatPlan(image, types, options);
}

/// A plan and the memory that it needs: the tables of host images one after another, on whatever the plan runs. On cuda
/// it copies image and mask to the device and the tables back. Not for several threads at once.
class SatRunner {
 public:
  /// Throws OutOfMemory, with the bytes, where the host or the device lacks them.
  explicit SatRunner(SatPlan plan);
  /// Host views, as SatPlan::execute on the CPU.
  void execute(const SatArguments& arguments);
  const SatPlan& plan() const noexcept { return plan_; }

 private:
  struct Device;
  SatPlan plan_;
  Array workspace_;
  std::shared_ptr<Device> device_;
};

/// The share that hybrid-1r1w's triangles have for an image of that size where `r` is asked for: the nearest that whole
/// tiles can make, 0 where the image has but one row or column of them.
double hybrid_share(const Shape& image, double r, Border border = Border::zero);
/// Shares that the triangles can have, k (k + 1) of all tiles for k tiles to a side, ascending: of those from `from` to
/// `to` all, or `most` evenly spread over k, the largest among them. None where the image has but one row or column.
std::vector<double> hybrid_shares(const Shape& image, Border border, std::size_t most, double from = 0, double to = 1);
/// The share that does best of some 18 on images of that shape, whatever their pixels: 12 over all sides of the
/// triangles, then some around the best of those. On cuda that with the least median time of an execute on a prepared
/// plan, beside memory of its own; on simt, whose time is no machine's, that with the least global memory access cost
/// C/w + S + (B + 1)(l - 1) (Kasagi 2014) of what is counted, where w = l = 32. `options.r` where there is none.
/// Throws what SatPlan throws, InvalidArgument for another algorithm, OutOfMemory where the device lacks the bytes.
double best_hybrid_share(const Shape& image, TypePair types, const SatOptions& options);

/// The best backend for host images of that shape with these options: cuda where the device can do all that is asked
/// for and its free memory holds image, tables and workspace, else cpu.
Backend best_backend(const Shape& image, TypePair types, const SatOptions& options);

/// The tables of one image, owned. Those not asked for are empty.
struct SatTables {
  Array sum, squares, tilted, count;
  Border border = Border::zero;
};

/// One line: plan, workspace, execute. The type pair is `default_types` where none is named.
SatTables sat(const ConstView& image, const SatOptions& options = {}, std::optional<TypePair> types = {},
              const ConstView& mask = {});

}  // namespace areal
