#pragma once
// --stat: the statistics of a region.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace areal::command {

enum class Stat : std::uint8_t { sum, mean, variance, deviation, count, tilted };

/// The name in --stat and in column headers.
std::string_view name_of(Stat stat) noexcept;
/// Parses texts of names separated by commas, of statistics up to `last`. No text: the sum.
std::vector<Stat> parse_stats(const std::vector<std::string>& texts, Stat last = Stat::tilted);
bool has(const std::vector<Stat>& stats, Stat stat) noexcept;
/// Does any of them need a table of squares?
bool needs_squares(const std::vector<Stat>& stats) noexcept;

}  // namespace areal::command
