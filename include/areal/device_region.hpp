#pragma once
/// \file device_region.hpp What tables that stay on a device answer there: the queries of region.hpp and histogram.hpp,
/// but for those that take an image instead of a table, which are the CPU's alone.
///
/// Queued: the functions that take a `Place` queue their work on its stream and return. They allocate nothing, wait for
/// nothing, and may be captured in a CUDA graph. Every view, span and pointer is the device's memory, which must stay
/// as it is until the work has been done; spans begin at multiples of 8 bytes, views anywhere. They throw
/// InvalidArgument for what can be said without looking at that memory (sizes, types, pitches), Unavailable for a
/// backend or device that is not there, DeviceError where a launch is refused.
///
/// And back: `RegionRunner` takes regions from the host and brings the answers there.
///
/// Answers have the bits of the CPU's; entropies, whose logarithms differ, are within 1e-12.

#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <cstdint>
#include <memory>
#include <span>

namespace areal {

/// \name Regions and boxes. One for which the CPU's functions throw is refused: its answers are 0 where they are
/// integers, NaN where they are double, and the others' stand. Where `refused` is not null, the number there becomes
/// the smallest index of a refused one, -1 where there is none. O(1) each, for histograms O(bins).
///@{

/// Sums of N regions of each plane of the table, N x batch x channels as the CPU's `region_sums`: 64u takes tables of
/// 32u and 64u, 64s of 32s and 64s, double any.
void region_sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<std::uint64_t> out,
                 Outside outside = Outside::error, std::int64_t* refused = nullptr);
void region_sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<std::int64_t> out,
                 Outside outside = Outside::error, std::int64_t* refused = nullptr);
void region_sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<double> out,
                 Outside outside = Outside::error, std::int64_t* refused = nullptr);

/// Means of N regions of each plane; NaN for an empty one. With `count` (a table of valid pixels, of as many channels
/// or of one for all) the mean is over those.
void region_means(const Place& on, const TableView& table, std::span<const Region> regions, std::span<double> out,
                  Outside outside = Outside::error, std::int64_t* refused = nullptr, const TableView* count = nullptr);

/// Population variances of N regions, with the arithmetic of the CPU's; and their square roots.
void region_variances(const Place& on, const TableView& sum, const TableView& squares, std::span<const Region> regions,
                      std::span<double> out, Outside outside = Outside::error, std::int64_t* refused = nullptr,
                      const TableView* count = nullptr);
void region_standard_deviations(const Place& on, const TableView& sum, const TableView& squares,
                                std::span<const Region> regions, std::span<double> out,
                                Outside outside = Outside::error, std::int64_t* refused = nullptr,
                                const TableView* count = nullptr);

/// Sums of N boxes of a volume table (depth as batch, one channel), border `zero` or `none`, as the CPU's: a table of
/// any type, at most eight reads a box.
void box_sums(const Place& on, const ConstView& volume, Border border, std::span<const Box> boxes,
              std::span<double> out, Outside outside = Outside::error, std::int64_t* refused = nullptr);

/// Sums of N rectangles rotated by 45 degrees from a tilted table ((H+1)x(W+1), of any type), as the CPU's: four reads
/// a rectangle. One that does not lie inside is refused; none is clipped.
void tilted_sums(const Place& on, const ConstView& tilted, std::span<const Region> regions, std::span<double> out,
                 std::int64_t* refused = nullptr);

/// Histograms of N regions, N x bins row by row: counts modulo 2^k. 64u takes tensors of 16u, 32u and 64u, double any.
void region_histograms(const Place& on, const TensorView& tensor, std::span<const Region> regions,
                       std::span<std::uint64_t> out, Outside outside = Outside::error, std::int64_t* refused = nullptr);
void region_histograms(const Place& on, const TensorView& tensor, std::span<const Region> regions,
                       std::span<double> out, Outside outside = Outside::error, std::int64_t* refused = nullptr);
///@}

/// \name Of N histograms, N x bins row by row, as region_histograms leaves them: what the function of the singular name
/// says of each, into N values (`normalise`: N x bins). `edges` are bins + 1. O(bins) each, a thread a histogram.
///@{
void normalise(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<double> out);
void entropies(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<double> out);
void percentiles(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
                 double percent, std::span<double> out);
void medians(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
             std::span<double> out);
