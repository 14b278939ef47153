#include "stats.hpp"

#include <algorithm>
#include <array>
#include "numbers.hpp"
#include "word_list.hpp"

namespace areal::command {
namespace {

constexpr std::array<std::string_view, 6> stat_names{"sum", "mean", "variance", "std", "count", "tilted"};

}  // namespace

std::string_view name_of(Stat stat) noexcept { return stat_names[static_cast<std::size_t>(stat)]; }

std::vector<Stat> parse_stats(const std::vector<std::string>& texts, Stat last) {
  const auto end = stat_names.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  std::vector<Stat> stats;
  for (const std::string& text : texts)
    for (const std::string_view name : split(text, ',')) {
      const auto at = std::find(stat_names.begin(), end, name);
      if (at == end)
        refuse("--stat ", text, ": ", name, " is no statistic; it may be ",
               word_list(std::vector<std::string>(stat_names.begin(), end)));
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

}  // namespace areal::command
