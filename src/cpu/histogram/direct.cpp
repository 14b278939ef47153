#include "cpu/histogram/direct.hpp"

#include <algorithm>
#include <cstring>
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

// Neighbouring pixels are alike: were they counted in one place, each would wait for the one before.
constexpr int tables = 4;
constexpr std::int64_t most_rows_bytes = std::int64_t{1} << 31;  // that 32-bit counts hold

struct Counts {
  std::uint32_t of[tables][256];
};

void count_row(const std::uint8_t* row, std::int64_t width, Counts& counts) {
  std::int64_t x = 0;
  for (; x + 8 <= width; x += 8) {
    std::uint64_t pixels;
    std::memcpy(&pixels, row + x, 8);
    for (int i = 0; i < 8; ++i) ++counts.of[i % tables][pixels >> (8 * i) & 0xff];
  }
  for (; x < width; ++x) ++counts.of[0][row[x]];
}

void add(const PixelBins& rule, const Counts& counts, std::uint64_t* out) {
  const std::vector<std::uint16_t>& bin_of = rule.channels[0].table;
  for (std::size_t v = 0; v < 256; ++v) {
    std::uint64_t sum = 0;
    for (const auto& table : counts.of) sum += table[v];
    if (bin_of[v] != ChannelBins::none) out[bin_of[v]] += sum;
  }
}

void count(const PixelBins& rule, const ConstView& image, const Region& region, std::uint64_t* out) {
  std::fill_n(out, rule.bins, 0);
  if (region.width == 0 || region.height == 0) return;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, most_rows_bytes / region.width);
  for (std::int64_t y = region.y, end = region.y + region.height; y < end;) {
    Counts counts{};
    for (const std::int64_t until = std::min(end, y + rows_at_once); y < until; ++y)
      count_row(static_cast<const std::uint8_t*>(image.row(y)) + region.x, region.width, counts);
    add(rule, counts, out);
  }
}

}  // namespace

bool has_direct_counts(const PixelBins& rule, const Shape& image) {
  return rule.is_table() && size_of(rule.type) == 1 && image.channels == 1;
}

bool direct_is_less(const Shape& image, std::span<const Region> regions) {
  double pixels = 0;
  std::int64_t rows = 0;
  for (const Region& region : regions) {
    pixels += static_cast<double>(region.width) * static_cast<double>(region.height) + tables * 256;
    rows = std::max(rows, region.y + region.height);
  }
  return pixels <= 4 * static_cast<double>(image.width) * static_cast<double>(rows);
}

void direct_counts(const PixelBins& rule, const ConstView& image, std::span<const Region> regions,
                   std::span<std::uint64_t> out, int threads) {
  const auto one = [&](std::int64_t i) {
    count(rule, image, regions[static_cast<std::size_t>(i)], out.data() + i * rule.bins);
  };
  const auto n = static_cast<std::int64_t>(regions.size());
  if (threads == 1)
    for (std::int64_t i = 0; i < n; ++i) one(i);
  else
    parallel_for(threads, n, one);
}

}  // namespace areal::cpu
