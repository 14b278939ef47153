#pragma once
/// \file tiled.hpp Tensors and tables larger than device memory, part by part, on several workers: histograms of
/// regions, the tensor itself in pieces, and tables tile by tile.

#include <areal/binning.hpp>
#include <areal/histogram.hpp>
#include <areal/pieces.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <memory>
#include <optional>

namespace areal {

/// How an image is cut: the image into tiles, the bins into groups. The last tile and group may be smaller.
struct TiledGrid {
  std::int64_t rows = 1, columns = 1;            ///< of tiles
  std::int64_t tile_width = 0, tile_height = 0;  ///< pixels
  std::int64_t groups = 1, bins = 0;             ///< groups, and the bins of each
  std::int64_t parts() const noexcept { return rows * columns * groups; }
};

/// The integral histogram of one image, part by part: a part is a tile of the image and a group of bins. Integers are
/// exact for every cut, on all workers. PieceOptions::memory is for a worker's tiles, their tensor and workspace; 0: of
/// a CUDA device nine tenths of the free memory; of the CPU 1 GiB for `pieces`. For `answers` the CPU keeps no tensor,
/// and takes 64 MiB.
class TiledHistogram {
 public:
  /// Images of that shape (batch 1; as many channels as the binning reads) and type. The options are those of `pieces`,
  /// as for StripHistogram; pieces are of a tensor with their border. Throws InvalidArgument for invalid options,
  /// Unavailable for a missing worker, OutOfMemory if one column of one row fits no device.
  TiledHistogram(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options = {},
                 const PieceOptions& tiles = {}, Type weights = Type::f32);
  ~TiledHistogram();
  TiledHistogram(TiledHistogram&&) noexcept;
  TiledHistogram& operator=(TiledHistogram&&) noexcept;

  /// Counts of N regions, N x bins row by row, in host memory. Only counts leave a device. O(b H W), and O(bins) for
  /// each region and tile that it touches.
  /// Throws InvalidArgument for a region outside, for mismatched sizes and for blocks of another shape; Cancelled; what
  /// `read` throws; a worker's second exception for the same part; DeviceError if no worker is left.
  void answers(const ImageReader& read, Span<const Region> regions, Span<std::uint64_t> counts) const;
  /// Passes every entry of the whole tensor to `sink` once, piece by piece in any order and by any thread, as sums of
  /// the whole image. `read_weights` (one channel) is for HistogramOptions::weighted. A CUDA device's pieces lie in
  /// page-locked memory that this call and the next reuse. O(b H W).
  /// Throws as `answers`, what `read_weights` and `sink` throw, and OutOfMemory if one column of one row fits no
  /// device.
  void pieces(const ImageReader& read, const PieceSink& sink, const ImageReader& read_weights = {}) const;

  const TiledGrid& grid() const noexcept;  ///< of `answers`
  /// The grid of `pieces`: groups of bins if the image and the tensor of one bin fit a worker, so that workers are
  /// independent; otherwise tiles, which continue their neighbours' sums. Throws OutOfMemory as `pieces`.
  TiledGrid piece_grid() const;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// The tables of one image, from the tables of its tiles, each of which continues the sums of its neighbours above and
/// to the left, or of a reversed table below and to the right. Tiles are read ahead, one more than the workers compute
/// at once. Integers equal the untiled table bit for bit. Floats have the same bits for one grid; their workers must be
/// of one backend. PieceOptions::memory is for a worker's tiles, their tables and workspace; 0: of a CUDA device nine
/// tenths of the free memory. The CPU never takes more than 64 MiB.
class TiledSat {
 public:
  /// Images of that shape (batch 1) and type. `options` as for a SatPlan, but no tilted tables, volumes, papers'
  /// algorithms or progress (PieceOptions has that).
  /// Throws InvalidArgument for invalid options, Unavailable for a missing worker, OutOfMemory if one pixel fits no
  /// device.
  TiledSat(const Shape& image, Type type, const SatOptions& options = {}, const PieceOptions& tiles = {});
  ~TiledSat();
  TiledSat(TiledSat&&) noexcept;
  TiledSat& operator=(TiledSat&&) noexcept;

  /// Passes every entry to `sink` once, in any order and by any thread. `read_mask` (8u, one channel) is for
  /// SatOptions::mask. O(H W).
  /// Throws what `read`, `read_mask` and `sink` throw, InvalidArgument for blocks of another shape; Cancelled, also by
  /// a CancelScope; a worker's second exception for the same tile; DeviceError if no worker is left.
  void pieces(const ImageReader& read, const PieceSink& sink, const ImageReader& read_mask = {}) const;
  /// The same into host memory or a mapped file: views of table_shape and count_shape, of any pitch.
  void table(const ImageReader& read, const View& sum, const View& squares = {}, const View& count = {},
             const ImageReader& read_mask = {}) const;

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
