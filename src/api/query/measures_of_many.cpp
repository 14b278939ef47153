// Measures of each of N histograms: checks, then one after another on the CPU, or a device's request.
#include <algorithm>
#include <areal/histogram_measures.hpp>
#include "api/core/require.hpp"
#include "api/query/query_call.hpp"
#include "cpu/threads.hpp"

namespace areal {

namespace {

using kernels::Reducer;

/// N, from the number of output values.
std::int64_t count_of(std::size_t histograms, std::int64_t bins, std::size_t out, std::int64_t values_each = 1) {
  require(bins >= 0, "bins: ", bins, ", it may not be negative");
  const auto values = static_cast<std::int64_t>(out);
  const std::int64_t count = values_each == 0 ? 0 : values / values_each;
  std::int64_t entries = 0, wanted = 0;
  require(!__builtin_mul_overflow(count, bins, &entries) && !__builtin_mul_overflow(count, values_each, &wanted) &&
              static_cast<std::int64_t>(histograms) == entries && values == wanted,
          "histograms: ", histograms, " entries for ", values, " values of histograms of ", bins, " bins");
  return count;
}

/// N histograms of a call.
struct Many {
  kernels::HistogramList list;
  std::span<const double> operator[](std::int64_t i) const {
    return {list.data + i * list.bins, static_cast<std::size_t>(list.bins)};
  }
};

/// each(i) for all histograms, on the CPU.
template <class Each>
void for_each_histogram(const QueryCall& call, const kernels::HistogramList& list, const Each& each) {
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 14) / (list.bins + 1));
  cpu::parallel_ranges(call.threads(), list.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) each(i);
  });
}

/// measure(histogram) of each into `out`, or the device's reducer.
template <class Out, class Measure>
void reduce(Reducer reducer, Span<const double> histograms, std::int64_t bins, Span<Out> out,
            const Execution& execution, const Measure& measure) {
  const std::int64_t count = count_of(histograms.size(), bins, out.size());
  QueryCall call(execution, {{"histograms", histograms.memory()}});
  const Many many{{call.in(histograms, "histograms"), count, bins}};
  Out* const answers = call.out(out, "out");
  if (!call.on_cpu()) return call.answer(kernels::ReduceRequest{reducer, many.list, nullptr, 0, answers});
  for_each_histogram(call, many.list, [&](std::int64_t i) { answers[i] = measure(many[i]); });
}

/// The same with the bins' edges: measure(histogram, edges).
template <class Measure>
void reduce(Reducer reducer, Span<const double> histograms, std::int64_t bins, Span<const double> edges, double percent,
            Span<double> out, const Execution& execution, const Measure& measure) {
  const std::int64_t count = count_of(histograms.size(), bins, out.size());
  require(static_cast<std::int64_t>(edges.size()) == bins + 1, "edges: ", edges.size(), " values for ", bins,
          " bins, it must be one more");
  require(percent >= 0 && percent <= 100, "percent: ", percent, ", it may be 0 to 100");
  QueryCall call(execution, {{"histograms", histograms.memory()}});
  const Many many{{call.in(histograms, "histograms"), count, bins}};
  const double* const edges_there = call.in(edges, "edges");
  double* const answers = call.out(out, "out");
  if (!call.on_cpu()) return call.answer(kernels::ReduceRequest{reducer, many.list, edges_there, percent, answers});
  for_each_histogram(call, many.list, [&](std::int64_t i) { answers[i] = measure(many[i], edges.host()); });
}

/// Memory for a value of each.
template <class Out>
std::vector<Out> buffer_for(Span<const double> histograms, std::int64_t bins) {
  require(bins > 0 || histograms.empty(), "bins: ", bins, " for ", histograms.size(), " entries");
  return std::vector<Out>(bins > 0 ? histograms.size() / static_cast<std::size_t>(bins) : 0);
}

}  // namespace

