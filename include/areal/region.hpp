#pragma once
/// \file region.hpp Regions, and constant-time queries about them on summed-area tables.
///
/// The tables' memory decides where a query runs (see QueryOptions). Answers have the same bits on every backend and
/// for any number of threads.

#include <areal/border.hpp>
#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <areal/table.hpp>
#include <areal/view.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace areal {

/// A half-open rectangle of pixels: columns [x, x+width), rows [y, y+height). As memory it is a row of an N x 4
/// array of 64-bit integers.
struct Region {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// A half-open box of voxels: columns [x, x+width), rows [y, y+height), slices [z, z+depth). As memory it is a row of
/// an N x 6 array of 64-bit integers.
struct Box {
  std::int64_t x = 0, y = 0, z = 0, width = 0, height = 0, depth = 0;
};

/// What to do with a region that reaches outside the image. A negative width or height is always an error;
/// an empty region has sum 0.
enum class Outside : std::uint8_t {
  error,  ///< invalid, as negative extents are: see QueryOptions::first_invalid
  clip    ///< answer for the part inside
};

/// Returns the region if it lies inside an image of that size. Otherwise throws InvalidArgument, naming index, region
/// and image size, for `Outside::error`; for `Outside::clip` returns the part inside, which may be empty but then also
/// lies inside. Extents beyond 64 bits count as outside; a negative extent always throws. With border `exclusive` a
/// region that touches the image's last row or column throws too. O(1).
Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside = Outside::error, Border border = Border::zero);

/// Options of queries about regions.
///
/// Memory decides where a query runs. Tables in host memory are read by the CPU, or with `execution.backend` simt by
/// the simulated machine; regions, answers and `first_invalid` are then in host memory too. Tables of a CUDA device are
/// read there; regions, answers and `first_invalid` may each be in that device's memory or the host's. Those of the
/// host are copied through memory allocated in stream order, and the call returns when the host has its answers. If all
/// are in device memory and `execution.stream` is given, the call only queues its work: it does not allocate or wait,
/// and may be captured in a CUDA graph; its inputs must stay valid until the work is complete. Without a stream the
/// work runs on the legacy default stream, after work in blocking streams, and the call waits.
///
/// All queries throw InvalidArgument, naming the argument, for mismatched sizes, types, pitches or memory, and for
/// spans that are not aligned to 8 bytes; Unavailable for a missing backend or device; OutOfMemory if the device lacks
/// memory for copies; DeviceError if CUDA fails.
struct QueryOptions {
  Outside outside = Outside::error;
  Execution execution = {};
  /// One number, or none. If given, invalid regions do not throw: their answers are 0 as integers and NaN as floats,
  /// all others are valid, and this becomes the smallest index of an invalid region, or -1. If not given, regions in
  /// host memory are checked first: an InvalidArgument names the first invalid one, and answers are unspecified;
  /// regions in device memory cannot be checked first, and invalid ones get 0 or NaN as above.
  Span<std::int64_t> first_invalid = {};
};

/// The types of a sum.
template <class T>
concept SumType = std::same_as<T, double> || std::same_as<T, std::uint64_t> || std::same_as<T, std::int64_t>;

/// Number of answers to N regions: one for each plane of the table, so N x batch x channels. Throws InvalidArgument for
/// an invalid table, or if the product exceeds 63 bits.
std::size_t answers_of(const SatView& table, std::size_t regions);

/// \name Sums of N regions, for each plane of the table: N x batch x channels, row by row, so that a region's answers
/// are adjacent, and within them the channels of an image. O(1) each: four reads. Integers must match the table: 64u
/// reads 32u and 64u, 64s reads 32s and 64s; double reads any. Integer sums are exact modulo 2^k, so exact whenever the
/// region's own sum fits the table's type. Float tables are subtracted in double. In an `exclusive` table, regions that
/// touch the image's last row or column are invalid too.
/// @{
void region_sums(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options = {});
void region_sums(const SatView& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const QueryOptions& options = {});
void signed_region_sums(const SatView& table, Span<const Region> regions, Span<std::int64_t> out,
                        const QueryOptions& options = {});
/// Signed integers. A deduced type, because g++ 12 would convert `{.first_invalid = span}` to this span.
template <class Out>
requires std::convertible_to<Out, Span<std::int64_t>>
void region_sums(const SatView& table, Span<const Region> regions, Out&& out, const QueryOptions& options = {}) {
  signed_region_sums(table, regions, out, options);
}
template <SumType T = double>
std::vector<T> region_sums(const SatView& table, Span<const Region> regions, const QueryOptions& options = {}) {
  std::vector<T> out(answers_of(table, regions.size()));
  region_sums(table, regions, Span<T>(out), options);
  return out;
}
/// One region of a table with one plane.
double region_sum(const SatView& table, const Region& region, const QueryOptions& options = {});
///@}

