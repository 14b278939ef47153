#include "synthetic.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include "numbers.hpp"

namespace areal::command {
namespace {

constexpr std::int64_t period_x = 251, period_y = 241;
constexpr std::int64_t stored = period_x + 4096;  // per row: long rows need few copies
constexpr std::int64_t most_side = std::int64_t{1} << 40;

std::uint64_t mix(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EB;
  return state ^ (state >> 31);
}

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

SyntheticImage::SyntheticImage(const std::string& name) {
  const auto parts = split(name, ':');
  const auto sides = parts.size() == 3 ? split(parts[1], 'x') : std::vector<std::string_view>();
  if (sides.size() != 2) refuse(name, ": may be synthetic:WxH:SEED, for example synthetic:300000x300000:1");
  shape_ = {whole_number(name, sides[0], 0, most_side), whole_number(name, sides[1], 0, most_side)};
  const auto seed = static_cast<std::uint64_t>(whole_number(name, parts[2], 0));
  rows_.resize(at(period_y * stored));
  table_.resize(at((period_y + 1) * (period_x + 1)));
  for (std::int64_t y = 0; y < period_y; ++y) {
    std::uint8_t* const row = &rows_[at(y * stored)];
    std::uint64_t sum = 0;
    for (std::int64_t x = 0; x < period_x; ++x) {
      row[x] = static_cast<std::uint8_t>(mix(seed + static_cast<std::uint64_t>(period_x * y + x)) >> 56);
      sum += row[x];
      table_[at((y + 1) * (period_x + 1) + x + 1)] = table_[at(y * (period_x + 1) + x + 1)] + sum;
    }
    for (std::int64_t x = period_x; x < stored; ++x) row[x] = row[x - period_x];
  }
}

void SyntheticImage::read(std::int64_t x, std::int64_t y, const View& into) const {
  for (std::int64_t v = 0; v < into.shape.height; ++v) {
    const std::uint8_t* const row = &rows_[at((y + v) % period_y * stored)];
    auto* const out = static_cast<std::uint8_t*>(into.row(v));
    for (std::int64_t u = 0; u < into.shape.width;) {
      const std::int64_t from = (x + u) % period_x, count = std::min(into.shape.width - u, stored - from);
      std::memcpy(out + u, row + from, at(count));
      u += count;
    }
  }
}

std::uint64_t SyntheticImage::period_sum(std::int64_t x, std::int64_t y) const {
  return table_[at(y * (period_x + 1) + x)];
}

/// The sum of rows [0, y) and columns [0, x): whole periods and the remainders.
std::uint64_t SyntheticImage::sum_to(std::int64_t x, std::int64_t y) const {
  const auto columns = static_cast<std::uint64_t>(x / period_x), rows = static_cast<std::uint64_t>(y / period_y);
  const std::int64_t u = x % period_x, v = y % period_y;
  return columns * rows * period_sum(period_x, period_y) + rows * period_sum(u, period_y) +
         columns * period_sum(period_x, v) + period_sum(u, v);
}

std::uint64_t SyntheticImage::sum(const Region& r) const {
  return sum_to(r.x + r.width, r.y + r.height) - sum_to(r.x, r.y + r.height) - sum_to(r.x + r.width, r.y) +
         sum_to(r.x, r.y);
}

}  // namespace areal::command
