#pragma once
/// \file sat.hpp Summed-area tables: one line, or a plan to reuse.

#include <areal/array.hpp>
#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/plan.hpp>
#include <areal/sat_arguments.hpp>
#include <areal/sat_table.hpp>
#include <areal/type_pair.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace areal {

/// The type of a table of squares.
enum class Squares : std::uint8_t {
  no,         ///< no such table
  automatic,  ///< u64 for integers of 8 and 16 bits, exact for regions of up to 2^32 pixels; else f64
  u32,        ///< modulo 2^32: exact for regions of up to 66,051 pixels of 8u
  u64,        ///< integer pixels, modulo 2^64
  f64,        ///< any pixels, rounded
  f32         ///< pixels of 8u, 8s, 16f and 32f, rounded: a region's error grows with what lies above and left of it
};

/// What to compute. The defaults: the sum, border `zero`, the best algorithm for the shape, the types and the machine.
struct SatOptions {
  Border border = Border::zero;
  /// The types of pixels and sums. None: `default_types`, which counts the depth of a volume.
  std::optional<TypePair> types = {};
  std::string algorithm = "auto";  ///< an id of the catalogue's family `sat`: that one runs, or the plan is refused
  /// Also the table of squares, in the same pass over the image. On a GPU `lookback` alone makes both.
  Squares squares = Squares::no;
  bool tilted = false;      ///< also the 45 degree table, (H+1)x(W+1), equal to OpenCV's definition
  bool mask = false;        ///< a mask (8u, 0 means leave out) comes with the image; also the table of counts (32u)
  bool ignore_nan = false;  ///< as a mask that leaves out NaN (float input); also the table of counts
  bool volume = false;      ///< the batch is the depth of one volume, and is summed along, too
  /// An entry sums what lies right of it and below, in a volume also behind it: the table of the image turned by half a
  /// turn, turned back. The border is mirrored with it: with `zero` the last row and column are zeros. Ours alone, and
  /// no tilted table.
  bool reverse = false;
  /// Executes will be given carries: the plan leaves out algorithms that take none, and their workspace. Without it
  /// `auto` takes carries, too.
  bool carries = false;
  Layout tables = Layout::planar;  ///< for several channels: separate tables, or one interleaved table
  Progress progress = {};          ///< may cancel; the CPU's: on cuda and simt it is not called
};

/// Everything decided before the data is there. See Plan and Workspace.
class SatPlan : public Plan {
 public:
  /// A plan for images of that shape and element type. Backend::automatic is cuda where the Execution names a CUDA
  /// stream; else the backend that is expected to end sooner with images and tables in host memory, copies counted.
  /// `reason` says which, and why.
  /// Throws InvalidArgument for what cannot be (a shape, types, options, a stream of another backend), Unavailable for
  /// a backend, device or algorithm that this build or machine lacks.
  SatPlan(const Shape& image, Type input, const SatOptions& options = {}, const Execution& execution = {});

  /// Tables for one execute, not initialised, where the plan runs or in the memory that is named.
  /// Throws OutOfMemory with the bytes.
  SatTable allocate(std::optional<MemoryPlace> memory = {}) const;
  /// Computes all the tables of `into`, which this plan or one of equal options allocated. O(H W) a channel and image.
  /// On CUDA the work is queued on the workspace's stream; the workspace says when it has been done.
  /// A plan on the CPU or on simt takes host memory; a plan on CUDA its device's and, with an owned workspace, host
  /// memory, too. In place (`sum.data == image.data`) where input and table type have the same size and the border is
  /// `none`.
  /// Throws InvalidArgument for views of another shape, type or memory, for views that share memory otherwise, and for
  /// a workspace of another plan; Cancelled; DeviceError where a launch is refused.
  void execute(const ConstView& image, SatTable& into, Workspace& workspace, const ConstView& mask = {}) const;
  /// The same with views of your own.
  void execute(const SatArguments& arguments, Workspace& workspace) const;
  /// Throws InvalidArgument where an execute with an owned workspace would refuse these views.
  void check(const SatArguments& arguments) const;

  const Shape& image_shape() const noexcept;
  Shape table_shape() const noexcept;  ///< of the sum and of the squares
  Shape count_shape() const noexcept;  ///< of the table of counts (one channel)
  Shape tilted_shape() const noexcept;
  TypePair types() const noexcept;
  std::optional<Type> squares_type() const noexcept;  ///< none where there is no such table
  const SatOptions& options() const noexcept;         ///< with the types that were chosen
  std::uint64_t table_bytes() const;                  ///< of all the tables asked for, contiguous

  struct State;  // of the library
  explicit SatPlan(std::shared_ptr<const State> state) noexcept;

 private:
  const State& state() const noexcept;
};

/// One line: plan, workspace, execute. O(H W) a channel and image. The table lies where the image does. An image in
/// device memory is worked on there: its device is taken for Backend::automatic. The table is complete on return; a
/// plan queues. `mask`, in the same memory: pixels where it is 0 are left out; see SatOptions::mask. Throws what
/// SatPlan and its execute throw, OutOfMemory with the bytes.
SatTable sat(const ConstView& image, const SatOptions& options = {}, const Execution& execution = {},
             const ConstView& mask = {});

}  // namespace areal
