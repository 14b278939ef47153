#pragma once
/// \file strips.hpp Tables, tensors, windows and answers about regions of an image of any height, in strips of rows.
/// One row of the table (one row a bin of a tensor) is kept between strips, and for windows the rows that the windows
/// of both strips contain.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/filter.hpp>
#include <areal/histogram.hpp>
#include <areal/pieces.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <areal/window.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace areal {

/// The tables of one image, strip by strip. Integers equal the table of the whole image bit for bit, modulo 2^k. Floats
/// have the same bits for one strip height, options and backend, read or pushed: a strip's sums are added to the carry
/// row.
///
/// Memory. A strip of h rows of a W x H image takes, with p bytes in a row of pixels (and of mask or weights) and t
/// bytes in a row of all tables or bins, W + 1 entries each,
///     2 h p + 2 (h + 1) t + t + workspace(h) + pushed_height p
/// bytes: two input buffers, two output buffers, the carry row, the plan's workspace and, if tiles are pushed, a row of
/// them. A strip has the most rows for which this is at most PieceOptions::memory; if that is 0: 16 MiB, on CUDA 64, of
/// tensors 256, or the bytes of 8 rows if that is more; on the host at most a sixteenth of the rows, or 64. On CUDA the
/// device has all of it but the last term, and the host, page-locked, all but carry and workspace; each is at most
/// `memory`.
///
/// For one image at a time, from one thread.
class StripSat {
 public:
  /// Images of that shape (batch 1) and type. `options` as for a SatPlan, with the whole image's default types; but no
  /// tilted table, volume, reverse or progress (PieceOptions has that), and no paper's algorithm.
  /// Throws InvalidArgument for invalid options, Unavailable for a missing backend, OutOfMemory, with the bytes, if one
  /// row needs more than `strips.memory`.
  StripSat(const Shape& image, Type type, const SatOptions& options = {}, const PieceOptions& strips = {});
  ~StripSat();
  StripSat(StripSat&&) noexcept;
  StripSat& operator=(StripSat&&) noexcept;

  /// Reads the image once from the top down, in blocks of full width, and passes its tables to the sink. Input,
  /// computation and output overlap: one thread calls `read` and `read_mask` (8u, one channel, with SatOptions::mask),
  /// another one the sink, the caller's progress. O(H W).
  /// Throws what `read` and `sink` throw; Cancelled; OutOfMemory; DeviceError.
  void run(const ImageReader& read, const PieceSink& sink, const ImageReader& read_mask = {});

  /// \name The same for an image that is pushed. After `begin`, blocks are pushed; `push` and `finish` call the sink. A
  /// block is a strip (full width, any height, at the next row), or a tile of PieceOptions' grid: a row's tiles in any
  /// order, rows of tiles from the top down. Blocks are host memory, which may be reused when the call returns.
  /// @{
  void begin(PieceSink sink);
  /// Returns false, ignoring the block, if the sink has ended the run. Throws InvalidArgument for a block that is
  /// repeated, out of place, or of another size or type, or if one before it is missing; the run then continues with
  /// the right block.
  /// Throws what `sink` throws, Cancelled and DeviceError, which end the run.
  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& mask = {});
  /// Outputs the remaining rows. Throws InvalidArgument if rows or tiles are missing, and as `push`.
  void finish();
  ///@}

  std::int64_t strip_height() const noexcept;   ///< rows, but for the last strip
  std::uint64_t memory_bytes() const noexcept;  ///< the value of the formula; on CUDA for the device
  Backend backend() const noexcept;
  Shape table_shape() const noexcept;  ///< of the sum and of the squares
  Shape count_shape() const noexcept;
  TypePair types() const noexcept;
  std::optional<Type> squares_type() const noexcept;  ///< none where there is no such table

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// The integral histogram of one image, strip by strip. If `memory` does not hold 16 rows (or the whole image, or
/// PieceOptions::height) of all bins, bins are processed in groups, and the image is read once for each. Counts equal
/// the whole tensor's bit for bit.
class StripHistogram {
 public:
  /// Options as for HistogramPlan; `options.memory_limit` and `options.progress` are not used. The progress of `strips`
  /// counts the rows of all groups. `weights` is the type of weights (8u, 16u, 32f or 64f). Throws as StripSat.
  StripHistogram(const Shape& image, Type type, const Binning& binning, const HistogramOptions& options = {},
                 const PieceOptions& strips = {}, Type weights = Type::f32);
  ~StripHistogram();
  StripHistogram(StripHistogram&&) noexcept;
  StripHistogram& operator=(StripHistogram&&) noexcept;

