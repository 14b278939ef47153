// What N histograms on a device say: checks, then one request.
#include <areal/device_region.hpp>
#include "api/core/require.hpp"
#include "api/query/region_device.hpp"

namespace areal {

namespace {

using kernels::Reducer;

/// N histograms, N following from the values that are wanted of each.
template <class Out>
kernels::HistogramList listed(std::span<const double> histograms, std::int64_t bins, std::span<Out> out,
                              std::int64_t values_each = 1) {
  require(bins >= 0, "bins: ", bins, ", it may not be negative");
  require_span(histograms, "histograms");
  require_span(out, "out");
  const auto values = static_cast<std::int64_t>(out.size());
  const std::int64_t count = values_each == 0 ? 0 : values / values_each;
  std::int64_t entries = 0, wanted = 0;
  require(!__builtin_mul_overflow(count, bins, &entries) && !__builtin_mul_overflow(count, values_each, &wanted) &&
              static_cast<std::int64_t>(histograms.size()) == entries && values == wanted,
          "histograms: ", histograms.size(), " entries for ", values, " values of histograms of ", bins, " bins");
  return {histograms.data(), count, bins};
}

template <class Out>
void reduce(const Place& on, Reducer reducer, std::span<const double> histograms, std::int64_t bins,
            std::span<Out> out) {
  const kernels::HistogramList list = listed(histograms, bins, out, reducer == Reducer::normalise ? bins : 1);
  answer(on, kernels::ReduceRequest{reducer, list, nullptr, 0, out.data()});
}

void reduce(const Place& on, Reducer reducer, std::span<const double> histograms, std::int64_t bins,
            std::span<const double> edges, double percent, std::span<double> out) {
  const kernels::HistogramList list = listed(histograms, bins, out);
  require_span(edges, "edges");
  require(static_cast<std::int64_t>(edges.size()) == bins + 1, "edges: ", edges.size(), " values for ", bins,
          " bins, it must be one more");
  require(percent >= 0 && percent <= 100, "percent: ", percent, ", it may be 0 to 100");
  answer(on, kernels::ReduceRequest{reducer, list, edges.data(), percent, out.data()});
}

}  // namespace

void normalise(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<double> out) {
  reduce(on, Reducer::normalise, histograms, bins, out);
}

void entropies(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<double> out) {
  reduce(on, Reducer::entropy, histograms, bins, out);
}

void percentiles(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
                 double percent, std::span<double> out) {
  reduce(on, Reducer::percentile, histograms, bins, edges, percent, out);
}

void medians(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
             std::span<double> out) {
  percentiles(on, histograms, bins, edges, 50, out);
}

void modes(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<std::int64_t> out) {
  reduce(on, Reducer::mode, histograms, bins, out);
}

void means(const Place& on, std::span<const double> histograms, std::int64_t bins, std::span<const double> edges,
           std::span<double> out) {
  reduce(on, Reducer::mean, histograms, bins, edges, 0, out);
}

void distances(const Place& on, Distance measure, std::span<const double> histograms, std::span<const double> target,
               std::span<double> out) {
  require_span(target, "target");
  const kernels::HistogramList list = listed(histograms, static_cast<std::int64_t>(target.size()), out);
  answer(on, kernels::DistancesRequest{measure, list, target.data(), out.data()});
}

}  // namespace areal
