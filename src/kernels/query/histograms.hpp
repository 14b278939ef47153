#pragma once
// Histograms of regions. 1 launch, a thread a region and bin; a warp has one region, or several if there are fewer than
// 17 bins. Reads at most 4 elements a bin, at addresses that depend only on the region; all lanes that share a region
// read it at once. Writes 8 bytes a bin, coalesced.

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

/// `aligned`: all elements are naturally aligned. The kernel without loads of bytes has registers for eight blocks.
template <class T_, bool aligned_>
struct HistogramsConfig {
  using T = T_;
  static constexpr bool aligned = aligned_;
};

template <class M, class C>
struct Histograms {
  using T = typename C::T;
  using Args = HistogramsArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = C::aligned ? 8 : 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = (m.block() * threads + m.thread()) >> a.log_lanes;
    const int lanes = 1 << a.log_lanes;
    bool refused = false;
    if (i < a.regions.count) {
      const CheckedRegion t = checked_region(m, a.regions, i);
      refused = t.refused;
      TableArgs first = a.first;
      first.aligned = C::aligned;
      for (std::int64_t bin = m.thread() & (lanes - 1); bin < a.bins; bin += lanes)
        write(i * a.bins + bin, corners<T>(m, first, t.region, bin * a.plane).by_rows(), refused);
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

template <class T>
using AlignedHistograms = HistogramsConfig<T, true>;
template <class T>
using OtherHistograms = HistogramsConfig<T, false>;

template <template <class> class Config, class Launcher>
void launch_histograms(Launcher& launcher, Type type, const HistogramsArgs& a) {
  const std::int64_t lanes = a.regions.count << a.log_lanes;
  if (type == Type::u16)
    launch_each<Histograms, Config<std::uint16_t>>(launcher, lanes, a);
  else
    launch_each_of<Histograms, Config>(launcher, type, lanes, a);
}

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
  if (a.first.aligned)
    launch_histograms<AlignedHistograms>(launcher, tensor.view.type, a);
  else
    launch_histograms<OtherHistograms>(launcher, tensor.view.type, a);
}

}  // namespace areal::kernels
