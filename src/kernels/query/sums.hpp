#pragma once
// Sums of regions. 1 launch, a thread a region and plane. Reads the region and at most 4 elements of the table, which
// depend on nothing but the region; writes 8 bytes.

#include "formulas/variance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

struct SumsArgs {
  RegionArgs regions;
  TableArgs table;
  void* out;
  bool real;
  PlaneArgs planes;
};

template <class M, class C>
struct Sums {
  using T = typename C::T;
  using Args = SumsArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 8;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    answer_each<threads>(
        m, a.regions.count, a.regions.refused,
        [&](std::int64_t i) {
          const PlaneOfRegion at = plane_of_region(a.planes, i);
          const Taken t = taken(m, a.regions, at.region);
          write(i, corners<T>(m, a.table, t.region, at.offset(a.table)).by_rows(), t.refused);
          return t.refused;
        },
        a.planes.count);
  }

  AREAL_DEVICE void write(std::int64_t i, Difference<T> difference, bool refused) {
    if constexpr (std::is_integral_v<T>) {
      const std::uint64_t sum = widened(difference, a.table.is_signed);
      if (!a.real) {
        m.store_streaming(static_cast<std::uint64_t*>(a.out) + i, sum);
        return;
      }
    }
    m.store_streaming(static_cast<double*>(a.out) + i,
                      refused ? formulas::not_a_number() : real_sum(difference, a.table));
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const SumsRequest& request) {
  forget_refused(launcher, request.regions);
  const TableView& table = request.table;
  const SumsArgs a{
      region_args(request.regions, table.image_width(), table.image_height(), table.border == Border::exclusive),
      table_args(table.view, table.border), request.out, request.real, plane_args(table.view)};
  launch_each_of<Sums>(launcher, table.view.type, request.regions.count * a.planes.count, a);
}

}  // namespace areal::kernels
