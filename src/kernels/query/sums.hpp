#pragma once
// Sums of regions. 1 launch, a thread a region and plane. Reads the region and at most 4 elements of the table, at
// addresses that depend only on the region; writes 8 bytes.

#include "formulas/variance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

/// Sums of tables with several planes; kernels for one plane save the divisions that find the plane.
template <class T>
struct PlanesConfig : ElementConfig<T> {
  static constexpr bool several_planes = true;
};

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
  static constexpr bool several_planes = requires { C::several_planes; };
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    if constexpr (several_planes) {
      answer_each<threads>(
          m, a.regions.count, a.regions.refused,
          [&](std::int64_t i) {
            const PlaneOfRegion at = plane_of_region(a.planes, i);
            return answer(i, at.region, at.offset(a.table));
          },
          a.planes.count);
    } else {
      answer_each<threads>(m, a.regions.count, a.regions.refused, [&](std::int64_t i) { return answer(i, i, 0); });
    }
  }

  /// True if the region is invalid.
  AREAL_DEVICE bool answer(std::int64_t i, std::int64_t region, std::int64_t plane) {
    const CheckedRegion t = checked_region(m, a.regions, region);
    write(i, corners<T>(m, a.table, t.region, plane).by_rows(), t.refused);
    return t.refused;
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
  const std::int64_t answers = request.regions.count * a.planes.count;
  if (a.planes.count == 1) return launch_each_of<Sums>(launcher, table.view.type, answers, a);
  launch_each_of<Sums, PlanesConfig>(launcher, table.view.type, answers, a);
}

}  // namespace areal::kernels
