// Variances of regions: the kinds of the two tables choose the arithmetic, once.
#include <areal/region.hpp>
#include <cmath>
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/query/corner_sums.hpp"
#include "formulas/variance.hpp"

namespace areal {

namespace {

// |S| of an integer table of any sign.
void magnitudes(Type type, const cpu::Corners* corners, std::int64_t n, std::uint64_t* out) {
  if (!is_signed_integer(type)) return cpu::corner_sums<std::uint64_t>(type)(corners, n, out);
  std::array<std::int64_t, regions_per_block> sums;
  cpu::corner_sums<std::int64_t>(type)(corners, n, sums.data());
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = sums[i] < 0 ? 0 - static_cast<std::uint64_t>(sums[i]) : static_cast<std::uint64_t>(sums[i]);
}

// The block's variances, from its first table's sums and its second's squares over n pixels each.
template <std::size_t Tables>
void variances(const RegionBlock<Tables>& block, Type sum, Type squares, const std::uint64_t* n, double* out) {
  std::array<std::uint64_t, regions_per_block> s1, s2;
  std::array<double, regions_per_block> d1, d2;
  const cpu::Corners *first = block.corners[0].data(), *second = block.corners[1].data();
  const bool integers = !is_float(sum), integer_squares = !is_float(squares);
  if (integers) magnitudes(sum, first, block.count, s1.data());
  if (!integers) cpu::corner_sums<double>(sum)(first, block.count, d1.data());
  if (integers && integer_squares) magnitudes(squares, second, block.count, s2.data());
  if (!integers || !integer_squares) cpu::corner_sums<double>(squares)(second, block.count, d2.data());
  for (std::int64_t i = 0; i < block.count; ++i) {
    if (integers && integer_squares)
      out[i] = formulas::variance(s1[i], s2[i], n[i]);
    else if (integers)
      out[i] = formulas::variance(s1[i], d2[i], n[i]);
    else
      out[i] = formulas::variance(d1[i], d2[i], static_cast<double>(n[i]));
  }
}

void variances(kernels::Statistic statistic, const SatView& table, Span<const Region> regions, Span<double> out,
               const QueryOptions& options) {
  require_squares(table);
  const TableView &sum = table.sum, &squares = *table.squares;
  require_variance_tables(sum, squares, table.count ? &*table.count : nullptr);
  require_answers(out.size(), "variances", regions.size(), sum.view.shape);
  QueryCall call(options.execution, {{"sum", sum.memory()}, {"squares", squares.memory()}, {"count", table.count}});
  const RegionRules rules = rules_of(sum, options.outside, squares, table.count);
  if (!call.on_cpu()) {
    const kernels::RegionList list = listed(call, regions, options, rules);
    return call.answer(kernels::StatisticsRequest{statistic, sum, squares, table.count, list, call.out(out, "out")});
  }
  const std::span<const Region> all(call.in(regions, "regions"), regions.size());
  double* const answers = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  const auto is_nan_already = [](std::int64_t) {};  // as an empty region's variance is
  const std::int64_t planes = planes_of(sum.view.shape), channels = sum.view.shape.channels;
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<double> to{answers, planes, p};
    const cpu::Corner sum_corner = plane_corner(sum, p, channels), squares_corner = plane_corner(squares, p, channels);
    const auto answer = [&](const auto& block, const std::uint64_t* n) {
      to.put(block, [&](double* values) {
        variances(block, sum.view.type, squares.view.type, n, values);
        if (statistic == kernels::Statistic::standard_deviation)
          for (std::int64_t i = 0; i < block.count; ++i) values[i] = std::sqrt(values[i]);
      });
    };
    if (!table.count) {
      for_each_region_block<2>(
          all, rules, {sum_corner, squares_corner}, call.threads(), first_invalid,
          [&](const RegionBlock<2>& block) { answer(block, block.pixels.data()); }, is_nan_already);
      continue;
    }
    const TableView& count = *table.count;
    for_each_region_block<3>(
        all, rules, {sum_corner, squares_corner, plane_corner(count, p, channels)}, call.threads(), first_invalid,
        [&](const RegionBlock<3>& block) {
          std::array<std::uint64_t, regions_per_block> n;
          magnitudes(count.view.type, block.corners[2].data(), block.count, n.data());
          answer(block, n.data());
        },
        is_nan_already);
  }
}

}  // namespace

void region_variances(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options) {
  variances(kernels::Statistic::variance, table, regions, out, options);
}

void region_standard_deviations(const SatView& table, Span<const Region> regions, Span<double> out,
                                const QueryOptions& options) {
  variances(kernels::Statistic::standard_deviation, table, regions, out, options);
}

}  // namespace areal
