// Sums and means of regions: checks, then one pass of blocks over the table's corners.
#include <areal/region.hpp>
#include "api/core/table_check.hpp"
#include "api/query/region_blocks.hpp"
#include "cpu/query/corner_sums.hpp"
#include "formulas/variance.hpp"

namespace areal {

namespace {

RegionRules rules_of(const TableView& table, Outside outside) {
  return {table.image_width(), table.image_height(), outside, table.border == Border::exclusive};
}

template <class Out>
void sums(const TableView& table, std::span<const Region> regions, std::span<Out> out, Outside outside, int threads) {
  require_tables(table, "table");
  require_answers(out.size(), "sums", regions.size(), table.view.shape);
  require_sums(table, type_of<Out>);
  const auto add = cpu::corner_sums<Out>(table.view.type);
  const std::int64_t planes = planes_of(table.view.shape);
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<Out> answers{out.data(), planes, p};
    for_each_region_block<1>(regions, rules_of(table, outside), {plane_corner(table, p, table.view.shape.channels)},
                             threads, [&](const RegionBlock<1>& block) {
                               answers.put(block, [&](Out* sum) { add(block.corners[0].data(), block.count, sum); });
                             });
  }
}

void means(const TableView& table, std::span<const Region> regions, std::span<double> out, Outside outside, int threads,
           const TableView& count) {
  require_count(table, count);
  const auto add = cpu::corner_sums<double>(table.view.type), add_count = cpu::corner_sums<double>(count.view.type);
  RegionRules rules = rules_of(table, outside);
  rules.lacks_last = rules.lacks_last || count.border == Border::exclusive;
  const std::int64_t planes = planes_of(table.view.shape), channels = table.view.shape.channels;
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<double> answers{out.data(), planes, p};
    for_each_region_block<2>(regions, rules, {plane_corner(table, p, channels), plane_corner(count, p, channels)},
                             threads, [&](const RegionBlock<2>& block) {
                               std::array<double, regions_per_block> counts;
                               add_count(block.corners[1].data(), block.count, counts.data());
                               answers.put(block, [&](double* sum) {
                                 add(block.corners[0].data(), block.count, sum);
                                 for (std::int64_t i = 0; i < block.count; ++i)
                                   sum[i] = counts[i] > 0 ? sum[i] / counts[i] : formulas::not_a_number();
                               });
                             });
  }
}

}  // namespace

void region_sums(const TableView& table, std::span<const Region> regions, std::span<std::uint64_t> out, Outside outside,
                 int threads) {
  sums(table, regions, out, outside, threads);
}

void region_sums(const TableView& table, std::span<const Region> regions, std::span<std::int64_t> out, Outside outside,
                 int threads) {
  sums(table, regions, out, outside, threads);
}

void region_sums(const TableView& table, std::span<const Region> regions, std::span<double> out, Outside outside,
                 int threads) {
  sums(table, regions, out, outside, threads);
}

double region_sum(const TableView& table, const Region& region, Outside outside) {
  require_table(table, "table");
  double sum = 0;
  region_sums(table, std::span(&region, 1), std::span(&sum, 1), outside, 1);
  return sum;
}

void region_means(const TableView& table, std::span<const Region> regions, std::span<double> out, Outside outside,
                  int threads, const TableView* count) {
  require_tables(table, "table");
  require_answers(out.size(), "means", regions.size(), table.view.shape);
  if (count) return means(table, regions, out, outside, threads, *count);
  const auto add = cpu::corner_sums<double>(table.view.type);
  const std::int64_t planes = planes_of(table.view.shape);
  for (std::int64_t p = 0; p < planes; ++p) {
    const PlaneAnswers<double> answers{out.data(), planes, p};
    for_each_region_block<1>(regions, rules_of(table, outside), {plane_corner(table, p, table.view.shape.channels)},
                             threads, [&](const RegionBlock<1>& block) {
                               answers.put(block, [&](double* sum) {
                                 add(block.corners[0].data(), block.count, sum);
                                 for (std::int64_t i = 0; i < block.count; ++i)
                                   sum[i] = block.pixels[i] ? sum[i] / static_cast<double>(block.pixels[i])
                                                            : formulas::not_a_number();
                               });
                             });
  }
}

}  // namespace areal
