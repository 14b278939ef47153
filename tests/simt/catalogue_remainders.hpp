#pragma once
// What an algorithm on a GPU reads and writes beside the leading formula of its row in the catalogue, all elements
// together, exactly. Counted from the description of the algorithms; runs nothing.

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include "kasagi_cost.hpp"
#include "research/cost_formula.hpp"

namespace areal::catalogue {

struct Shape3 {
  std::int64_t h, w, b;
};

inline std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Remainder {
  double reads = 0, writes = 0;
};

struct Accesses {
  std::int64_t reads = 0, writes = 0;
  Accesses& operator+=(const Accesses& o) {
    reads += o.reads, writes += o.writes;
    return *this;
  }
};

/// The optimal prefix-sums of a line, in place: of each two elements a coarser one, and of each coarser one two sums.
inline Accesses cost_of_levels(std::int64_t length) {
  Accesses all;
  for (; length > 1; length /= 2) {
    const std::int64_t coarse = length / 2, added = (length - 1) / 2;
    all += {3 * coarse + added, 2 * coarse + added};
  }
  return all;
}

/// Reads, and writes, of the scan of a line by blocks of so many elements: their sums are written, scanned, and added.
inline std::int64_t cost_of_blocks(std::int64_t length, std::int64_t capacity) {
  const std::int64_t blocks = up(length, capacity);
  return blocks == 1 ? length : length + blocks + cost_of_blocks(blocks, capacity) + length;
}

namespace detail {

struct Text {
  std::string_view reads, writes;
};

// T is the side of a tile, C what a block holds.
inline const std::map<std::string_view, Text>& texts() {
  constexpr std::string_view none = "0", carries = "b ((ceil(w / T) - 1) h + (ceil(h / T) - 1) w) - 2 b h w / T";
  static const std::map<std::string_view, Text> all{
      {"2r2w", {none, "-h"}},
      {"4r4w", {none, "-h"}},
      {"4r1w", {"-2 h - 2 w + 1", none}},
      {"1r1w",
       {"(ceil(h / T) - 1) w + (ceil(w / T) - 1) h + (ceil(h / T) - 1) (ceil(w / T) - 1)", "(ceil(w / T) - 1) h"}},
      {"scanrow-brlt", {none, none}},
      {"brlt-scanrow", {none, none}},
      {"scanrow-column", {none, none}},
      {"lookback", {none, none}},
      {"lookback-diagonal", {none, none}},
      {"bands", {none, none}},
      {"relay", {none, none}},
      {"all-partials", {none, none}},
      {"thin", {none, none}},
      {"cw-b", {none, none}},
      {"cw-sts", {none, none}},
      {"cw-tis", {carries, none}},
      {"wf-tis", {carries, "b (ceil(w / T) - 1) h - b h w / T"}}};
  return all;
}

/// Beside reads + r n and writes, of whole tiles of 32.
inline Remainder of_kasagi(const kasagi::Cost& cost, double reads, double writes) {
  return {static_cast<double>(cost.reads) - reads, static_cast<double>(cost.writes) - writes};
}

/// Two transposes; the first sum of a row is copied.
inline Remainder of_umm_optimal(std::int64_t h, std::int64_t w) {
  const Accesses row = cost_of_levels(w), column = cost_of_levels(h);
  const std::int64_t n = h * w;
  return {static_cast<double>(h * (row.reads + 1) + w * column.reads + 2 * n - 10 * n),
          static_cast<double>(h * (row.writes + 1) + w * column.writes + 2 * n - 8 * n)};
}

/// What tiles of 128 x 64 have is kept of whole tiles; and the sums of what lies left or above.
inline Remainder of_anchored(const Shape3& s) {
  const std::int64_t x = up(s.w, 128), y = up(s.h, 64), tiles = x * y, least = std::min(x, y);
  const std::int64_t reads =
      tiles * 384 * s.b + 128 * up(s.h, 4) * x * up(s.b, 8) + s.b * (std::max(x, y) - 1) * least * (least - 1) / 2;
  const std::int64_t writes = tiles * (2048 * up(s.b, 64) + 257 * s.b);
  const auto n = static_cast<double>(s.h * s.w), b = static_cast<double>(s.b);
  return {static_cast<double>(reads) - n * (b * 3 / 64 + static_cast<double>(up(s.b, 8)) / 4),
          static_cast<double>(writes) - n * (b / 32 + static_cast<double>(up(s.b, 64)) / 4)};
}

/// Of bands of 32 rows, as blocks are few. Numbers and what bands and chunks hand over are those of whole quads of rows
/// and whole segments of 128 columns. Each block of the first launch reads the table of 256 bins.
inline Remainder of_count_then_write(const Shape3& s) {
  const std::int64_t cut = up(s.h, 32), rows = up(up(s.h, cut), 8) * 8, bands = up(s.h, rows), groups = up(s.b, 127);
  const std::int64_t segments = up(s.w, 128), chunks = up(segments, 16), chunk = up(segments, chunks);
  const std::int64_t numbers = up(s.h, 4) * segments * 128, words = bands * s.b * segments * 32;
  const std::int64_t left = chunk * chunks * (chunks - 1) / 2, above = s.b * bands * (bands - 1) / 2;
  const std::int64_t reads =
      s.b * numbers + above * segments * 32 + s.b * bands * left * 32 + above * left + 256 * bands * segments * groups;
  const std::int64_t writes = groups * numbers + words + (chunks > 1 ? words + words / 32 : 0);
  const auto n = static_cast<double>(s.h * s.w), b = static_cast<double>(s.b);
  // The formula's part of a segment, instead of a whole one: what all bands below and all chunks to the right read.
  const double y = static_cast<double>(bands) - 1, x = static_cast<double>(chunks) - 1;
  const double handed = b * static_cast<double>(s.w * bands) / 8 * (y + x * (1 + y / 64));
  return {static_cast<double>(reads) - n * b / 4 - handed,
          static_cast<double>(writes) - n * static_cast<double>(groups) / 4};
}

/// The sums of blocks, where lines have several.
inline Remainder of_blocks(const Shape3& s, std::int64_t capacity) {
  const auto sums = [capacity](std::int64_t lines, std::int64_t length) {
    return lines * (cost_of_blocks(length, capacity) - (length > capacity ? 2 : 1) * length);
  };
  const auto all = static_cast<double>(s.b * (sums(s.h, s.w) + sums(s.w, s.h)));
  return {all, all};
}

}  // namespace detail

/// Of a table or a tensor. `tile`, `k` and `capacity` are T, the side of the hybrid's triangles and C.
inline Remainder remainder_of(std::string_view id, const Shape3& s, double tile, std::int64_t k = 0,
                              double capacity = 0) {
  const auto n = static_cast<double>(s.h * s.w);
  if (id == "2r1w") return detail::of_kasagi(kasagi::cost_of_2r1w(s.h, s.w, 32), 2 * n, n);
  if (id == "hybrid-1r1w") {
    const double r = static_cast<double>(k * (k + 1)) / static_cast<double>(up(s.h, 32) * up(s.w, 32));
    return detail::of_kasagi(kasagi::cost_of_hybrid(s.h, s.w, 32, k), (1 + r) * n, n);
  }
  if (id == "umm-optimal") return detail::of_umm_optimal(s.h, s.w);
  if (id == "reduce-then-scan") return detail::of_anchored(s);
  if (id == "count-then-write") return detail::of_count_then_write(s);
  if (capacity > 0) return detail::of_blocks(s, static_cast<std::int64_t>(capacity));
  const detail::Text& text = detail::texts().at(id);
  CostNames names;
  names.h = static_cast<double>(s.h), names.w = static_cast<double>(s.w), names.b = static_cast<double>(s.b);
  names.T = tile;
  return {CostFormula::value(text.reads, names), CostFormula::value(text.writes, names)};
}

}  // namespace areal::catalogue
