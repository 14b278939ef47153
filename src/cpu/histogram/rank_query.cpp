#include <algorithm>
#include <array>
#include <cstring>
#include "cpu/histogram/rank.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/histogram/rank_query.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AREAL_RANK_QUERY_ARGUMENTS
#define AREAL_RANK_QUERY_ARGUMENTS
namespace areal::cpu {
namespace {

using formulas::Rank;
using formulas::RankLine;

/// The bits of a line's first `i` positions, with 0 where the line has its number of zeros.
struct LineMasks {
  std::array<std::array<std::uint64_t, 4>, RankLine::positions> of{};
  constexpr LineMasks() {
    for (std::size_t i = 0; i < of.size(); ++i)
      for (std::size_t bit = 32; bit < 32 + i; ++bit) of[i][bit / 64] |= std::uint64_t{1} << bit % 64;
  }
};
alignas(64) constexpr LineMasks line_masks;

/// A region's keys in one plane: a range of positions of each of its panels.
struct Ranges {
  int count = 0;
  std::array<const RankLine*, Rank::most_panels> lines;       ///< of plane 0
  std::array<const std::uint32_t*, Rank::most_panels> zeros;  ///< of all planes
  std::array<std::uint32_t, Rank::most_panels> begin, end;
};

struct Descent {
  const Rank& r;
  Ranges ranges;
};

}  // namespace
}  // namespace areal::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace areal::cpu::HWY_NAMESPACE {
namespace {

// Targets but the first have an instruction for popcounts.
inline std::uint32_t zeros_before(const RankLine* lines, std::uint32_t position) {
  constexpr auto positions = static_cast<std::uint32_t>(RankLine::positions);
  const std::uint32_t line = position / positions, rest = position - line * positions;
  std::uint64_t words[4];
  std::memcpy(words, lines + line, sizeof words);
  const auto& masks = line_masks.of[rest];
  int ones = 0;
  for (std::size_t i = 0; i < 4; ++i) ones += __builtin_popcountll(words[i] & masks[i]);
  return static_cast<std::uint32_t>(words[0]) + rest - static_cast<std::uint32_t>(ones);
}

inline void prefetch(const RankLine* lines, std::uint32_t position) {
  __builtin_prefetch(lines + position / static_cast<std::uint32_t>(RankLine::positions));
}

/// The zeros before the ranges' ends in a plane.
struct Zeros {
  std::array<std::uint32_t, Rank::most_panels> begin, end;
};

std::uint64_t count_zeros(const Rank& r, const Ranges& ranges, int plane, Zeros& zeros) {
  std::uint64_t total = 0;
  const std::int64_t lines = plane * r.lines;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ranges.count); ++i) {
    zeros.begin[i] = zeros_before(ranges.lines[i] + lines, ranges.begin[i]);
    zeros.end[i] = zeros_before(ranges.lines[i] + lines, ranges.end[i]);
    total += zeros.end[i] - zeros.begin[i];
  }
  return total;
}

/// To the zeros or the ones. Panels without keys there are left out.
void go(const Rank& r, Ranges& ranges, int plane, bool ones, const Zeros& zeros) {
  const std::int64_t next = plane + 1 < r.planes ? (plane + 1) * r.lines : 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ranges.count); ++i) {
    std::uint32_t begin = zeros.begin[i], end = zeros.end[i];
    if (ones) {
      const std::uint32_t all = ranges.zeros[i][plane];
      begin = all + ranges.begin[i] - begin;
      end = all + ranges.end[i] - end;
    }
    ranges.lines[kept] = ranges.lines[i];
    ranges.zeros[kept] = ranges.zeros[i];
    ranges.begin[kept] = begin;
    ranges.end[kept] = end;
    prefetch(ranges.lines[kept] + next, begin);
    prefetch(ranges.lines[kept] + next, end);
    kept += begin != end ? 1 : 0;
  }
  ranges.count = static_cast<int>(kept);
}

void select_from(const Rank& r, Ranges& ranges, int plane, std::uint64_t key, std::uint64_t first,
                 std::span<const std::uint64_t> ranks, std::uint64_t* keys) {
  for (; plane < r.planes; ++plane) {
    Zeros zeros;
    const std::uint64_t ones_from = first + count_zeros(r, ranges, plane, zeros);
    // Both sides if some ranks are among the zeros and some among the ones.
    const auto below =
        static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), ones_from) - ranks.begin());
    if (below > 0 && below < ranks.size()) {
      Ranges left = ranges;
      go(r, left, plane, false, zeros);
      select_from(r, left, plane + 1, key << 1, first, ranks.first(below), keys);
      ranks = ranks.subspan(below);
      keys += below;
    }
    const bool ones = ranks.front() >= ones_from;
    go(r, ranges, plane, ones, zeros);
    key = key << 1 | (ones ? 1 : 0);
    if (ones) first = ones_from;
  }
  std::fill_n(keys, ranks.size(), key);
}

}  // namespace

void select(Descent& descent, std::span<const std::uint64_t> ranks, std::uint64_t* keys) {
  select_from(descent.r, descent.ranges, 0, 0, 0, ranks, keys);
}

std::uint64_t below(Descent& descent, std::uint64_t key) {
  const Rank& r = descent.r;
  std::uint64_t count = 0;
  for (int plane = 0; plane < r.planes && descent.ranges.count > 0; ++plane) {
    Zeros zeros;
    const std::uint64_t some = count_zeros(r, descent.ranges, plane, zeros);
    const bool ones = (key >> (r.planes - 1 - plane) & 1) != 0;
    if (ones) count += some;
    go(r, descent.ranges, plane, ones, zeros);
  }
  return count;
}

}  // namespace areal::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace areal::cpu {
namespace {

HWY_EXPORT(select);
HWY_EXPORT(below);

void start(const Rank& r, const std::byte* store, std::int64_t matrix, const Region& region, Ranges& ranges) {
  const auto* const lines = reinterpret_cast<const RankLine*>(store);
  const auto* const zeros = reinterpret_cast<const std::uint32_t*>(store + r.zeros_at());
  std::array<formulas::RankPanel, Rank::most_panels> panels;
  ranges.count = r.cover(region.x, region.x + region.width, panels.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(ranges.count); ++i) {
    const auto [level, panel] = panels[i];
    const std::int64_t columns = r.columns(level, panel);
    ranges.lines[i] = lines + r.line(matrix, 0, level, panel);
    ranges.zeros[i] = zeros + r.zeros(matrix, level, panel);
    ranges.begin[i] = static_cast<std::uint32_t>(region.y * columns);
    ranges.end[i] = static_cast<std::uint32_t>((region.y + region.height) * columns);
    for (const std::uint32_t at : {ranges.begin[i], ranges.end[i]})
      __builtin_prefetch(ranges.lines[i] + at / static_cast<std::uint32_t>(RankLine::positions));
    __builtin_prefetch(ranges.zeros[i]);
  }
}

}  // namespace

void rank_select(const Rank& r, const std::byte* store, std::int64_t matrix, const Region& region,
                 std::span<const std::uint64_t> ranks, std::uint64_t* keys) {
  if (ranks.empty()) return;
  Descent descent{r, {}};
  start(r, store, matrix, region, descent.ranges);
  HWY_DYNAMIC_DISPATCH(select)(descent, ranks, keys);
}

std::uint64_t rank_below(const Rank& r, const std::byte* store, std::int64_t matrix, const Region& region,
                         std::uint64_t key) {
  Descent descent{r, {}};
  start(r, store, matrix, region, descent.ranges);
  return HWY_DYNAMIC_DISPATCH(below)(descent, key);
}

}  // namespace areal::cpu
#endif