  /// As StripSat::run, but reads the whole image (and `read_weights`, with HistogramOptions::weighted) groups() times.
  /// O(b H W).
  void run(const ImageReader& read, const PieceSink& sink, const ImageReader& read_weights = {}) const;

  /// \name The same for an image that is pushed: as StripSat's, but the image is pushed groups() times, once for each
  /// group of bins.
  /// @{
  void begin(PieceSink sink);
  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& weights = {});
  /// Outputs the remaining rows. Returns true if the image must be pushed again, from its top, for the next group of
  /// bins; false after the last group, or if the sink has ended the run. Throws as StripSat's, and OutOfMemory if the
  /// next group's memory is not available; begin then starts another run.
  bool finish();
  ///@}

  std::int64_t groups() const noexcept;      ///< how often the image is read
  std::int64_t group_bins() const noexcept;  ///< bins of a group, but for the last
  std::int64_t strip_height() const noexcept;
  std::uint64_t memory_bytes() const noexcept;
  Backend backend() const noexcept;
  Shape tensor_shape() const noexcept;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// What to compute about regions.
struct StripSumsOptions {
  bool squares = false;  ///< sums of squares, too: for variances
};

/// Sums of regions of an image that is read or pushed strip by strip; no table is kept or output. A region has two
/// events, at its first row and after its last: sorted once, they are processed as the rows arrive. O(H W + N log N).
///
/// Sums of integers are exact modulo 2^64. Those of floats are differences of sums in 64f that begin at the strip's
/// first row: their error grows with the sums above and left within the strip's rows, as in a table of 64f. A region
/// that holds NaN, or infinities of both signs, has the sum NaN, one that holds infinities of one sign that infinity;
/// no other region is affected. Strips of 8- and 16-bit pixels are summed in 32 bits if every sum of a strip fits.
///
/// Memory. As StripSat, with one output buffer and no carry row. In addition, not counted in PieceOptions::memory, 8 (W
/// + 1) bytes for each table and channel, 40 bytes for each region and 8 for each answer. On the host a strip never has
/// more rows than without `memory`, so that it stays in a cache; sums of one channel of 8 or 16 bits without squares
/// keep no tables of strips there: they use at most 576 KiB a thread, 8 bytes for each row and 1024 columns of a strip,
/// and up to 16 bytes more for each region that begins or ends in a strip.
class StripSums {
 public:
  /// Images of that shape (batch 1, at most 4 channels) and type; fewer than 2^31 regions, which are copied. Throws
  /// InvalidArgument, with the index, for an invalid region, and as StripSat.
  StripSums(const Shape& image, Type type, Span<const Region> regions, const StripSumsOptions& options = {},
            const PieceOptions& strips = {});
  ~StripSums();
  StripSums(StripSums&&) noexcept;
  StripSums& operator=(StripSums&&) noexcept;

  /// As StripSat::run; throws what `read` throws, Cancelled, OutOfMemory, DeviceError.
  void run(const ImageReader& read);
  /// \name As StripSat's.
  ///@{
  void begin();
  void push(std::int64_t x, std::int64_t y, const ConstView& block);
  void finish();
  ///@}

