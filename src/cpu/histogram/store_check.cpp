#include "cpu/histogram/store_check.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

using formulas::Rank;
using formulas::RankLine;

template <class Label>
bool labels_fit(const Label* labels, std::int64_t count, std::int64_t bins, int threads) {
  constexpr auto none = static_cast<Label>(~Label{0});
  std::atomic<bool> fit = true;
  parallel_ranges(threads, count, std::int64_t{1} << 16, [&](std::int64_t begin, std::int64_t end) {
    bool all = true;
    for (std::int64_t i = begin; i < end; ++i) all = all && (labels[i] < bins || labels[i] == none);
    if (!all) fit = false;
  });
  return fit;
}

/// One plane of one panel of `positions` keys.
bool is_plane(const RankLine* line, std::int64_t positions, std::uint32_t zeros) {
  std::int64_t before = 0;
  for (std::int64_t left = positions; left >= 0; left -= RankLine::positions, ++line) {
    if (line->zeros != before) return false;
    const std::int64_t here = std::min(left, RankLine::positions);
    std::int64_t ones = 0;
    for (int word = 0; word < RankLine::words; ++word) {
      const std::int64_t used = std::clamp<std::int64_t>(here - 32 * word, 0, 32);
      if ((static_cast<std::uint64_t>(line->bits[word]) >> used) != 0) return false;
      ones += std::popcount(line->bits[word]);
    }
    before += here - ones;
  }
  return before == zeros;
}

}  // namespace

bool has_labels(const formulas::Compact& c, const std::byte* store, int threads) {
  const std::byte* const labels = store + c.labels_at();
  if (c.label_bytes == 2)
    return labels_fit(reinterpret_cast<const std::uint16_t*>(labels), c.labels(), c.bins, threads);
  return labels_fit(reinterpret_cast<const std::uint8_t*>(labels), c.labels(), c.bins, threads);
}

bool has_lines(const Rank& r, const std::byte* store, int threads) {
  const auto* const lines = reinterpret_cast<const RankLine*>(store);
  const auto* const zeros = reinterpret_cast<const std::uint32_t*>(store + r.zeros_at());
  std::atomic<bool> all = true;
  for (std::int64_t matrix = 0; matrix < r.matrices; ++matrix)
    for (int level = 0; level < r.levels && all; ++level)
      parallel_ranges(threads, r.panels_at(level), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t panel = begin; panel < end; ++panel)
          for (int plane = 0; plane < r.planes; ++plane)
            if (!is_plane(lines + r.line(matrix, plane, level, panel), r.height * r.columns(level, panel),
                          zeros[r.zeros(matrix, level, panel) + plane]))
              all = false;
      });
  return all;
}

}  // namespace areal::cpu
