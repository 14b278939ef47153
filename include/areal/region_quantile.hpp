#pragma once
/// \file region_quantile.hpp Quantiles, percentiles and counts of the pixels of regions: exact, without bins.
///
/// From a store made without a binning, `histogram_store(image)`, or straight from an image, with the same bits. NaN
/// pixels do not count; -0 equals +0, which is what answers are. Pixels of all types but 64u and 64s.
///
/// On the CPU, CUDA and the simulated machine, with the same bits: a rank store answers where it lies. On a GPU an
/// image without a store gets a rank store for the call.

#include <areal/execution.hpp>
#include <areal/histogram_store.hpp>
#include <areal/region.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace areal {

/// How a quantile between two pixels of the sorted region is estimated, named and computed as numpy.quantile's methods
/// (Hyndman and Fan 1996), in double.
enum class QuantileMethod : std::uint8_t {
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  linear,  ///< NumPy's default: of n pixels, at (n - 1) q between the pixels beside it
  median_unbiased,
  normal_unbiased,
  lower,
  higher,
  midpoint,
  nearest
};
std::string_view name_of(QuantileMethod method) noexcept;  ///< "linear", "inverted_cdf", ..
std::optional<QuantileMethod> quantile_method_named(std::string_view name) noexcept;

/// \name Quantiles of N regions: N x channels x quantiles, row by row. `quantiles` are in [0, 1]. A region without
/// pixels, or with NaN alone, has NaN. The same bits as numpy.nanquantile of the region's pixels as float64, where they
/// are finite; near infinities, which NumPy mostly makes NaN, the weighted mean of the two pixels. O(bits log(width))
/// each from a rank store, O(pixels) from none or an image, which is for few regions. Throws InvalidArgument for a
/// store of bins, weights or a mask, for quantiles outside [0, 1] and as queries about regions do. Quantiles, percents
/// and values are in host memory.
/// @{
void region_quantiles(const StoreView& store, Span<const Region> regions, Span<const double> quantiles,
                      Span<double> out, QuantileMethod method = QuantileMethod::linear,
                      const QueryOptions& options = {});
void region_quantiles(const ConstView& image, Span<const Region> regions, Span<const double> quantiles,
                      Span<double> out, QuantileMethod method = QuantileMethod::linear,
                      const QueryOptions& options = {});
std::vector<double> region_quantiles(const StoreView& store, Span<const Region> regions, Span<const double> quantiles,
                                     QuantileMethod method = QuantileMethod::linear, const QueryOptions& options = {});
std::vector<double> region_quantiles(const ConstView& image, Span<const Region> regions, Span<const double> quantiles,
                                     QuantileMethod method = QuantileMethod::linear, const QueryOptions& options = {});
///@}

/// \name Percentiles of N regions, always pixels of the region, as filter::Percentile defines them: pixel
/// min(n - 1, floor(percent n / 100)) of the n in order, from 0 on. N x channels x percents; percents are in [0, 100].
/// @{
void region_percentiles(const StoreView& store, Span<const Region> regions, Span<const double> percents,
                        Span<double> out, const QueryOptions& options = {});
void region_percentiles(const ConstView& image, Span<const Region> regions, Span<const double> percents,
                        Span<double> out, const QueryOptions& options = {});
std::vector<double> region_percentiles(const StoreView& store, Span<const Region> regions, Span<const double> percents,
                                       const QueryOptions& options = {});
std::vector<double> region_percentiles(const ConstView& image, Span<const Region> regions, Span<const double> percents,
                                       const QueryOptions& options = {});
///@}

/// \name How many pixels of N regions lie below each value: N x channels x values. None lies below NaN.
/// @{
void region_counts_below(const StoreView& store, Span<const Region> regions, Span<const double> values,
                         Span<std::uint64_t> out, const QueryOptions& options = {});
void region_counts_below(const ConstView& image, Span<const Region> regions, Span<const double> values,
                         Span<std::uint64_t> out, const QueryOptions& options = {});
std::vector<std::uint64_t> region_counts_below(const StoreView& store, Span<const Region> regions,
                                               Span<const double> values, const QueryOptions& options = {});
std::vector<std::uint64_t> region_counts_below(const ConstView& image, Span<const Region> regions,
                                               Span<const double> values, const QueryOptions& options = {});
///@}

}  // namespace areal
