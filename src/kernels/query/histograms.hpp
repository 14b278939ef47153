#pragma once
// Histograms of regions. 1 launch, a thread a region and bin; a warp has one region, or several where there are fewer
// than 17 bins. Reads at most 4 elements a bin, which depend on nothing but the region; the region is read by all lanes
// that share it, at once. Writes 8 bytes a bin, neighbours side by side.

#include "formulas/variance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

struct HistogramsArgs {
  RegionArgs regions;
  TableArgs first;     ///< the first bin's plane
  std::int64_t plane;  ///< bytes from a bin's plane to the next one's
  std::int64_t bins;
  int log_lanes;  ///< 2 to that power lanes share a region
  void* out;
  bool real;
};

template <class M, class C>
struct Histograms {
  using T = typename C::T;
  using Args = HistogramsArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 8;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = (m.block() * threads + m.thread()) >> a.log_lanes;
    const int lanes = 1 << a.log_lanes;
    bool refused = false;
    if (i < a.regions.count) {
      const Taken t = taken(m, a.regions, i);
      refused = t.refused;
      for (std::int64_t bin = m.thread() & (lanes - 1); bin < a.bins; bin += lanes)
        write(i * a.bins + bin, corners<T>(m, a.first, t.region, bin * a.plane).by_rows(), refused);
    }
    report(m, a.regions.refused, i, refused);
  }

  AREAL_DEVICE void write(std::int64_t at, Difference<T> count, bool refused) {
    if constexpr (std::is_integral_v<T>)
      if (!a.real) {
        m.store_streaming(static_cast<std::uint64_t*>(a.out) + at, static_cast<std::uint64_t>(count));
        return;
      }
    m.store_streaming(static_cast<double*>(a.out) + at,
                      refused ? formulas::not_a_number() : static_cast<double>(count));
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const HistogramsRequest& request) {
  forget_refused(launcher, request.regions);
  const TensorView& tensor = request.tensor;
  HistogramsArgs a{
      region_args(request.regions, tensor.image_width(), tensor.image_height(), tensor.border == Border::exclusive),
      table_args(tensor.view, tensor.border),
      tensor.view.plane_pitch,
      tensor.bins(),
      0,
      request.out,
      request.real};
  while (a.log_lanes < 5 && (1 << a.log_lanes) < a.bins) ++a.log_lanes;
  const std::int64_t lanes = request.regions.count << a.log_lanes;
  if (tensor.view.type == Type::u16)
    launch_each<Histograms, ElementConfig<std::uint16_t>>(launcher, lanes, a);
  else
    launch_each_of<Histograms>(launcher, tensor.view.type, lanes, a);
}

}  // namespace areal::kernels
