#pragma once
// A box of a compact store (formulas/compact.hpp): its corners, its edges' pairs of strips, and the pixels that are
// counted by their labels. All addresses depend on the box alone.

#include <cstdint>
#include "formulas/compact.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/query/regions.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

struct CompactCountsArgs {
  RegionArgs regions;
  formulas::Compact c;
  const char* store = nullptr;
  std::int64_t image = 0;
  std::int64_t most = 0;  ///< that a pair of strips counts
  void* out = nullptr;
  bool real = false;
  bool pairs = false;  ///< 16-byte stores of a histogram's even bins are aligned
};

/// The strips of an edge: of the lattice lines of the other axis.
struct CompactEdge {
  std::int64_t at = 0, pitch = 0;  ///< bytes from the store's first to the strip of line 0; to the next line's
  std::int64_t first = 0, last = 0, step = 1;  ///< lattice lines; those that one pair may span
  bool is_reversed = false;                    ///< the pair's earlier strip is the larger
  bool is_negative = false;
};

/// A rectangle whose pixels are counted.
struct CompactRectangle {
  std::int64_t x = 0, y = 0;
  int width = 0, pixels = 0;
  std::uint32_t reciprocal = 0;
  bool is_negative = false;

  /// Pixel i, row by row, for fewer than 2^14 pixels in at most 256 rows and columns: the product stays below 2^32 and
  /// the quotient is exact.
  AREAL_DEVICE std::int64_t label(const formulas::Compact& c, std::int64_t image, int i) const {
    const auto row = static_cast<int>(static_cast<std::uint32_t>(i) * reciprocal >> 23);
    return c.label(image, y + row, x + (i - row * width));
  }
  AREAL_DEVICE static CompactRectangle of(std::int64_t x0, std::int64_t x1, std::int64_t y0, std::int64_t y1,
                                          int sign) {
    CompactRectangle r{x0, y0, static_cast<int>(x1 - x0), static_cast<int>((x1 - x0) * (y1 - y0)), 0, sign < 0};
    if (r.width > 0)
      r.reciprocal = ((1u << 23) + static_cast<std::uint32_t>(r.width) - 1) / static_cast<std::uint32_t>(r.width);
    return r;
  }
};

struct CompactBox {
  std::int64_t x[2], y[2];
  bool is_small = true;  ///< its own pixels are counted, fewer than those of the corners

  AREAL_DEVICE CompactBox(const formulas::Compact& c, const Region& r) : x{r.x, r.x + r.width}, y{r.y, r.y + r.height} {
    std::int64_t pixels = 0;
    AREAL_UNROLL
    for (int corner = 0; corner < 4; ++corner) pixels += rest(c, corner).pixels();
    is_small = r.width <= 2 * c.block && r.height <= 2 * c.block && r.width * r.height <= pixels;
  }
  /// Of corner 2 i + j: edge i of the rows, edge j of the columns.
  AREAL_DEVICE formulas::CompactRest rest(const formulas::Compact& c, int corner) const {
    const bool lower = corner > 1, right = (corner & 1) != 0;
    return formulas::compact_rest(c, lower ? y[1] : y[0], right ? x[1] : x[0], lower == right ? 1 : -1);
  }
  AREAL_DEVICE int rectangles() const { return is_small ? 1 : 4; }
  AREAL_DEVICE CompactRectangle rectangle(const formulas::Compact& c, int i) const {
    if (is_small) return CompactRectangle::of(x[0], x[1], y[0], y[1], 1);
    const formulas::CompactRest r = rest(c, i);
    return CompactRectangle::of(r.x0, r.x1, r.y0, r.y1, r.sign);
  }
  /// Bytes from the store's first to a corner's anchor, and its sign.
  AREAL_DEVICE std::int64_t anchor(const formulas::Compact& c, std::int64_t image, int corner) const {
    const bool lower = corner > 1, right = (corner & 1) != 0;
    return c.anchor(image, c.line(lower ? y[1] : y[0]), c.line(right ? x[1] : x[0])) * c.anchor_bytes;
  }
  AREAL_DEVICE static bool is_negative(int corner) { return (corner > 1) != ((corner & 1) != 0); }
  /// Edges 0 and 1 are rows, 2 and 3 columns.
  AREAL_DEVICE CompactEdge edge(const CompactCountsArgs& a, int i) const {
    const formulas::Compact& c = a.c;
    const bool is_end = (i & 1) != 0, is_row = i < 2;
    const std::int64_t at = is_row ? (is_end ? y[1] : y[0]) : (is_end ? x[1] : x[0]), offset = c.offset(at);
    CompactEdge e;
    if (is_row) {
      e.at = c.row_strips_at() + c.row_strip(a.image, at, 0) * formulas::Compact::strip_bytes;
      e.pitch = c.padded_bins() * formulas::Compact::strip_bytes;
      e.first = c.line(x[0]), e.last = c.line(x[1]);
    } else {
      e.at = c.column_strips_at() + c.column_strip(a.image, 0, at) * formulas::Compact::strip_bytes;
      e.pitch = (c.width + 1) * c.padded_bins() * formulas::Compact::strip_bytes;
      e.first = c.line(y[0]), e.last = c.line(y[1]);
    }
    if (offset == 0)
      e.last = e.first;
    else
      e.step =
          static_cast<std::uint32_t>(a.most) / static_cast<std::uint32_t>((offset < 0 ? -offset : offset) * c.block);
    e.is_reversed = offset < 0;
    e.is_negative = (offset > 0) != is_end;
    return e;
  }
};

/// Counts of `V` neighbouring bins as the strips hold them.
template <int V>
using CompactStrip = Vec<std::uint16_t, V>;

/// Adds what an edge's strips count of V bins.
template <int V, class M>
AREAL_DEVICE void add_edge(const M& m, const char* strips, const CompactEdge& e, std::uint32_t (&sums)[V]) {
  auto before = m.load(reinterpret_cast<const CompactStrip<V>*>(strips + e.first * e.pitch));
  for (std::int64_t line = e.first; line < e.last;) {
    line = line + e.step < e.last ? line + e.step : e.last;
    const auto next = m.load(reinterpret_cast<const CompactStrip<V>*>(strips + line * e.pitch));
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) {
      const std::uint32_t count = (e.is_reversed ? before.at[v] - next.at[v] : next.at[v] - before.at[v]) & 0xffffu;
      sums[v] += e.is_negative ? 0u - count : count;
    }
    before = next;
  }
}

/// The sum of a bin: the anchors' of their width, and the others', a signed number of 32 bits.
AREAL_DEVICE std::uint64_t compact_sum(const formulas::Compact& c, std::uint64_t anchors, std::uint32_t others) {
  if (c.anchor_bytes == 4) return static_cast<std::uint32_t>(anchors) + others;
  return anchors + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(others)});
}

}  // namespace areal::kernels
