#pragma once
// Sums of rotated rectangles from a tilted table. 1 launch, a thread a rectangle. Reads the rectangle and 4 elements of
// the table, at addresses that depend only on the rectangle, none if it is empty; writes 8 bytes.

#include "formulas/corners.hpp"
#include "formulas/variance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

struct RotatedArgs {
  RegionArgs regions;
  TableArgs table;
  double* out;
};

template <class M, class C>
struct Rotated {
  using T = typename C::T;
  using Args = RotatedArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 8;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    answer_each<threads>(m, a.regions.count, a.regions.refused, [&](std::int64_t i) {
      const Region region = region_at(m, a.regions, i);
      const bool refused = !formulas::lies_inside_rotated(region, a.regions.width, a.regions.height);
      m.store_streaming(a.out + i, refused ? formulas::not_a_number() : sum(region));
      return refused;
    });
  }

  AREAL_DEVICE double sum(const Region& region) {
    if (region.width == 0 || region.height == 0) return 0;
    const auto point = [&](int c) { return formulas::rotated_point(region, c); };
    return real_sum(signed_sum<T, 4>(m, a.table, 0, point), a.table);
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const RotatedRequest& request) {
  forget_refused(launcher, request.regions);
  const TableView table{request.tilted, Border::zero};
  const RotatedArgs a{region_args(request.regions, table.image_width(), table.image_height(), false),
                      table_args(table.view, table.border), request.out};
  launch_each_of<Rotated>(launcher, table.view.type, request.regions.count, a);
}

}  // namespace areal::kernels
