#pragma once
// What tables say about regions, as rows.

#include <areal/region.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "regions.hpp"

namespace areal::command {

enum class Stat : std::uint8_t { sum, mean, variance, deviation, count, tilted };

/// sum, mean, variance, std, count, tilted; with commas, or given many times. None: the sum.
std::vector<Stat> parse_stats(const std::vector<std::string>& texts);
bool has(const std::vector<Stat>& stats, Stat stat) noexcept;
/// True where a table of squares is needed.
bool needs_squares(const std::vector<Stat>& stats) noexcept;

/// The tables of one channel. Those that a stat needs must be there.
struct Tables {
  TableView sum;
  std::optional<TableView> squares, count;
  std::optional<ConstView> tilted;
};

/// One row a region: what `prefix` puts, the region, the stats in their order.
void write_answers(RowWriter& rows, const std::function<void(RowWriter&)>& prefix, const Tables& tables,
                   const std::vector<media::NamedRegion>& regions, const std::vector<Stat>& stats, Outside outside,
                   int threads);

/// The sums of regions over the whole depth of a volume's table.
void write_volume_answers(RowWriter& rows, const ConstView& table, Border border,
                          const std::vector<media::NamedRegion>& regions, Outside outside);

/// The whole of an image, as a region.
std::vector<media::NamedRegion> whole(std::int64_t width, std::int64_t height);

}  // namespace areal::command
