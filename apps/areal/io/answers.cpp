#include "answers.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include "numbers.hpp"

namespace areal::command {
namespace {

constexpr std::array<std::string_view, 6> stat_names{"sum", "mean", "variance", "std", "count", "tilted"};

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

std::vector<Stat> parse_stats(const std::vector<std::string>& texts) {
  std::vector<Stat> stats;
  for (const std::string& text : texts)
    for (const std::string_view name : split(text, ',')) {
      const auto at = std::find(stat_names.begin(), stat_names.end(), name);
      if (at == stat_names.end())
        refuse("--stat ", text, ": ", name, " is no statistic; it may be sum, mean, variance, std, count or tilted");
      const Stat stat = static_cast<Stat>(at - stat_names.begin());
      if (!has(stats, stat)) stats.push_back(stat);
    }
  if (stats.empty()) stats.push_back(Stat::sum);
  return stats;
}

bool has(const std::vector<Stat>& stats, Stat stat) noexcept {
  return std::find(stats.begin(), stats.end(), stat) != stats.end();
}

bool needs_squares(const std::vector<Stat>& stats) noexcept {
  return has(stats, Stat::variance) || has(stats, Stat::deviation);
}

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
      std::visit([&](const auto& column) { rows.put(stat_names[static_cast<std::size_t>(stats[s])], column[i]); },
                 columns[s]);
    rows.end();
  }
}

void write_volume_answers(RowWriter& rows, const TableView& table, const std::vector<media::NamedRegion>& regions,
                          const QueryOptions& options) {
  const std::int64_t depth = table.view.shape.batch - (table.border == Border::zero ? 1 : 0);
  std::vector<Box> boxes;
  for (const media::NamedRegion& named : regions)
    boxes.push_back({named.region.x, named.region.y, 0, named.region.width, named.region.height, depth});
  const std::vector<double> sums = box_sums(table, boxes, options);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    put_region(rows, regions[i], i);
    rows.put("depth", depth);
    rows.put("sum", sums[i]);
    rows.end();
  }
}

std::vector<media::NamedRegion> whole(std::int64_t width, std::int64_t height) {
  return {{Region{0, 0, width, height}, ""}};
}

}  // namespace areal::command