  /// \name Answers after `run` or `finish`: N x channels, row by row; an empty region's sum is 0. T for sums of
  /// integers: 64 bits of the pixels' signedness, or double; for floats: double. Throw InvalidArgument for another
  /// type, for squares that were not requested, and before the image is complete.
  /// @{
  template <SumType T = double>
  std::vector<T> sums() const {
    std::vector<T> out(answers());
    sums(Span<T>(out));
    return out;
  }
  /// Sums of squares are 64u for integers of 8 and 16 bits, and doubles for all other pixels, as Squares::automatic.
  template <SumType T = double>
  std::vector<T> squares() const {
    std::vector<T> out(answers());
    squares(Span<T>(out));
    return out;
  }
  void sums(Span<double> out) const;
  void sums(Span<std::uint64_t> out) const;
  void sums(Span<std::int64_t> out) const;
  void squares(Span<double> out) const;
  void squares(Span<std::uint64_t> out) const;
  void squares(Span<std::int64_t> out) const;
  std::vector<double> means() const;                ///< NaN for an empty region
  std::vector<double> variances() const;            ///< of the population, as region_variances; never negative
  std::vector<double> standard_deviations() const;  ///< square roots of the variances
  std::size_t answers() const noexcept;             ///< N x channels
  ///@}

  std::int64_t strip_height() const noexcept;
  std::uint64_t memory_bytes() const noexcept;
  Backend backend() const noexcept;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// The sums of regions in one line, from an image that is read once. See StripSums.
template <SumType T = double>
std::vector<T> strip_sums(const ImageReader& read, const Shape& image, Type type, Span<const Region> regions,
                          const StripSumsOptions& options = {}, const PieceOptions& strips = {}) {
  StripSums sums(image, type, regions, options, strips);
  sums.run(read);
  return sums.sums<T>();
}

/// What is computed of the pixels that a window sees.
enum class WindowStatistic : std::uint8_t {
  sum,
  mean,
  variance,  ///< of the population, as `window_variances`
  standard_deviation,
  count,  ///< how many they are, what a mean divides by; one channel
  pixel   ///< the pixel at the window's anchor, of the image's type
};

/// What StripWindows computes.
struct StripWindowsOptions {
  std::vector<WindowStatistic> statistics = {WindowStatistic::mean};  ///< in one pass over the image
  Type output = Type::f64;             ///< of all statistics but `pixel`: as the outputs of `window_means`
  bool mask = false;                   ///< as SatOptions::mask
  bool ignore_nan = false;             ///< as SatOptions::ignore_nan
  std::optional<TypePair> types = {};  ///< of the tables; none: the default types of the whole image
};

/// Rows of the output of windows, of full width, in host memory. Valid during the call.
struct WindowStrip {
  std::int64_t y = 0;             ///< of the first row, in the whole output
  std::vector<ConstView> values;  ///< one for each statistic, in the image's layout
};
/// Called with one strip at a time, from the top down. False ends the run, and is no error.
using WindowStripSink = std::function<bool(const WindowStrip&)>;

/// Dense windows of one image, strip by strip: see `window_means`. Tables are computed by PieceOptions' worker,
/// windows by the CPU.
///
/// Answers of integers have the bits of the whole image's tables, whatever the strips, where the sums of windows fit
/// the table's type. What rounds depends on the rows of a strip: answers of floats, and variances of pixels of 32 and
/// 64 bits, whose squares are 64f. It has the same bits for one strip height, options and backend, however the image
/// was read or pushed. A window that holds NaN, or infinities of both signs, has the sum and the mean NaN, one that
/// holds infinities of one sign that infinity; variances are NaN then. No other window is touched by them.
///
/// Memory. A strip of h rows reads up to h + n rows, n being the window's height less 1, or twice that for edges that
/// reflect, and computes the windows of all of them: with t bytes in a row of all tables and o in one of all outputs it
/// takes 2 (h + n) (p + o) + (h + n + 1) t bytes and the plan's workspace. Where PieceOptions::memory is 0, a strip has
/// about 4 n rows. Strips with NaN or infinities take some 60 bytes more for each pixel and channel while they are
/// computed. With edge `wrap` and a window higher than the image, the whole image is one strip.
///
/// For one image at a time, from one thread.
class StripWindows {
 public:
  /// Images of that shape (batch 1) and type. Throws as the functions of windows, and as StripSat.
  StripWindows(const Shape& image, Type type, const Window& window, const StripWindowsOptions& options = {},
               const PieceOptions& strips = {});
  ~StripWindows();
  StripWindows(StripWindows&&) noexcept;
  StripWindows& operator=(StripWindows&&) noexcept;