void modes(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<std::int64_t> out);
void means(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
           std::span<double> out);
/// The distance of each to one target, bins long.
void distances(const Place& on, Distance measure, std::span<const double> histograms, std::span<const double> target,
               std::span<double> out);
///@}

/// \name Dense windows, of each plane and into the types that the CPU's take, and the map of a distance, into 64f or
/// 32f.
///@{
void window_sums(const Place& on, const TableView& table, const Window& window, const View& out);
void window_means(const Place& on, const TableView& table, const Window& window, const View& out);
void window_variances(const Place& on, const TableView& sum, const TableView& squares, const Window& window,
                      const View& out);
void window_standard_deviations(const Place& on, const TableView& sum, const TableView& squares, const Window& window,
                                const View& out);
void distance_map(const Place& on, const TensorView& tensor, std::int64_t width, std::int64_t height,
                  std::span<const double> target, Distance measure, const View& out);
///@}

/// Copies a table into another border, as the CPU's: `from`, `to` and the image are the device's memory. O(H W); what
/// an exclusive table lacks is added by one warp for the last row and one for the last column, while others copy.
void convert_border(const Place& on, const TableView& from, const View& to, Border to_border,
                    const ConstView* image = nullptr);

/// Asks tables that stay on a device, from the host: tables, tensors and histograms are the device's memory, all else
/// (regions, edges, targets, answers) the host's. Each call copies in, waits until the answers are back, and throws
/// what the CPU's function of that name does, a region outside included. It keeps the device memory that this took for
/// the next call; throws OutOfMemory where the device lacks it. Not for several threads at once.
class RegionRunner {
 public:
  /// The stream is the one that wrote the tables, or one that waits for it. Throws as the functions above.
  explicit RegionRunner(const Place& on);

  void region_sums(const TableView& table, std::span<const Region> regions, std::span<std::uint64_t> out,
                   Outside outside = Outside::error);
  void region_sums(const TableView& table, std::span<const Region> regions, std::span<std::int64_t> out,
                   Outside outside = Outside::error);
  void region_sums(const TableView& table, std::span<const Region> regions, std::span<double> out,
                   Outside outside = Outside::error);
  void region_means(const TableView& table, std::span<const Region> regions, std::span<double> out,
                    Outside outside = Outside::error, const TableView* count = nullptr);
  void region_variances(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                        std::span<double> out, Outside outside = Outside::error, const TableView* count = nullptr);
  void region_standard_deviations(const TableView& sum, const TableView& squares, std::span<const Region> regions,
                                  std::span<double> out, Outside outside = Outside::error,
                                  const TableView* count = nullptr);
  void box_sums(const ConstView& volume, Border border, std::span<const Box> boxes, std::span<double> out,
                Outside outside = Outside::error);
  void tilted_sums(const ConstView& tilted, std::span<const Region> regions, std::span<double> out);
  void region_histograms(const TensorView& tensor, std::span<const Region> regions, std::span<std::uint64_t> out,
                         Outside outside = Outside::error);
  void region_histograms(const TensorView& tensor, std::span<const Region> regions, std::span<double> out,
                         Outside outside = Outside::error);

  void normalise(std::span<const double> histograms, std::int64_t bins, std::span<double> out);
  void entropies(std::span<const double> histograms, std::int64_t bins, std::span<double> out);
  void percentiles(std::span<const double> histograms, std::int64_t bins, std::span<const double> edges, double percent,
                   std::span<double> out);
  void medians(std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
               std::span<double> out);
  void modes(std::span<const double> histograms, std::int64_t bins, std::span<std::int64_t> out);
  void means(std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
             std::span<double> out);
  void distances(Distance measure, std::span<const double> histograms, std::span<const double> target,
                 std::span<double> out);

  void window_sums(const TableView& table, const Window& window, const View& out);
  void window_means(const TableView& table, const Window& window, const View& out);
  void window_variances(const TableView& sum, const TableView& squares, const Window& window, const View& out);
  void window_standard_deviations(const TableView& sum, const TableView& squares, const Window& window,
                                  const View& out);
  void distance_map(const TensorView& tensor, std::int64_t width, std::int64_t height, std::span<const double> target,
                    Distance measure, const View& out);

 private:
  struct Device;
  Place on_;
  std::shared_ptr<Device> device_;  // the memory on cuda
};

}  // namespace areal