void normalise(Span<const double> histograms, std::int64_t bins, Span<double> out, const Execution& execution) {
  const std::int64_t count = count_of(histograms.size(), bins, out.size(), bins);
  QueryCall call(execution, {{"histograms", histograms.memory()}});
  const Many many{{call.in(histograms, "histograms"), count, bins}};
  double* const answers = call.out(out, "out");
  if (!call.on_cpu()) return call.answer(kernels::ReduceRequest{Reducer::normalise, many.list, nullptr, 0, answers});
  for_each_histogram(call, many.list, [&](std::int64_t i) {
    normalise(many[i], std::span<double>(answers + i * bins, static_cast<std::size_t>(bins)));
  });
}

void entropies(Span<const double> histograms, std::int64_t bins, Span<double> out, const Execution& execution) {
  reduce(Reducer::entropy, histograms, bins, out, execution, entropy);
}

void percentiles(Span<const double> histograms, std::int64_t bins, Span<const double> edges, double percent,
                 Span<double> out, const Execution& execution) {
  reduce(Reducer::percentile, histograms, bins, edges, percent, out, execution,
         [&](std::span<const double> histogram, std::span<const double> all_edges) {
           return percentile(histogram, all_edges, percent);
         });
}

void medians(Span<const double> histograms, std::int64_t bins, Span<const double> edges, Span<double> out,
             const Execution& execution) {
  percentiles(histograms, bins, edges, 50, out, execution);
}

void modes(Span<const double> histograms, std::int64_t bins, Span<std::int64_t> out, const Execution& execution) {
  reduce(Reducer::mode, histograms, bins, out, execution, mode);
}

void means(Span<const double> histograms, std::int64_t bins, Span<const double> edges, Span<double> out,
           const Execution& execution) {
  reduce(Reducer::mean, histograms, bins, edges, 0, out, execution, mean);
}

void distances(Distance measure, Span<const double> histograms, Span<const double> target, Span<double> out,
               const Execution& execution) {
  const auto bins = static_cast<std::int64_t>(target.size());
  const std::int64_t count = count_of(histograms.size(), bins, out.size());
  QueryCall call(execution, {{"histograms", histograms.memory()}});
  const Many many{{call.in(histograms, "histograms"), count, bins}};
  const double* const target_there = call.in(target, "target");
  double* const answers = call.out(out, "out");
  if (!call.on_cpu()) return call.answer(kernels::DistancesRequest{measure, many.list, target_there, answers});
  for_each_histogram(call, many.list, [&](std::int64_t i) { answers[i] = distance(measure, many[i], target.host()); });
}

std::vector<double> entropies(Span<const double> histograms, std::int64_t bins, const Execution& execution) {
  auto out = buffer_for<double>(histograms, bins);
  entropies(histograms, bins, Span<double>(out), execution);
  return out;
}

std::vector<double> percentiles(Span<const double> histograms, std::int64_t bins, Span<const double> edges,
                                double percent, const Execution& execution) {
  auto out = buffer_for<double>(histograms, bins);
  percentiles(histograms, bins, edges, percent, Span<double>(out), execution);
  return out;
}

std::vector<double> medians(Span<const double> histograms, std::int64_t bins, Span<const double> edges,
                            const Execution& execution) {
  return percentiles(histograms, bins, edges, 50, execution);
}

std::vector<std::int64_t> modes(Span<const double> histograms, std::int64_t bins, const Execution& execution) {
  auto out = buffer_for<std::int64_t>(histograms, bins);
  modes(histograms, bins, Span<std::int64_t>(out), execution);
  return out;
}

std::vector<double> means(Span<const double> histograms, std::int64_t bins, Span<const double> edges,
                          const Execution& execution) {
  auto out = buffer_for<double>(histograms, bins);
  means(histograms, bins, edges, Span<double>(out), execution);
  return out;
}

std::vector<double> distances(Distance measure, Span<const double> histograms, Span<const double> target,
                              const Execution& execution) {
  auto out = buffer_for<double>(histograms, static_cast<std::int64_t>(target.size()));
  distances(measure, histograms, target, Span<double>(out), execution);
  return out;
}

}  // namespace areal
