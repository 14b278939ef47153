#pragma once
/// \file spread.hpp One table of one image over several devices: each has some of the rows, in its own memory.

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

/// How a table is spread. Floats depend on the cut (rows, bands and parts), integers on nothing.
struct SpreadOptions {
  /// One for each strip, from the top down: CUDA devices, or the CPU several times, each time with threads of its own.
  /// A device may be named more than once. Empty: all CUDA devices, or the CPU where there is none.
  std::vector<Worker> devices = {};
  std::vector<std::int64_t> rows = {};  ///< of the image, for each device, 0 allowed; empty: as even as they can be
  /// Columns that a device hands to the next at once, but for the last. A device begins when the one above has done its
  /// first band: few bands make it wait, many make short launches. 0: a choice for large images.
  std::int64_t band_width = 0;
  /// Parts of a strip, one below the other, on a stream each, so that the end of one launch overlaps the next. 0: a
  /// choice for large images. On the CPU parts follow each other.
  int parts = 0;
};

/// The rows of one device.
struct SpreadStrip {
  Worker worker;
  MemoryPlace memory;          ///< where its pixels and its part of the table lie
  std::int64_t first = 0;      ///< row of the image
  Shape pixels, table;         ///< full-width rows
  std::int64_t table_row = 0;  ///< its first row of the whole table
  /// The row above comes straight from the memory of the device above. False for the first, and where two CUDA devices
  /// have no access to each other: CUDA then passes it through the host.
  bool direct = false;
};

/// Which of the tables that the options ask for.
enum class SpreadTable : std::uint8_t { sum, squares, count };

/// The tables of an image whose rows are spread over devices. Each pixel is read once and each entry written once; what
/// devices hand to each other is one row of each table, band by band, while they compute the next bands.
///
/// Integers have the bits of areal::sat. Floats have the same bits from run to run and on whichever devices of one
/// backend, for the same cut; another cut rounds differently.
///
/// For one execute at a time.
class SpreadSat {
 public:
  /// Images of that shape (one, of any channels) and type. `options` as a SatPlan takes them, without tilted table,
  /// volume, reverse, progress, and a paper's algorithm. Throws InvalidArgument for what cannot be, Unavailable for a
  /// device that is not there, OutOfMemory, naming the device, with the bytes.
  SpreadSat(const Shape& image, Type type, const SatOptions& options = {}, const SpreadOptions& spread = {});
  ~SpreadSat();
  SpreadSat(SpreadSat&&) noexcept;
  SpreadSat& operator=(SpreadSat&&) noexcept;

  /// Which rows are where. With border `zero` the first strip's table has the row of zeros, too; every row of the table
  /// is in one strip.
  const std::vector<SpreadStrip>& strips() const noexcept;
  /// Memory for each strip's part of a table, not initialised. Throws InvalidArgument for a table without an option,
  /// OutOfMemory, naming the device, with the bytes.
  std::vector<DeviceArray> allocate(SpreadTable which = SpreadTable::sum) const;

  /// The tables, from pixels, masks and into tables of each strip, of any pitch and alignment; with border `none` and
  /// types of one size sums may be in place. Squares have the sum's shape, counts one channel. O(H W). Without streams
  /// it follows what the legacy default stream of each device has queued, and is complete on return. With one stream
  /// for each strip the work is queued behind what is there, and what is queued there later begins when that strip is
  /// done and no other needs it; host threads wait for no device. Not for capture in a CUDA graph. Throws
  /// InvalidArgument for views of another shape, type or memory, and for tables that share memory; DeviceError, naming
  /// the device. Whatever it throws, nothing is left at work.
  void execute(Span<const SatArguments> strips, Span<const Stream> streams = {});
  /// The same for options that ask for sums alone.
  void execute(Span<const ConstView> pixels, Span<const View> tables, Span<const Stream> streams = {});

  /// \name Sums of N regions of the image, N x channels, with the bits of areal::region_sums: host memory. Each device
  /// looks up the corners in its rows of sums. The table is complete. Throw InvalidArgument as areal::region_sums.
  ///@{
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
