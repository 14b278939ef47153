// Sums and means of regions: checks, then one pass of blocks over the table's corners, or a device's request.
#include <areal/region.hpp>
#include "api/core/table_check.hpp"
#include "api/query/query_call.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/query/corner_sums.hpp"
#include "formulas/variance.hpp"

namespace areal {

namespace {

template <class Out>
void sums(const TableView& table, Span<const Region> regions, Span<Out> out, const QueryOptions& options) {
  require_tables(table, "table");
  require_answers(out.size(), "sums", regions.size(), table.view.shape);
  require_sums(table, type_of<Out>);
  QueryCall call(options.execution, {{"table", table.memory()}});
  const RegionRules rules = rules_of(table, options.outside);
  if (!call.on_cpu()) {
    const kernels::RegionList list = listed(call, regions, options, rules);
    return call.answer(kernels::SumsRequest{table, list, call.out(out, "out"), std::is_same_v<Out, double>});
  }
  const std::span<const Region> all(call.in(regions, "regions"), regions.size());
  Out* const answers = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  const auto add = cpu::corner_sums<Out>(table.view.type);
  const std::int64_t planes = planes_of(table.view.shape), channels = table.view.shape.channels;
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<Out> to{answers, planes, p};
    for_each_region_block<1>(
        all, rules, {plane_corner(table, p, channels)}, call.threads(), first_invalid,
        [&](const RegionBlock<1>& block) {
          to.put(block, [&](Out* sum) { add(block.corners[0].data(), block.count, sum); });
        },
        [&](std::int64_t i) { to.put_invalid(i); });
  }
}

void means_of_pixels(const TableView& table, std::span<const Region> regions, const RegionRules& rules, int threads,
                     double* out, FirstInvalid& first_invalid) {
  const auto add = cpu::corner_sums<double>(table.view.type);
  const std::int64_t planes = planes_of(table.view.shape), channels = table.view.shape.channels;
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<double> to{out, planes, p};
    for_each_region_block<1>(
        regions, rules, {plane_corner(table, p, channels)}, threads, first_invalid,
        [&](const RegionBlock<1>& block) {
          to.put(block, [&](double* sum) {
            add(block.corners[0].data(), block.count, sum);
            for (std::int64_t i = 0; i < block.count; ++i)
              sum[i] = block.pixels[i] ? sum[i] / static_cast<double>(block.pixels[i]) : formulas::not_a_number();
          });
        },
        [](std::int64_t) {});  // an empty region's mean is NaN already
  }
}

void means_of_valid(const TableView& table, const TableView& count, std::span<const Region> regions,
                    const RegionRules& rules, int threads, double* out, FirstInvalid& first_invalid) {
  const auto add = cpu::corner_sums<double>(table.view.type), add_count = cpu::corner_sums<double>(count.view.type);
  const std::int64_t planes = planes_of(table.view.shape), channels = table.view.shape.channels;
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<double> to{out, planes, p};
    for_each_region_block<2>(
        regions, rules, {plane_corner(table, p, channels), plane_corner(count, p, channels)}, threads, first_invalid,
        [&](const RegionBlock<2>& block) {
          std::array<double, regions_per_block> counts;
          add_count(block.corners[1].data(), block.count, counts.data());
          to.put(block, [&](double* sum) {
            add(block.corners[0].data(), block.count, sum);
            for (std::int64_t i = 0; i < block.count; ++i)
              sum[i] = counts[i] > 0 ? sum[i] / counts[i] : formulas::not_a_number();
          });
        },
        [](std::int64_t) {});
  }
}

}  // namespace

std::size_t answers_of(const SatView& table, std::size_t regions) {
  require_tables(table.sum, "table");
  const Shape& shape = table.sum.view.shape;
  std::int64_t answers = 0;
  require(!__builtin_mul_overflow(static_cast<std::int64_t>(regions), planes_of(shape), &answers), "regions: ", regions,
          " of them times batch ", shape.batch, " times ", shape.channels, " channels do not fit 63 bits");
  return static_cast<std::size_t>(answers);
}

void region_sums(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options) {
  sums(table.sum, regions, out, options);
}

void region_sums(const SatView& table, Span<const Region> regions, Span<std::uint64_t> out,
                 const QueryOptions& options) {
  sums(table.sum, regions, out, options);
}

void signed_region_sums(const SatView& table, Span<const Region> regions, Span<std::int64_t> out,
                        const QueryOptions& options) {
  sums(table.sum, regions, out, options);
}

double region_sum(const SatView& table, const Region& region, const QueryOptions& options) {
  require_table(table.sum, "table");
  double sum = 0;
  region_sums(table, Span<const Region>(&region, 1), Span<double>(&sum, 1), options);
  return sum;
}

void region_means(const SatView& table, Span<const Region> regions, Span<double> out, const QueryOptions& options) {
  require_tables(table.sum, "table");
  if (table.count) require_count(table.sum, *table.count);
  require_answers(out.size(), "means", regions.size(), table.sum.view.shape);
  QueryCall call(options.execution, {{"table", table.memory()}, {"count", table.count}});
  const RegionRules rules = rules_of(table.sum, options.outside, std::nullopt, table.count);
  if (!call.on_cpu()) {
    const kernels::RegionList list = listed(call, regions, options, rules);
    return call.answer(kernels::StatisticsRequest{kernels::Statistic::mean, table.sum, std::nullopt, table.count, list,
                                                  call.out(out, "out")});
  }
  const std::span<const Region> all(call.in(regions, "regions"), regions.size());
  double* const answers = call.out(out, "out");
  FirstInvalid first_invalid(call, options);
  if (table.count)
    means_of_valid(table.sum, *table.count, all, rules, call.threads(), answers, first_invalid);
  else
    means_of_pixels(table.sum, all, rules, call.threads(), answers, first_invalid);
}

}  // namespace areal
