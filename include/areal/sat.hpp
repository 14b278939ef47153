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
  f32         ///< any pixels, rounded: a region's error grows with the sums above and left of it
};

/// What to compute. The defaults: the sum, border `zero`, the best algorithm for the shape, the types and the machine.
struct SatOptions {
  Border border = Border::zero;
  /// The types of pixels and sums. None: `default_types`, which includes the depth of a volume.
  std::optional<TypePair> types = {};
  std::string algorithm = "auto";  ///< an id of the catalogue's family `sat`: it runs, or the plan is refused
  /// Also the table of squares, in the same pass over the image. On a GPU `lookback` alone makes both.
  Squares squares = Squares::no;
  bool tilted = false;      ///< also the 45 degree table, (H+1)x(W+1), equal to OpenCV's definition
  bool mask = false;        ///< the execute gets a mask (8u, 0: ignore the pixel); also the table of counts (32u)
  bool ignore_nan = false;  ///< ignore NaN as a mask would (float input); also the table of counts
  bool volume = false;      ///< the batch is the depth of one volume, and is summed along too
  /// An entry sums the pixels right of and below it, in a volume also behind it: the table of the image rotated by 180
  /// degrees, rotated back. The border is mirrored too: with `zero` the last row and column are zeros. Not in papers'
  /// algorithms, and no tilted table.
  bool reverse = false;
  /// Executes get carries: the plan excludes algorithms without carries. Without this flag `auto` supports carries as
  /// well.
  bool carries = false;
  Layout tables = Layout::planar;  ///< for several channels: separate tables, or one interleaved table
  Progress progress = {};          ///< may cancel. CPU only: cuda and simt do not call it
};

/// Fixes shapes, types and algorithm in advance. See Plan and Workspace.
class SatPlan : public Plan {
 public:
  /// A plan for images of that shape and element type. Backend::automatic is cuda if the Execution names a CUDA stream;
  /// else the backend expected to finish first with images and tables in host memory, copies included. `reason` says
  /// which, and why.
  /// Throws InvalidArgument for an invalid shape, type or option, or a stream of another backend; Unavailable for a
  /// backend, device or algorithm that this build or machine lacks.
  SatPlan(const Shape& image, Type input, const SatOptions& options = {}, const Execution& execution = {});

  /// Uninitialised tables for one execute, in the plan's memory or the one named.
  /// Throws OutOfMemory with the bytes.
  SatTable allocate(std::optional<MemoryPlace> memory = {}) const;
  /// Computes all the tables of `into`, which this plan or one with equal options allocated. O(H W) a channel and
  /// image. On CUDA the work is queued on the workspace's stream; Workspace says when it is complete. A plan on the CPU
  /// or on simt accepts host memory; a plan on CUDA its device's and, with an owned workspace, host memory too. May run
  /// in place (`sum.data == image.data`) if input and table type have the same size and the border is `none`.
  /// Throws InvalidArgument for views of another shape, type or memory, for views that share memory otherwise, and for
  /// a workspace of another plan; Cancelled; DeviceError if a launch is refused.
  void execute(const ConstView& image, SatTable& into, Workspace& workspace, const ConstView& mask = {}) const;
  /// The same with views that you supply.
  void execute(const SatArguments& arguments, Workspace& workspace) const;
  /// Throws InvalidArgument if an execute with an owned workspace would refuse these views.
  void check(const SatArguments& arguments) const;

  const Shape& image_shape() const noexcept;
  Shape table_shape() const noexcept;  ///< of the sum and of the squares
  Shape count_shape() const noexcept;  ///< of the table of counts (one channel)
  Shape tilted_shape() const noexcept;
  TypePair types() const noexcept;
  std::optional<Type> squares_type() const noexcept;  ///< none where there is no such table
  const SatOptions& options() const noexcept;         ///< with the chosen types
  std::uint64_t table_bytes() const;                  ///< of all requested tables, contiguous

  struct State;  // of the library
  explicit SatPlan(std::shared_ptr<const State> state) noexcept;

 private:
  const State& state() const noexcept;
};

/// Plan, workspace and execute in one line. O(H W) a channel and image. The table lies in the image's memory and is
/// complete on return. For an image in device memory Backend::automatic is its device. `mask`, in the same memory:
/// pixels where it is 0 are ignored; see SatOptions::mask.
/// Throws what SatPlan and its execute throw, OutOfMemory with the bytes.
SatTable sat(const ConstView& image, const SatOptions& options = {}, const Execution& execution = {},
             const ConstView& mask = {});

}  // namespace areal
