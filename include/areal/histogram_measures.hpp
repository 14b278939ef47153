#pragma once
/// \file histogram_measures.hpp Measures of histograms: entropies, percentiles, modes, means, and pairwise distances.

#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace areal {

/// \name Measures of one histogram (counts or weights, `bins` long) in host memory. Negative entries, which rounded
/// weights may leave, count as 0. O(bins).
/// @{
/// h / sum(h); all zeros if the sum is zero.
void normalise(std::span<const double> histogram, std::span<double> out);
/// Shannon entropy in bits; 0 for an empty histogram.
double entropy(std::span<const double> histogram);
/// The value below which `percent` of the mass lies, interpolated linearly inside its bin (edges: bins + 1 values). NaN
/// for an empty histogram. Throws InvalidArgument unless 0 <= percent <= 100.
double percentile(std::span<const double> histogram, std::span<const double> edges, double percent);
double median(std::span<const double> histogram, std::span<const double> edges);
/// The fullest bin, the first of several; -1 for an empty histogram.
std::int64_t mode(std::span<const double> histogram);
/// Weighted mean of the bin centres. NaN for an empty histogram.
double mean(std::span<const double> histogram, std::span<const double> edges);
///@}

/// Distances between normalised histograms, named "l1", "l2", "chi-square", "hellinger", "intersection", "emd" and
/// "kolmogorov-smirnov". Two empty histograms have distance 0; an empty and another one have the measure's maximum. The
/// distance of a histogram to itself is exactly 0.
enum class Distance : std::uint8_t {
  l1,                 ///< sum |p-q|, 0..2
  l2,                 ///< sqrt(sum (p-q)^2), 0..sqrt 2
  chi_square,         ///< sum (p-q)^2 / (p+q), 0..2
  hellinger,          ///< sqrt(1 - sum sqrt(p q)), 0..1: what OpenCV calls Bhattacharyya
  intersection,       ///< 1 - sum min(p, q), 0..1
  emd,                ///< 1-D earth mover's distance in bins: sum |P-Q| over the cumulative ones, 0..bins-1
  kolmogorov_smirnov  ///< max |P-Q|, 0..1
};
std::string_view name_of(Distance distance) noexcept;
std::optional<Distance> distance_named(std::string_view name) noexcept;
double distance(Distance measure, std::span<const double> a, std::span<const double> b);

/// \name The same measures of N histograms, N x bins row by row as from region_histograms, into N values (`normalise`:
/// N x bins). `edges` has bins + 1 values, `target` has bins. O(bins) each. The memory of the histograms decides where
/// the query runs, as the table's does for regions (see QueryOptions): other spans may be of the same device or of the
/// host, which waits for its answers. Answers have the same bits on every backend, except entropies, whose logarithms
/// differ: a device's are within 1e-12. Throws what queries about regions throw.
/// @{
void normalise(Span<const double> histograms, std::int64_t bins, Span<double> out, const Execution& execution = {});
void entropies(Span<const double> histograms, std::int64_t bins, Span<double> out, const Execution& execution = {});
std::vector<double> entropies(Span<const double> histograms, std::int64_t bins, const Execution& execution = {});
void percentiles(Span<const double> histograms, std::int64_t bins, Span<const double> edges, double percent,
                 Span<double> out, const Execution& execution = {});
std::vector<double> percentiles(Span<const double> histograms, std::int64_t bins, Span<const double> edges,
                                double percent, const Execution& execution = {});
void medians(Span<const double> histograms, std::int64_t bins, Span<const double> edges, Span<double> out,
             const Execution& execution = {});
std::vector<double> medians(Span<const double> histograms, std::int64_t bins, Span<const double> edges,
                            const Execution& execution = {});
void modes(Span<const double> histograms, std::int64_t bins, Span<std::int64_t> out, const Execution& execution = {});
std::vector<std::int64_t> modes(Span<const double> histograms, std::int64_t bins, const Execution& execution = {});
void means(Span<const double> histograms, std::int64_t bins, Span<const double> edges, Span<double> out,
           const Execution& execution = {});
std::vector<double> means(Span<const double> histograms, std::int64_t bins, Span<const double> edges,
                          const Execution& execution = {});
/// The distance of each histogram to one target.
void distances(Distance measure, Span<const double> histograms, Span<const double> target, Span<double> out,
               const Execution& execution = {});
std::vector<double> distances(Distance measure, Span<const double> histograms, Span<const double> target,
                              const Execution& execution = {});
///@}

}  // namespace areal
