#pragma once
/// \file tiled.hpp Histograms of regions of an image whose tensor fits no device, and tables that fit none: tile by
/// tile, on several workers.

#include <areal/binning.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/sequence.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace areal {

/// Rows [first, first + count) of an image, whole, in host memory; they must stay until the next call. Called by one
/// thread at a time.
using ImageRows = std::function<ConstView(std::int64_t first, std::int64_t count)>;

struct TiledOptions {
  std::vector<Worker> workers = {};  ///< empty: one, all threads of the CPU
  /// That a worker takes of its device's memory for a tile, its tensor and its workspace; 0: nine tenths of what is
  /// free.
  std::uint64_t device_bytes = 0;
  Outside outside = Outside::error;  ///< for regions that reach outside the image
  /// One sentence that a user should read: a worker was lost. Called from any thread, one at a time.
  std::function<void(const std::string& sentence)> note = {};
};

/// How an image is cut. Rows first, columns where one row of all bins does not fit.
struct TiledGrid {
  std::int64_t rows = 1, columns = 1;            ///< of tiles
  std::int64_t tile_width = 0, tile_height = 0;  ///< pixels, of all but the last
};

/// Histograms of regions of one image, from the tensors of its tiles. Only counts leave a device. Counts are exact,
/// whoever works and however the image is cut.
class TiledHistogram {
 public:
  /// Images of that shape (batch 1; as many channels as the binning reads) and type. Throws InvalidArgument for what
  /// cannot be, Unavailable for a worker that is not there, OutOfMemory where one column of one row fits no device.
  TiledHistogram(const Shape& image, Type type, const Binning& binning, TiledOptions options = {});
  ~TiledHistogram();
  TiledHistogram(TiledHistogram&&) noexcept;
  TiledHistogram& operator=(TiledHistogram&&) noexcept;

  /// Counts of N regions, N x bins row by row, all of it host memory. O(b H W), and O(bins) for each region and tile
  /// that it touches. Throws InvalidArgument for a region outside, for sizes that do not belong together and for rows
  /// of another shape; what `rows` throws; what a worker throws twice for one tile; DeviceError where no worker is
  /// left.
  void answers(const ImageRows& rows, Span<const Region> regions, Span<std::uint64_t> counts) const;

  const TiledGrid& grid() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A part of one image's tables, valid during the call.
struct SatPiece {
  std::int64_t x = 0, y = 0;  ///< of its first entry, in the whole table
  ConstView sum;              ///< in host memory, page-locked where a CUDA device computed it
  ConstView squares = {};     ///< of the same entries; empty where they were not asked for
};
/// Called with one piece at a time, by any thread, in any order; false stops.
using SatSink = std::function<bool(const SatPiece&)>;

/// The tables of one image, from the tables of its tiles, each of which takes over what its neighbours above and to the
/// left hand on. Integers equal the untiled table bit for bit. Floats are the same for one grid on workers of one
/// backend, of which there may not be two then.
class TiledSat {
 public:
  /// Images of that shape (one, of one channel) and type. `options` as a SatPlan takes them, but for tilted tables,
  /// masks, ignore_nan and volumes, and the papers' algorithms; its progress counts tiles. Throws InvalidArgument for
  /// what cannot be, Unavailable for a worker that is not there, OutOfMemory where one pixel fits no device.
  TiledSat(const Shape& image, Type type, const SatOptions& options = {}, TiledOptions tiled = {});
  ~TiledSat();
  TiledSat(TiledSat&&) noexcept;
  TiledSat& operator=(TiledSat&&) noexcept;

  /// Every entry once. O(H W). Throws what `rows` and `sink` throw, InvalidArgument for rows of another shape;
  /// Cancelled; what a worker throws twice for one tile; DeviceError where no worker is left.
  void pieces(const ImageRows& rows, const SatSink& sink) const;
  /// The same into memory of the host, or a mapped file: views of table_shape, of any pitch.
  void table(const ImageRows& rows, const View& sum, const View& squares = {}) const;

  const TiledGrid& grid() const noexcept;  ///< with border `exclusive`, of the image without its last row and column
  Shape table_shape() const noexcept;
  TypePair types() const noexcept;
  std::optional<Type> squares_type() const noexcept;  ///< none where there is no such table

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace areal
