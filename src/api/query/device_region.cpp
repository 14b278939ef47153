// Regions of tables and tensors on a device: checks, then one request.
#include <areal/device_region.hpp>
#include "api/core/require.hpp"
#include "api/core/table_check.hpp"
#include "api/query/region_device.hpp"

namespace areal {

namespace {

template <class R>
kernels::ListOf<R> listed(std::span<const R> regions, Outside outside, std::int64_t* refused) {
  require_span(regions, std::is_same_v<R, Box> ? "boxes" : "regions");
  require_span(std::span(refused, refused ? 1 : 0), "refused");
  return {regions.data(), static_cast<std::int64_t>(regions.size()), outside, refused};
}

template <class Out>
void require_one_each(std::span<Out> out, std::span<const Region> regions, const TableView& table) {
  require_answers(out.size(), "values", regions.size(), table.view.shape);
  require_span(out, "out");
}

template <class Out>
void sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<Out> out, Outside outside,
          std::int64_t* refused) {
  require_tables(table, "table");
  require_sums(table, type_of<Out>);
  require_one_each(out, regions, table);
  answer(on, kernels::SumsRequest{table, listed(regions, outside, refused), out.data(), std::is_same_v<Out, double>});
}

std::optional<TableView> table_or_none(const TableView* table) {
  return table ? std::optional<TableView>(*table) : std::nullopt;
}

void variances(const Place& on, kernels::Statistic statistic, const TableView& sum, const TableView& squares,
               std::span<const Region> regions, std::span<double> out, Outside outside, std::int64_t* refused,
               const TableView* count) {
  require_variance_tables(sum, squares, count);
  require_one_each(out, regions, sum);
  answer(on, kernels::StatisticsRequest{statistic, sum, squares, table_or_none(count),
                                        listed(regions, outside, refused), out.data()});
}

template <class Out>
void histograms(const Place& on, const TensorView& tensor, std::span<const Region> regions, std::span<Out> out,
                Outside outside, std::int64_t* refused) {
  require_tensor(tensor);
  require_counts(tensor, type_of<Out>);
  require_histograms(out.size(), regions.size(), tensor.bins());
  require_span(out, "out");
  answer(on, kernels::HistogramsRequest{tensor, listed(regions, outside, refused), out.data(),
                                        std::is_same_v<Out, double>});
}

}  // namespace

void region_sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<std::uint64_t> out,
                 Outside outside, std::int64_t* refused) {
  sums(on, table, regions, out, outside, refused);
}

void region_sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<std::int64_t> out,
                 Outside outside, std::int64_t* refused) {
  sums(on, table, regions, out, outside, refused);
}

void region_sums(const Place& on, const TableView& table, std::span<const Region> regions, std::span<double> out,
                 Outside outside, std::int64_t* refused) {
  sums(on, table, regions, out, outside, refused);
}

void region_means(const Place& on, const TableView& table, std::span<const Region> regions, std::span<double> out,
                  Outside outside, std::int64_t* refused, const TableView* count) {
  require_tables(table, "table");
  if (count) require_count(table, *count);
  require_one_each(out, regions, table);
  answer(on, kernels::StatisticsRequest{kernels::Statistic::mean, table, std::nullopt, table_or_none(count),
                                        listed(regions, outside, refused), out.data()});
}

void region_variances(const Place& on, const TableView& sum, const TableView& squares, std::span<const Region> regions,
                      std::span<double> out, Outside outside, std::int64_t* refused, const TableView* count) {
  variances(on, kernels::Statistic::variance, sum, squares, regions, out, outside, refused, count);
}

void region_standard_deviations(const Place& on, const TableView& sum, const TableView& squares,
                                std::span<const Region> regions, std::span<double> out, Outside outside,
                                std::int64_t* refused, const TableView* count) {
  variances(on, kernels::Statistic::standard_deviation, sum, squares, regions, out, outside, refused, count);
}

void box_sums(const Place& on, const ConstView& volume, Border border, std::span<const Box> boxes,
              std::span<double> out, Outside outside, std::int64_t* refused) {
  const formulas::Extents extents = require_volume(volume, border);
  require_sum_each(out.size(), boxes.size(), "boxes");
  require_span(out, "out");
  answer(on, kernels::BoxesRequest{volume, border, extents, listed(boxes, outside, refused), out.data()});
}

void tilted_sums(const Place& on, const ConstView& tilted, std::span<const Region> regions, std::span<double> out,
                 std::int64_t* refused) {
  require_table({tilted, Border::zero}, "tilted");
  require_sum_each(out.size(), regions.size(), "regions");
  require_span(out, "out");
  answer(on, kernels::RotatedRequest{tilted, listed(regions, Outside::error, refused), out.data()});
}

void region_histograms(const Place& on, const TensorView& tensor, std::span<const Region> regions,
                       std::span<std::uint64_t> out, Outside outside, std::int64_t* refused) {
  histograms(on, tensor, regions, out, outside, refused);
}

void region_histograms(const Place& on, const TensorView& tensor, std::span<const Region> regions,
                       std::span<double> out, Outside outside, std::int64_t* refused) {
  histograms(on, tensor, regions, out, outside, refused);
}

}  // namespace areal
