#pragma once
// The distance of every window's histogram to one target. 1 launch, a thread a window, which walks its bins in order,
// once for the window's total and once for the distance. Reads 8 elements a bin and window, coalesced, and the target
// twice; writes 1.

#include "formulas/distance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/reduce.hpp"
#include "kernels/query/tiles.hpp"

namespace areal::kernels {

struct DistanceMapArgs {
  TableArgs first;     ///< the first bin's plane
  std::int64_t plane;  ///< bytes from a bin's plane to the next one's
  std::int64_t bins;
  std::int64_t width, height;  ///< of the window
  const double* target;
  Distance measure;
  OutputArgs out;
};

template <class M, class C>
struct DistanceMap {
  using Args = DistanceMapArgs;
  using Shared = NoShared;
  static constexpr int threads = warp_size * output_tile_height, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const OutputPlace at = output_place(m, a.out, m.block());
    if (at.x >= a.out.width || at.y >= a.out.height) return;
    const Region window{at.x, at.y, a.width, a.height};
    double total = 0;
    for (std::int64_t b = 0; b < a.bins; ++b) total += count(window, b);
    write_output(m, a.out, at, distance(window, total, total_of(m, a.target, a.bins)));
  }

  /// The window's count in a bin; rounding errors below zero become zero, and NaN stays.
  AREAL_DEVICE double count(const Region& window, std::int64_t bin) {
    const double count = region_sum(m, a.first, window, bin * a.plane).real;
    return count > 0 ? count : count - count;
  }

  AREAL_DEVICE double distance(const Region& window, double total, double target) {
    if (total == 0 && target == 0) return 0;
    if (total == 0 || target == 0) return formulas::largest_distance(a.measure, a.bins);
    double sum = 0, step = 0;
    for (std::int64_t b = 0; b < a.bins - (formulas::is_cumulative(a.measure) ? 1 : 0); ++b) {
      const double p = count(window, b) / total, q = formulas::share(m.load(a.target + b), target);
      step += p - q;
      sum = formulas::with_bin(a.measure, sum, p, q, step);
    }
    return formulas::finished(a.measure, sum);
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const DistanceMapRequest& request) {
  const TensorView& tensor = request.tensor;
  const DistanceMapArgs a{table_args(tensor.view, tensor.border),
                          tensor.view.plane_pitch,
                          tensor.bins(),
                          request.width,
                          request.height,
                          request.target,
                          request.measure,
                          output_args(request.out)};
  launcher.template launch<DistanceMap, NoConfig>(output_blocks(a.out), a, false);
}

}  // namespace areal::kernels
