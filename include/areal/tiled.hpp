#pragma once
/// \file tiled.hpp Tensors and tables larger than device memory, part by part, on several workers: histograms of
/// regions, the tensor itself in pieces, and tables tile by tile.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/sequence.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace areal {

/// Returns rows [first, first + count) of an image, of full width, in host memory that stays valid until the next call.
/// Called by one thread at a time.
using ImageRows = std::function<ConstView(std::int64_t first, std::int64_t count)>;

struct TiledOptions {
  std::vector<Worker> workers = {};  ///< empty: one, all threads of the CPU
  /// Bytes of device memory that a worker may use for a part of the image, its tensor and its workspace; 0: nine tenths
  /// of the free memory. For pieces, a worker on the CPU may use as many host bytes; 0: 1 GiB.
  std::uint64_t device_bytes = 0;
  Outside outside = Outside::error;  ///< for regions that reach outside the image
  /// Called with one sentence for the user when a worker is lost. Called from any thread, one at a time.
  std::function<void(const std::string& sentence)> note = {};
  // The rest is for TiledHistogram only, except `piece_bytes`; a SatPlan's options have their own.
  Progress progress = {};  ///< reports each part done; may cancel
  /// Of pieces: 32u or 64u; 16u (modulo 2^16) on cuda and simt; 32f or 64f with weights.
  Type counter = Type::u32;
  /// The most bytes of one piece, the size of the page-locked buffers, three a lane; a piece has at least one row of
  /// one bin.
  std::uint64_t piece_bytes = std::uint64_t{32} << 20;
  /// The grid, fixed by hand: the size of tiles in pixels, the bins of a group. If one is given, 0 means the whole
  /// extent; if none is, it is chosen from the memory.
  std::int64_t tile_width = 0, tile_height = 0, group_bins = 0;
  Border border = Border::none;      ///< of pieces
  std::optional<Type> weights = {};  ///< of pieces: a weight image of that type (8u, 16u, 32f or 64f) comes with them
  std::string algorithm = "auto";    ///< of pieces: an id of the catalogue's family `histogram` that takes carries
};

/// How a tensor is cut: the image into tiles, the bins into groups. The last tile and group may be smaller.
struct TiledGrid {
  std::int64_t rows = 1, columns = 1;            ///< of tiles
  std::int64_t tile_width = 0, tile_height = 0;  ///< pixels
  std::int64_t groups = 1, bins = 0;             ///< groups, and the bins of each
  std::int64_t parts() const noexcept { return rows * columns * groups; }
};

/// A box of the whole tensor: entries of bins first_bin.. and from (x, y) on, in host memory. Valid during the call.
struct TensorPiece {
  std::int64_t first_bin = 0, x = 0, y = 0;
  TensorView tensor;  ///< border none, whatever the whole tensor's; its bins, width and height are the piece's
  int worker = 0;     ///< index of the worker that computed it
};
/// Called by one thread at a time. Returning false ends the call.
using TensorSink = std::function<bool(const TensorPiece&)>;

/// The integral histogram of one image, part by part: a part is a tile of the image and a group of bins. Integers are
/// exact for every cut, on all workers.
class TiledHistogram {
 public:
  /// Images of that shape (batch 1; as many channels as the binning reads) and type. Throws InvalidArgument for invalid
  /// options, Unavailable for a missing worker, OutOfMemory if one column of one row fits no device.
  TiledHistogram(const Shape& image, Type type, const Binning& binning, TiledOptions options = {});
  ~TiledHistogram();
  TiledHistogram(TiledHistogram&&) noexcept;
  TiledHistogram& operator=(TiledHistogram&&) noexcept;

  /// Counts of N regions, N x bins row by row, in host memory. Only counts leave a device. O(b H W), and O(bins) for
  /// each region and tile that it touches.
  /// Throws InvalidArgument for a region outside, for mismatched sizes and for rows of another shape; Cancelled; what
  /// `rows` throws; a worker's second exception for the same part; DeviceError if no worker is left.
  void answers(const ImageRows& rows, Span<const Region> regions, Span<std::uint64_t> counts) const;
  /// Passes every entry of the whole tensor to `sink` once, piece by piece in any order, as sums of the whole image.
  /// `weights` (one channel) reads the weights if TiledOptions::weights has their type. A CUDA device's pieces lie in
  /// page-locked memory that this call and the next reuse. O(b H W).
  /// Throws as `answers`, what `weights` and `sink` throw, and OutOfMemory if one column of one row fits no device.
  void pieces(const ImageRows& rows, const TensorSink& sink, const ImageRows& weights = {}) const;

  const TiledGrid& grid() const noexcept;  ///< of `answers`
  /// The grid of `pieces`: groups of bins if the image and the tensor of one bin fit a worker, so that workers are
  /// independent; otherwise tiles, which continue their neighbours' sums. Throws OutOfMemory as `pieces`.
  TiledGrid piece_grid() const;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// A part of one image's tables, valid during the call.
struct SatPiece {
  std::int64_t x = 0, y = 0;  ///< position of its first entry in the whole table
  ConstView sum;              ///< in host memory, page-locked where a CUDA device computed it
  ConstView squares = {};     ///< the same entries; empty if not requested
  ConstView count = {};       ///< valid pixels of the same entries; empty without mask and ignore_nan
};
/// Called with one piece at a time, by any thread, in any order. Returning false ends the call.
using SatSink = std::function<bool(const SatPiece&)>;

/// The tables of one image, from the tables of its tiles, each of which continues the sums of its neighbours above and
/// to the left, or of a reversed table below and to the right. Rows are read ahead, into one tile more than the workers
/// compute at once. Integers equal the untiled table bit for bit. Floats have the same bits for one grid; their workers
/// must be of one backend.
class TiledSat {
 public:
  /// Images of that shape (batch 1) and type. `options` as for a SatPlan, but no tilted tables, volumes or papers'
  /// algorithms; its progress counts tiles.
  /// Throws InvalidArgument for invalid options, Unavailable for a missing worker, OutOfMemory if one pixel fits no
  /// device.
  TiledSat(const Shape& image, Type type, const SatOptions& options = {}, TiledOptions tiled = {});
  ~TiledSat();
  TiledSat(TiledSat&&) noexcept;
  TiledSat& operator=(TiledSat&&) noexcept;

  /// Passes every entry to `sink` once. `mask` reads the mask (8u, one channel) if SatOptions::mask is set. O(H W).
  /// Throws what `rows`, `mask` and `sink` throw, InvalidArgument for rows of another shape; Cancelled, also by a
  /// CancelScope; a worker's second exception for the same tile; DeviceError if no worker is left.
  void pieces(const ImageRows& rows, const SatSink& sink, const ImageRows& mask = {}) const;
  /// The same into host memory or a mapped file: views of table_shape and count_shape, of any pitch.
  void table(const ImageRows& rows, const View& sum, const View& squares = {}, const View& count = {},
             const ImageRows& mask = {}) const;

  /// With border `exclusive`, of the image without its last row and column; of a reversed table without the first.
  const TiledGrid& grid() const noexcept;
  Shape table_shape() const noexcept;  ///< of the sum and of the squares
  Shape count_shape() const noexcept;
  TypePair types() const noexcept;
  std::optional<Type> squares_type() const noexcept;  ///< none where there is no such table

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace areal
