#pragma once
// Measures of each of N histograms: shares, entropy, percentile, mode, mean. 1 launch, a thread a histogram, which
// walks its bins in order. Reads the bins once for the mode and at most twice for the others, and the edges of the
// bins; writes 8 bytes, or for shares 8 bytes a bin.

#include "formulas/histogram.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/request.hpp"
#include "kernels/query/statistics.hpp"

namespace areal::kernels {

/// The sum of a histogram's entries.
template <class M>
AREAL_DEVICE double total_of(const M& m, const double* histogram, std::int64_t bins, Site site = AREAL_HERE) {
  double total = 0;
  for (std::int64_t b = 0; b < bins; ++b) total += formulas::mass(m.load(histogram + b, site));
  return total;
}

template <class M, class C>
struct Reduce {
  using Args = ReduceRequest;
  using Shared = NoShared;
  static constexpr int threads = 128, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * threads + m.thread();
    if (i >= a.histograms.count) return;
    const double* const histogram = a.histograms.data + i * a.histograms.bins;
    if (a.reducer == Reducer::mode) {
      m.store(static_cast<std::int64_t*>(a.out) + i, mode(histogram));
      return;
    }
    const double total = total_of(m, histogram, a.histograms.bins);
    if (a.reducer == Reducer::normalise)
      normalise(histogram, total, static_cast<double*>(a.out) + i * a.histograms.bins);
    else
      m.store(static_cast<double*>(a.out) + i, a.reducer == Reducer::entropy ? entropy(histogram, total)
                                               : !(total > 0)                ? formulas::not_a_number()
                                               : a.reducer == Reducer::mean  ? mean(histogram, total)
                                                                             : percentile(histogram, total));
  }

  AREAL_DEVICE std::int64_t mode(const double* histogram) {
    formulas::ModeWalk walk;
    for (std::int64_t b = 0; b < a.histograms.bins; ++b) walk.take(b, m.load(histogram + b));
    return walk.fullest;
  }
  AREAL_DEVICE void normalise(const double* histogram, double total, double* out) {
    for (std::int64_t b = 0; b < a.histograms.bins; ++b)
      m.store(out + b, formulas::share(m.load(histogram + b), total));
  }
  AREAL_DEVICE double entropy(const double* histogram, double total) {
    double bits = 0;
    for (std::int64_t b = 0; b < a.histograms.bins; ++b) bits -= formulas::entropy_term(m.load(histogram + b), total);
    return bits < 0 ? 0 : bits;
  }
  AREAL_DEVICE double mean(const double* histogram, double total) {
    double sum = 0, lo = a.histograms.bins > 0 ? m.load(a.edges) : 0;
    for (std::int64_t b = 0; b < a.histograms.bins; ++b) {
      const double hi = m.load(a.edges + b + 1);
      sum += formulas::mean_term(m.load(histogram + b), total, lo, hi);
      lo = hi;
    }
    return sum;
  }
  AREAL_DEVICE double percentile(const double* histogram, double total) {
    formulas::PercentileWalk walk{a.percent / 100 * total};
    double lo = m.load(a.edges);
    for (std::int64_t b = 0; b < a.histograms.bins; ++b) {
      const double hi = m.load(a.edges + b + 1);
      if (walk.ends_in(m.load(histogram + b), lo, hi)) break;
      lo = hi;
    }
    return walk.value;
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const ReduceRequest& request) {
  launch_each<Reduce, NoConfig>(launcher, request.histograms.count, request);
}

}  // namespace areal::kernels
