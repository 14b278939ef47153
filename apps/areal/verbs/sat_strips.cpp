#include "sat_strips.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/strips.hpp>
#include <array>
#include <optional>
#include <variant>
#include "io/large_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"

namespace areal::command {
namespace {

using Column = std::variant<std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

// Of each region: as it was read, as StripSums keeps it, and its answers.
constexpr std::uint64_t region_bytes = 2 * sizeof(media::NamedRegion) + sizeof(Region) + 40 + 6 * 8;

Column column_of(Stat stat, const StripSums& sums, Type type) {
  if (stat == Stat::mean) return sums.means();
  if (stat == Stat::variance) return sums.variances();
  if (stat == Stat::deviation) return sums.standard_deviations();
  if (is_float(type)) return sums.sums<double>();
  if (is_signed_integer(type)) return sums.sums<std::int64_t>();
  return sums.sums<std::uint64_t>();
}

std::string_view name_of_stat(Stat stat) {
  constexpr std::array<std::string_view, 4> names{"sum", "mean", "variance", "std"};
  return names[static_cast<std::size_t>(stat)];
}

}  // namespace

void sat_by_strips(const std::string& option, const std::string& without, const InputOptions& input,
                   const RegionOptions& regions, const std::vector<Stat>& stats, const Settings& settings) {
  if (!without.empty()) refuse(without, ": not with --memory; strips answer sums, means, variances and std alone");
  for (const Stat stat : stats)
    if (stat == Stat::count || stat == Stat::tilted) refuse("--stat: strips answer sum, mean, variance and std");
  const std::uint64_t memory = memory_for_work(option);
  const LargeImage image(input, memory / 4, settings);
  StripOptions strips{.execution = settings.execution()};
  if (memory > 0) {
    const std::uint64_t taken = image.memory() + regions.regions.size() * region_bytes;
    if (memory <= taken)
      throw OutOfMemory(fmt::format("--memory {}: the image and the regions alone take {}M", option,
                                    ((process_bytes + taken) >> 20) + 1),
                        process_bytes + taken);
    strips.memory = memory - taken;
  }
  std::optional<ProgressBar> bar;
  strips.progress = [&](std::int64_t done, std::int64_t total) {
    if (!bar) bar.emplace("rows", total, settings.quiet);
    if (bar->due()) bar->update(done, bar->left(done));
    return true;
  };
  StripSums sums(image.shape(), image.type(), plain(regions.regions),
                 {.squares = needs_squares(stats), .outside = regions.outside_or(Outside::error)}, strips);
  settings.detail("{}: {}x{} {}, in strips of {} rows", input.path, image.shape().width, image.shape().height,
                  name_of(image.type()), sums.strip_height());
  sums.run(image.reader());
  bar.reset();

  std::vector<Column> columns;
  for (const Stat stat : stats) columns.push_back(column_of(stat, sums, image.type()));
  RowWriter rows(settings.json);
  for (std::size_t i = 0; i < regions.regions.size(); ++i) {
    put_region(rows, regions.regions[i], i);
    for (std::size_t s = 0; s < stats.size(); ++s)
      std::visit([&](const auto& column) { rows.put(name_of_stat(stats[s]), column[i]); }, columns[s]);
    rows.end();
  }
}

}  // namespace areal::command
