#pragma once
// Distances of N histograms to one target. 1 launch, a thread a histogram, which walks its bins in order. Reads the
// histogram and the target twice; writes 8 bytes.

#include "formulas/distance.hpp"
#include "formulas/histogram.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/reduce.hpp"

namespace areal::kernels {

template <class M, class C>
struct Distances {
  using Args = DistancesRequest;
  using Shared = NoShared;
  static constexpr int threads = 128, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * threads + m.thread(), bins = a.histograms.bins;
    if (i >= a.histograms.count) return;
    const double* const histogram = a.histograms.data + i * bins;
    const double total = total_of(m, histogram, bins), target = total_of(m, a.target, bins);
    m.store(a.out + i, distance(histogram, total, target));
  }

  AREAL_DEVICE double distance(const double* histogram, double total, double target) {
    const std::int64_t bins = a.histograms.bins;
    if (total == 0 && target == 0) return 0;
    if (total == 0 || target == 0) return formulas::largest_distance(a.measure, bins);
    double sum = 0, step = 0;
    for (std::int64_t b = 0; b < bins - (formulas::is_cumulative(a.measure) ? 1 : 0); ++b) {
      const double p = formulas::mass(m.load(histogram + b)) / total, q = formulas::mass(m.load(a.target + b)) / target;
      step += p - q;
      sum = formulas::with_bin(a.measure, sum, p, q, step);
    }
    return formulas::finished(a.measure, sum);
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const DistancesRequest& request) {
  launch_each<Distances, NoConfig>(launcher, request.histograms.count, request);
}

}  // namespace areal::kernels
