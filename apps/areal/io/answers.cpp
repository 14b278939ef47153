#include "answers.hpp"

#include <variant>
#include "numbers.hpp"

namespace areal::command {
namespace {

using Column = std::variant<std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

Column sums(const TableView& table, const std::vector<Region>& regions, const QueryOptions& options) {
  const Type type = table.view.type;
  if (is_float(type)) return region_sums<double>(table, regions, options);
  if (is_signed_integer(type)) return region_sums<std::int64_t>(table, regions, options);
  return region_sums<std::uint64_t>(table, regions, options);
}

Column answers(Stat stat, const SatView& tables, const std::vector<Region>& regions, const QueryOptions& options) {
  switch (stat) {
    case Stat::sum:
      return sums(tables.sum, regions, options);
    case Stat::count:
      return sums(*tables.count, regions, options);
    case Stat::mean:
      return region_means(tables, regions, options);
    case Stat::variance:
      return region_variances(tables, regions, options);
    case Stat::deviation:
      return region_standard_deviations(tables, regions, options);
    case Stat::tilted:
      break;
  }
  return tilted_sums(tables, regions, {.execution = options.execution});  // which are never clipped
}

}  // namespace

void write_answers(RowWriter& rows, const std::function<void(RowWriter&)>& prefix, const SatView& tables,
                   const std::vector<media::NamedRegion>& regions, const std::vector<Stat>& stats,
                   const QueryOptions& options) {
  const std::vector<Region> rectangles = plain(regions);
  std::vector<Column> columns;
  for (const Stat stat : stats) columns.push_back(answers(stat, tables, rectangles, options));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    prefix(rows);
    put_region(rows, regions[i], i);
    for (std::size_t s = 0; s < stats.size(); ++s)
      std::visit([&](const auto& column) { rows.put(name_of(stats[s]), column[i]); }, columns[s]);
    rows.end();
  }
}

void require_last_frame(const std::string& what, Border border) {
  if (border == Border::exclusive)
    refuse(what, ": a volume's table with the border exclusive lacks the last frame, and so sums of the whole depth");
}

TableView over_depth(const TableView& volume) {
  TableView last = volume;
  last.view.data = last.view.row(0, 0, last.view.shape.batch - 1);
  last.view.shape.batch = 1;
  return last;
}

void write_volume_answers(RowWriter& rows, const TableView& table, const std::vector<media::NamedRegion>& regions,
                          const QueryOptions& options) {
  const std::int64_t depth = table.view.shape.batch - (table.border == Border::zero ? 1 : 0);
  Column column = std::vector<std::uint64_t>(regions.size());
  if (depth > 0) column = sums(over_depth(table), plain(regions), options);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    put_region(rows, regions[i], i);
    rows.put("depth", depth);
    std::visit([&](const auto& values) { rows.put("sum", values[i]); }, column);
    rows.end();
  }
}

std::vector<media::NamedRegion> whole(std::int64_t width, std::int64_t height) {
  return {{Region{0, 0, width, height}, ""}};
}

}  // namespace areal::command
