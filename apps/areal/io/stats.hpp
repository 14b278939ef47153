#pragma once
// --stat: what is answered of a region.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace areal::command {

enum class Stat : std::uint8_t { sum, mean, variance, deviation, count, tilted };

/// As --stat and the columns have it.
std::string_view name_of(Stat stat) noexcept;
/// The names of the statistics up to `last`, separated by commas, or given many times. None: the sum.
std::vector<Stat> parse_stats(const std::vector<std::string>& texts, Stat last = Stat::tilted);
bool has(const std::vector<Stat>& stats, Stat stat) noexcept;
/// True where a table of squares is needed.
bool needs_squares(const std::vector<Stat>& stats) noexcept;

}  // namespace areal::command