/// \name The share of some rows of a table in the sums of N regions, for tables whose rows lie in several places.
/// `rows` are rows [first, first + H) of the table, of full width. Added over all places, in any order, the shares are
/// the sums, with the bits of `region_sums`; integers modulo 2^64, whose low bits are the sum in the table's type. In
/// the order of the sums; O(1) each. The rows' memory decides where it runs; regions and answers lie in host memory.
/// Throws as `checked_region` for regions outside the image, which has `image_height` rows, and as `region_sums`.
/// @{
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<double> out, const Execution& execution = {});
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<std::uint64_t> out, const Execution& execution = {});
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<std::int64_t> out, const Execution& execution = {});
///@}

/// \name Means of N regions of each plane, in the order of the sums; NaN for an empty one. With a count in the view (of
/// as many channels as the sums or of one for all), the means are over the valid pixels.
/// @{
void region_means(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options = {});
inline std::vector<double> region_means(const SatView& table, Span<const Region> regions,
                                        const QueryOptions& options = {}) {
  std::vector<double> out(answers_of(table, regions.size()));
  region_means(table, regions, Span<double>(out), options);
  return out;
}
///@}

/// \name Population variances of N regions of each plane, in the order of the sums, from the view's sum and squares,
/// which must have the same planes: never negative, and NaN only for an empty region or one that holds NaN (or lies
/// right of or below NaN or infinity, which spread in a float table). For integer tables the numerator is exact in 128
/// bits before the one division; so it is for integer sums with squares in 64f below 2^53. For float sums: max(0, S2/n
/// - (S1/n)^2), with an error of a few eps of S2/n beyond the tables' own rounding. With a count in the view (an
/// integer table), over the valid pixels, as for means. Standard deviations are the square roots.
/// @{
void region_variances(const SatView& table, Span<const Region> regions, Span<double> out,
                      const QueryOptions& options = {});
inline std::vector<double> region_variances(const SatView& table, Span<const Region> regions,
                                            const QueryOptions& options = {}) {
  std::vector<double> out(answers_of(table, regions.size()));
  region_variances(table, regions, Span<double>(out), options);
  return out;
}
void region_standard_deviations(const SatView& table, Span<const Region> regions, Span<double> out,
                                const QueryOptions& options = {});
inline std::vector<double> region_standard_deviations(const SatView& table, Span<const Region> regions,
                                                      const QueryOptions& options = {}) {
  std::vector<double> out(answers_of(table, regions.size()));
  region_standard_deviations(table, regions, Span<double>(out), options);
  return out;
}
///@}

/// \name Sums of N boxes of a volume: the view's sum is a table of a volume (depth as batch, one channel), border
/// `zero` ((D+1)x(H+1)x(W+1)) or `none`, of any table type. At most eight reads each; integers are exact modulo 2^k.
/// @{
void box_sums(const SatView& volume, Span<const Box> boxes, Span<double> out, const QueryOptions& options = {});
inline std::vector<double> box_sums(const SatView& volume, Span<const Box> boxes, const QueryOptions& options = {}) {
  std::vector<double> out(boxes.size());
  box_sums(volume, boxes, Span<double>(out), options);
  return out;
}
///@}

/// \name Sums of N rectangles rotated by 45 degrees from a tilted table ((H+1)x(W+1), OpenCV's definition: the element
/// (X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1): `width` steps down-right and `height` steps
/// down-left from the top, Lienhart's RSAT rectangle. Its 2 width height pixels are (x-1 + i-j, y + i+j) and the one
/// below, for 0 <= i < width and 0 <= j < height: the top pixel is (x-1, y). It is valid if x - height >= 0, x + width
/// <= W, y >= 0 and y + width + height <= H. Clipping is not supported: `outside` must be `error`. Empty valid ones are
/// 0. Four reads each. The view must have its tilted table.
/// @{
void tilted_sums(const ConstView& tilted, Span<const Region> regions, Span<double> out,
                 const QueryOptions& options = {});
void tilted_sums(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options = {});
inline std::vector<double> tilted_sums(const ConstView& tilted, Span<const Region> regions,
                                       const QueryOptions& options = {}) {
  std::vector<double> out(regions.size());
  tilted_sums(tilted, regions, Span<double>(out), options);
  return out;
}
inline std::vector<double> tilted_sums(const SatView& table, Span<const Region> regions,
                                       const QueryOptions& options = {}) {
  std::vector<double> out(regions.size());
  tilted_sums(table, regions, Span<double>(out), options);
  return out;
}
///@}

}  // namespace areal
