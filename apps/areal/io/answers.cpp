#include "answers.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include "numbers.hpp"

namespace areal::command {
namespace {

constexpr std::array<std::string_view, 6> stat_names{"sum", "mean", "variance", "std", "count", "tilted"};

using Column = std::variant<std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

Column sums(const TableView& table, const std::vector<Region>& regions, Outside outside, int threads) {
  auto of = [&]<class T>(std::vector<T> out) {
    region_sums(table, regions, std::span<T>(out), outside, threads);
    return Column(std::move(out));
  };
  const Type type = table.view.type;
  if (is_float(type)) return of(std::vector<double>(regions.size()));
  if (is_signed_integer(type)) return of(std::vector<std::int64_t>(regions.size()));
  return of(std::vector<std::uint64_t>(regions.size()));
}

Column answers(Stat stat, const Tables& tables, const std::vector<Region>& regions, Outside outside, int threads) {
  if (stat == Stat::sum) return sums(tables.sum, regions, outside, threads);
  if (stat == Stat::count) return sums(*tables.count, regions, outside, threads);
  std::vector<double> out(regions.size());
  const TableView* count = tables.count ? &*tables.count : nullptr;
  switch (stat) {
    case Stat::mean:
      region_means(tables.sum, regions, out, outside, threads, count);
      break;
    case Stat::variance:
      region_variances(tables.sum, *tables.squares, regions, out, outside, threads, count);
      break;
    case Stat::deviation:
      region_standard_deviations(tables.sum, *tables.squares, regions, out, outside, threads, count);
      break;
    default:
      tilted_sums(*tables.tilted, regions, out);
      break;
  }
  return out;
}

}  // namespace

std::vector<Stat> parse_stats(const std::vector<std::string>& texts) {
  std::vector<Stat> stats;
  for (const std::string& text : texts)
    for (const std::string_view name : split(text, ',')) {
      const auto at = std::find(stat_names.begin(), stat_names.end(), name);
      if (at == stat_names.end())
        refuse("--stat ", text, ": ", name, " is none; it may be sum, mean, variance, std, count or tilted");
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

void write_answers(RowWriter& rows, const std::function<void(RowWriter&)>& prefix, const Tables& tables,
                   const std::vector<media::NamedRegion>& regions, const std::vector<Stat>& stats, Outside outside,
                   int threads) {
  const std::vector<Region> rectangles = plain(regions);
  std::vector<Column> columns;
  for (const Stat stat : stats) columns.push_back(answers(stat, tables, rectangles, outside, threads));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    prefix(rows);
    put_region(rows, regions[i], i);
    for (std::size_t s = 0; s < stats.size(); ++s)
      std::visit([&](const auto& column) { rows.put(stat_names[static_cast<std::size_t>(stats[s])], column[i]); },
                 columns[s]);
    rows.end();
  }
}

void write_volume_answers(RowWriter& rows, const ConstView& table, Border border,
                          const std::vector<media::NamedRegion>& regions, Outside outside) {
  const std::int64_t depth = table.shape.batch - (border == Border::zero ? 1 : 0);
  std::vector<Box> boxes;
  for (const media::NamedRegion& named : regions)
    boxes.push_back({named.region.x, named.region.y, 0, named.region.width, named.region.height, depth});
  std::vector<double> sums(boxes.size());
  box_sums(table, border, boxes, sums, outside);
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
