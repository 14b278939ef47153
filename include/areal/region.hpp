#pragma once
/// \file region.hpp Regions, and what summed-area tables answer about them in constant time.
///
/// The tables' memory decides where a query runs (see QueryOptions). Answers have the same bits everywhere, whatever
/// the backend and the number of threads.

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

/// The region itself where it lies inside an image of that size. Else, for `Outside::error`, InvalidArgument that names
/// the index, the region and the image's size; for `Outside::clip` its part inside, which may be empty but then lies
/// inside, too. An extent that reaches beyond 64 bits is outside like any other; a negative one always throws. Of a
/// table of border `exclusive` a region that touches the image's last row or column throws, too.
Region checked_region(const Region& region, std::int64_t index, std::int64_t image_width, std::int64_t image_height,
                      Outside outside = Outside::error, Border border = Border::zero);

/// Options of queries about regions.
///
/// Memory decides where a query runs. Tables in host memory are read by the CPU, or with `execution.backend` simt by
/// the simulated machine; regions, answers and `first_invalid` are then in host memory, too. Tables of a CUDA device
/// are read there; regions, answers and `first_invalid` may each be that device's memory or the host's. What the host
/// has is copied, through memory of the stream's order, and the call returns when the host has its answers. Where all
/// is the device's memory and `execution.stream` is given, the call only queues its work: it allocates nothing, waits
/// for nothing and may be captured in a CUDA graph; what it reads must stay until the work has been done. Without a
/// stream the work is done on the legacy default stream, after whatever blocking streams have queued, and the call
/// waits.
///
/// All queries throw InvalidArgument, naming the argument, for sizes, types or pitches that do not belong together,
/// for memory that does not, and for spans that do not begin at multiples of 8 bytes; Unavailable for a backend or
/// device that is not there; OutOfMemory where the device lacks the memory to copy to; DeviceError where CUDA fails.
struct QueryOptions {
  Outside outside = Outside::error;
  Execution execution = {};
  /// One number, or none. Given: a region that cannot be answered does not throw; its answers are 0 where they are
  /// integers and NaN where they are floating-point, the others' stand, and this becomes the smallest index of such a
  /// region, -1 where there is none. Not given: regions in host memory are checked first, and the first that cannot be
  /// answered is named by an InvalidArgument, the answers then being unspecified; regions in device memory cannot be
  /// checked first, and those that cannot be answered get 0 or NaN as above.
  Span<std::int64_t> first_invalid = {};
};

/// What a sum can be had as.
template <class T>
concept SumType = std::same_as<T, double> || std::same_as<T, std::uint64_t> || std::same_as<T, std::int64_t>;

/// How many answers N regions have: one for each plane of the table, so N x batch x channels. Throws InvalidArgument
/// for what is no table, or where the product has more than 63 bits.
std::size_t answers_of(const SatView& table, std::size_t regions);

/// \name Sums of N regions, of each plane of the table: N x batch x channels of them, row by row, so that the answers
/// of one region lie side by side, and of these the channels of one image. O(1) each: four reads. Integers must match
/// the table: 64u takes 32u and 64u, 64s takes 32s and 64s; double takes any. Integer sums are exact modulo 2^k, so
/// exact whenever the region's own sum fits the table's type. Float tables are subtracted in double. An `exclusive`
/// table cannot answer regions that touch the image's last row or column: those are invalid, too.
///@{
void region_sums(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options = {});
void region_sums(const SatView& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const QueryOptions& options = {});
void signed_region_sums(const SatView& table, Span<const Region> regions, Span<std::int64_t> out,
                        const QueryOptions& options = {});
/// Of signed integers; deduced, since g++ 12 would take the list `{.first_invalid = span}` for this span.
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
/// Of one region of a table with one plane.
double region_sum(const SatView& table, const Region& region, const QueryOptions& options = {});
///@}

/// \name What some rows of a table add to the sums of N regions, where each row of one table lies in one of several
/// places. `rows` are rows [first, first + H) of the table, of full width. Added up over all places, in any order, the
/// parts are the sums, with the bits of `region_sums`; integers modulo 2^64, of which the bits of the table's type are
/// the sum's. In the order of the sums; O(1) each. The rows' memory decides where it runs; regions and answers lie in
/// host memory. Throws as `checked_region` for regions outside the image, of `image_height` rows, and as `region_sums`.
///@{
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<double> out, const Execution& execution = {});
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<std::uint64_t> out, const Execution& execution = {});
void partial_region_sums(const TableView& rows, std::int64_t first, std::int64_t image_height,
                         Span<const Region> regions, Span<std::int64_t> out, const Execution& execution = {});
///@}

/// \name Means of N regions of each plane, in the order of the sums; NaN for an empty one. Of a view with a count (of
/// as many channels as the sums or of one for all), the means are over the valid pixels.
///@{
void region_means(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options = {});
inline std::vector<double> region_means(const SatView& table, Span<const Region> regions,
                                        const QueryOptions& options = {}) {
  std::vector<double> out(answers_of(table, regions.size()));
  region_means(table, regions, Span<double>(out), options);
  return out;
}
///@}

/// \name Population variances of N regions of each plane, in the order of the sums, from the sum and the squares of the
/// view, which must have them, with the same planes: never negative, and NaN only for an empty region or one that holds
/// NaN (or lies right of or below one that does, or infinity: floats spread in a table). Integer tables are computed
/// exactly in 128 bits before the one division; so are integer sums with squares in 64f while those are below 2^53.
/// Float sums: max(0, S2/n - (S1/n)^2), whose error is a few eps of S2/n on top of what the tables' own rounding left.
/// Of a view with a count (an integer table), over the valid pixels, as for means. Standard deviations are their square
/// roots.
///@{
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
/// `zero` ((D+1)x(H+1)x(W+1)) or `none`, of any table type. At most eight reads each; integers exact modulo 2^k.
///@{
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
/// below, for 0 <= i < width and 0 <= j < height: the top pixel is (x-1, y). It lies inside when x - height >= 0,
/// x + width <= W, y >= 0 and y + width + height <= H; else it is invalid. None is clipped: `outside` must be `error`.
/// Empty ones that lie inside are 0. Four reads each. A view must have its tilted table.
///@{
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