  /// As StripSat::run: each row is read once, with edge `wrap` those next to the first and the last row twice.
  void run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_mask = {});
  /// \name As StripSat's. `begin` throws InvalidArgument for edge `wrap`.
  ///@{
  void begin(WindowStripSink sink);
  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& mask = {});
  void finish();
  ///@}

  std::int64_t strip_height() const noexcept;
  std::uint64_t memory_bytes() const noexcept;
  Backend backend() const noexcept;     ///< of the tables
  Shape output_shape() const noexcept;  ///< of all statistics but `count`
  TypePair types() const noexcept;      ///< of the tables
  std::optional<Type> squares_type() const noexcept;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// A filter of one image, strip by strip: the bits of a FilterPlan over the whole image, whatever the strips, read or
/// pushed. On the CPU.
///
/// Memory. A strip of h rows reads up to h + n rows and makes h: n is as for StripWindows, with the window that follows
/// from a Gaussian's sigma; guided filters have twice that. With p bytes in a row of pixels and of the mask or guide,
/// and o in a row of the output, it takes 2 (h + n) p + 2 h o bytes and the plan's workspace. The heights are as for
/// StripWindows.
///
/// For one image at a time, from one thread.
class StripFilter {
 public:
  /// Images of that shape (batch 1). Throws as FilterPlan and StripSat; InvalidArgument for thresholds of `wolf` and
  /// Equalize of 16u, which need the whole image first, and for another backend than the CPU.
  StripFilter(const Shape& image, Type in, Type out, const Filter& filter, const FilterOptions& options,
              const PieceOptions& strips = {});
  ~StripFilter();
  StripFilter(StripFilter&&) noexcept;
  StripFilter& operator=(StripFilter&&) noexcept;

  /// As StripWindows::run. A strip has one view. `read_second` reads the mask or the guide of the options, the guide in
  /// the image's layout; no filter has both.
  void run(const ImageReader& read, const WindowStripSink& sink, const ImageReader& read_second = {});
  /// \name As StripWindows'; `second` is the same part of the mask or the guide.
  ///@{
  void begin(WindowStripSink sink);
  bool push(std::int64_t x, std::int64_t y, const ConstView& block, const ConstView& second = {});
  void finish();
  ///@}

  std::int64_t strip_height() const noexcept;
  std::uint64_t memory_bytes() const noexcept;
  Shape output_shape() const noexcept;
  const std::string& algorithm() const noexcept;

  struct State;  // of the library

 private:
  std::unique_ptr<State> state_;
};

/// Histograms of regions of an image that is read strip by strip, N x bins row by row; no tensor is kept or output. CPU
/// only. Memory: the counts of each column, 4 (b + 1) W bytes, 8 N b for the answers (up to 64 MiB more if threads
/// share the columns) and 80 for each region. If a strip of one row with the columns exceeds a given `strips.memory`,
/// bins are processed in groups and the image is read once for each; `memory` does not include the answers. O(groups H
/// W + distinct rows b W). Exact.
/// Throws as `strip_sums`, and InvalidArgument for another backend than the CPU.
std::vector<std::uint64_t> strip_counts(const ImageReader& read, const Shape& image, Type type, const Binning& binning,
                                        Span<const Region> regions, const PieceOptions& strips = {});

}  // namespace areal
