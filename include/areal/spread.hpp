#pragma once
/// \file spread.hpp One table of one image over several devices, each with some of the rows in its own memory.

#include <areal/array.hpp>
#include <areal/execution.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/sequence.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace areal {

/// How a table is spread. The cut (rows, bands and parts) affects the bits of floats, not of integers.
struct SpreadOptions {
  /// One for each strip, from the top down: CUDA devices, or the CPU several times, each time with its own threads. A
  /// device may be named more than once. Empty: all CUDA devices, or the CPU if there is none.
  std::vector<Worker> devices = {};
  std::vector<std::int64_t> rows = {};  ///< of the image, for each device, 0 allowed; empty: as even as possible
  /// Columns of each band but the last; a device passes its last row to the next device band by band. A device starts
  /// after the first band of the one above: few bands make it wait, many make short launches. 0: a choice for large
  /// images.
  std::int64_t band_width = 0;
  /// Parts of a strip, one below the other, each on its own stream, so that the end of one launch overlaps the next. 0:
  /// a choice for large images. On the CPU parts run one after the other.
  int parts = 0;
};

/// The rows of one device.
struct SpreadStrip {
  Worker worker;
  MemoryPlace memory;          ///< of its pixels and its part of the table
  std::int64_t first = 0;      ///< row of the image
  Shape pixels, table;         ///< full-width rows
  std::int64_t table_row = 0;  ///< its first row of the whole table
  /// The row above is read directly from the memory of the device above. False for the first strip, and for two CUDA
  /// devices without access to each other: CUDA then copies it through the host.
  bool direct = false;
};

/// Which of the tables that the options request.
enum class SpreadTable : std::uint8_t { sum, squares, count };

/// The tables of an image whose rows are spread over devices. Each pixel is read once and each entry written once;
/// devices exchange one row of each table, band by band, while they compute the next bands.
///
/// Integers have the bits of areal::sat. Floats have the same bits in every run and on all devices of one backend, for
/// the same cut; another cut rounds differently.
///
/// For one execute at a time.
class SpreadSat {
 public:
  /// Images of that shape (batch 1) and type. `options` as for a SatPlan, but no tilted tables, volumes, reverse,
  /// progress or papers' algorithms. Throws InvalidArgument for invalid options, Unavailable for a missing device,
  /// OutOfMemory, naming the device, with the bytes.
  SpreadSat(const Shape& image, Type type, const SatOptions& options = {}, const SpreadOptions& spread = {});
  ~SpreadSat();
  SpreadSat(SpreadSat&&) noexcept;
  SpreadSat& operator=(SpreadSat&&) noexcept;

  /// The rows of each device. With border `zero` the first strip's table has the row of zeros too; every row of the
  /// table is in one strip.
  const std::vector<SpreadStrip>& strips() const noexcept;
  /// Uninitialised memory for each strip's part of a table. Throws InvalidArgument for a table that the options do not
  /// request, OutOfMemory, naming the device, with the bytes.
  std::vector<DeviceArray> allocate(SpreadTable which = SpreadTable::sum) const;

  /// Computes the tables from each strip's pixels and mask into each strip's tables, of any pitch and alignment; sums
  /// may be in place with border `none` and types of one size. Squares have the sum's shape, counts one channel.
  /// O(H W). Without streams the work follows each device's legacy default stream and is complete on return. With one
  /// stream for each strip the work is queued on it, and later work on a stream begins when its strip is complete and
  /// no other strip needs it; host threads do not wait for devices. Cannot be captured in a CUDA graph.
  /// Throws InvalidArgument for views of another shape, type or memory, and for tables that share memory; DeviceError,
  /// naming the device. No work is running after an exception.
  void execute(Span<const SatArguments> strips, Span<const Stream> streams = {});
  /// The same for options that request sums only.
  void execute(Span<const ConstView> pixels, Span<const View> tables, Span<const Stream> streams = {});

  /// \name Sums of N regions of the image, N x channels, with the bits of areal::region_sums, in host memory. Each
  /// device looks up the corners in its rows of sums. The table must be complete. Throw InvalidArgument as
  /// areal::region_sums.
  /// @{
  void region_sums(Span<const ConstView> tables, Span<const Region> regions, Span<double> out) const;
  void region_sums(Span<const ConstView> tables, Span<const Region> regions, Span<std::uint64_t> out) const;
  void region_sums(Span<const ConstView> tables, Span<const Region> regions, Span<std::int64_t> out) const;
  template <SumType T = double>
  std::vector<T> region_sums(Span<const ConstView> tables, Span<const Region> regions) const {
    std::vector<T> out(regions.size() * static_cast<std::size_t>(table_shape().channels));
    region_sums(tables, regions, Span<T>(out));
    return out;
  }
  ///@}

  Shape table_shape() const noexcept;  ///< of the whole sum and its squares
  Shape count_shape() const noexcept;  ///< of the whole table of counts
  TypePair types() const noexcept;
  std::optional<Type> squares_type() const noexcept;  ///< none where there is no such table
  std::int64_t bands() const noexcept;
  std::int64_t band_width() const noexcept;  ///< of all bands but the last
  int parts() const noexcept;                ///< of a strip, at most

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

}  // namespace areal
