#pragma once
// Means, variances and standard deviations of regions. 1 launch, a thread a region and plane. Reads the region and at
// most 4 elements of each table; writes 8 bytes. The tables' types are distinguished at run time, uniformly over the
// grid.

#include <cmath>
#include "formulas/variance.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/launches.hpp"
#include "kernels/query/regions.hpp"

namespace areal::kernels {

/// The divisor of a mean.
struct Pixels {
  std::uint64_t whole = 0;
  double real = 0;
};

AREAL_DEVICE double mean_of(const AnySum& sum, const Pixels& n) {
  return n.real > 0 ? sum.real / n.real : formulas::not_a_number();
}
/// The variance or standard deviation of a region or a window.
AREAL_DEVICE double variance_of(Statistic statistic, const TableArgs& table, const AnySum& sum,
                                const TableArgs& squares_table, const AnySum& squares, const Pixels& n) {
  double variance = 0;
  if (table.is_float)
    variance = formulas::variance(sum.real, squares.real, n.real);
  else if (squares_table.is_float)
    variance = formulas::variance(sum.magnitude(table), squares.real, n.whole);
  else
    variance = formulas::variance(sum.magnitude(table), squares.magnitude(squares_table), n.whole);
  return statistic == Statistic::variance ? variance : std::sqrt(variance);
}

struct StatisticsArgs {
  RegionArgs regions;
  TableArgs sum, squares, count;  ///< count without data: all pixels are valid
  Statistic statistic;
  double* out;
  PlaneArgs planes;
};

template <class M, class C>
struct Statistics {
  using Args = StatisticsArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 4;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    answer_each<threads>(
        m, a.regions.count, a.regions.refused,
        [&](std::int64_t i) {
          const PlaneOfRegion at = plane_of_region(a.planes, i);
          const CheckedRegion t = checked_region(m, a.regions, at.region);  // empty if invalid: no pixels
          const AnySum sum = region_sum(m, a.sum, t.region, at.offset(a.sum));
          const bool varies = a.statistic != Statistic::mean;
          const AnySum squares = varies ? region_sum(m, a.squares, t.region, at.offset(a.squares)) : AnySum{};
          const Pixels n = pixels(t.region, at);
          m.store_streaming(a.out + i,
                            varies ? variance_of(a.statistic, a.sum, sum, a.squares, squares, n) : mean_of(sum, n));
          return t.refused;
        },
        a.planes.count);
  }

  AREAL_DEVICE Pixels pixels(const Region& region, const PlaneOfRegion& at) {
    std::uint64_t n = static_cast<std::uint64_t>(region.width) * static_cast<std::uint64_t>(region.height);
    if (a.count.data) {
      const AnySum valid = region_sum(m, a.count, region, at.offset(a.count));
      if (a.statistic == Statistic::mean) return {0, valid.real};
      n = valid.magnitude(a.count);
    }
    return {n, static_cast<double>(n)};
  }
};

template <class Launcher>
void run_query(Launcher& launcher, const StatisticsRequest& request) {
  forget_refused(launcher, request.regions);
  StatisticsArgs a{{},
                   table_args(request.sum.view, request.sum.border),
                   {},
                   {},
                   request.statistic,
                   request.out,
                   plane_args(request.sum.view)};
  bool lacks_last = request.sum.border == Border::exclusive;
  const auto also = [&](const std::optional<TableView>& table, TableArgs& args) {
    if (!table) return;
    args = table_args(table->view, table->border);
    lacks_last = lacks_last || table->border == Border::exclusive;
  };
  also(request.squares, a.squares);
  also(request.count, a.count);
  a.regions = region_args(request.regions, request.sum.image_width(), request.sum.image_height(), lacks_last);
  launch_each<Statistics, NoConfig>(launcher, request.regions.count * a.planes.count, a);
}

}  // namespace areal::kernels
