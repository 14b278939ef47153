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
  std::uint32_t most = 0;  ///< that a pair of strips counts
  void* out = nullptr;
  bool real = false;
  bool pairs = false;  ///< 16-byte stores of a histogram's even bins are aligned
};

/// The strips of an edge: of the lattice lines of the other axis.
struct CompactEdge {
  std::int64_t at = 0, pitch = 0;     ///< bytes from the store's first to the strip of line 0; to the next line's
  int first = 0, last = 0, step = 0;  ///< lattice lines; those that one pair may span
  bool is_reversed = false;           ///< the pair's earlier strip is the larger
  bool is_negative = false;
};

/// A rectangle whose pixels are counted.
struct CompactRectangle {
  std::int64_t first = 0;  ///< the first label of the square with its first pixel
  int x = 0, y = 0;        ///< of that pixel in its square
  int width = 0, pixels = 0;
  std::uint32_t reciprocal = 0;
  bool is_negative = false;

  AREAL_DEVICE CompactRectangle(const formulas::Compact& c, std::int64_t image, const formulas::CompactRest& r)
      : first(c.label(image, r.y0 & ~std::int64_t{3}, r.x0 & ~std::int64_t{3})),
        x(static_cast<int>(r.x0 & 3)),
        y(static_cast<int>(r.y0 & 3)),
        width(static_cast<int>(r.x1 - r.x0)),
        pixels(static_cast<int>(r.pixels())),
        is_negative(r.sign < 0) {
    const auto w = static_cast<std::uint32_t>(width);
    if (w > 0) reciprocal = ((1u << 23) + w - 1) / w;
  }
  /// The rectangle of that lane. Called by all lanes of a warp.
  template <class M>
  AREAL_DEVICE CompactRectangle of_lane(const M& m, int lane) const {
    CompactRectangle r = *this;
    const int packed = m.shuffle(x | y << 2 | (is_negative ? 16 : 0), lane);
    r.first = m.shuffle(first, lane), r.width = m.shuffle(width, lane), r.pixels = m.shuffle(pixels, lane);
    r.reciprocal = m.shuffle(reciprocal, lane);
    r.x = packed & 3, r.y = packed >> 2 & 3, r.is_negative = (packed & 16) != 0;
    return r;
  }
  /// The label of pixel i, row by row, for at most 2^14 pixels in at most 256 rows and columns: the product stays below
  /// 2^32, and the quotient is exact. `pitch`: labels of a row of squares, at most 2^24.
  AREAL_DEVICE std::int64_t label(int pitch, int i) const {
    const auto row = static_cast<int>(static_cast<std::uint32_t>(i) * reciprocal >> 23);
    const int right = x + i - row * width, down = y + row;
    return first + ((down >> 2) * pitch + (right >> 2) * 16 + (down & 3) * 4 + (right & 3));
  }
};

struct CompactBox {
  int x[2], y[2];        ///< sides fit
  bool is_small = true;  ///< its own pixels are counted, fewer than those of the corners

  AREAL_DEVICE CompactBox(const formulas::Compact& c, const Region& r)
      : x{static_cast<int>(r.x), static_cast<int>(r.x + r.width)},
        y{static_cast<int>(r.y), static_cast<int>(r.y + r.height)} {
    std::int64_t pixels = 0;
    AREAL_UNROLL
    for (int corner = 0; corner < 4; ++corner) pixels += rest(c, corner).pixels();
    is_small = is_smaller(c, r, pixels);
  }
  /// The same by a warp, whose lane i has corner i modulo 4.
  template <class M>
  AREAL_DEVICE CompactBox(const M& m, const formulas::Compact& c, const Region& r)
      : x{static_cast<int>(r.x), static_cast<int>(r.x + r.width)},
        y{static_cast<int>(r.y), static_cast<int>(r.y + r.height)} {
    std::int64_t pixels = rest(c, m.lane() & 3).pixels();
    pixels += m.shuffle_xor(pixels, 1);
    pixels += m.shuffle_xor(pixels, 2);
    is_small = is_smaller(c, r, pixels);
  }
  /// `pixels`: those of the corners.
  AREAL_DEVICE static bool is_smaller(const formulas::Compact& c, const Region& r, std::int64_t pixels) {
    return r.width <= 2 * c.block && r.height <= 2 * c.block && r.width * r.height <= pixels;
  }
  /// Of corner 2 i + j: edge i of the rows, edge j of the columns.
  AREAL_DEVICE formulas::CompactRest rest(const formulas::Compact& c, int corner) const {
    const bool lower = corner > 1, right = (corner & 1) != 0;
    return formulas::compact_rest(c, lower ? y[1] : y[0], right ? x[1] : x[0], lower == right ? 1 : -1);
  }
  AREAL_DEVICE int rectangles() const { return is_small ? 1 : 4; }
  AREAL_DEVICE CompactRectangle rectangle(const formulas::Compact& c, std::int64_t image, int i) const {
    return {c, image, is_small ? formulas::CompactRest{x[0], x[1], y[0], y[1], 1} : rest(c, i)};
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
      e.first = static_cast<int>(c.line(x[0])), e.last = static_cast<int>(c.line(x[1]));
    } else {
      e.at = c.column_strips_at() + c.column_strip(a.image, 0, at) * formulas::Compact::strip_bytes;
      e.pitch = (c.width + 1) * c.padded_bins() * formulas::Compact::strip_bytes;
      e.first = static_cast<int>(c.line(y[0])), e.last = static_cast<int>(c.line(y[1]));
    }
    if (offset == 0) e.last = e.first;
    const auto each = static_cast<std::uint32_t>((offset < 0 ? -offset : offset) * c.block);
    e.step = e.last - e.first;
    if (static_cast<std::uint64_t>(e.step) * each > a.most) e.step = static_cast<int>(a.most / each);
    e.is_reversed = offset < 0;
    e.is_negative = (offset > 0) != is_end;
    return e;
  }
};

/// Counts of `V` neighbouring bins as the strips hold them.
template <int V>
using CompactStrip = Vec<std::uint16_t, V>;

template <int V, class M>
AREAL_DEVICE CompactStrip<V> load_strip(const M& m, const char* strips, const CompactEdge& e, int line) {
  return m.load(reinterpret_cast<const CompactStrip<V>*>(strips + line * e.pitch));
}
/// Adds what a pair of strips counts of V bins.
template <int V>
AREAL_DEVICE void add_pair(bool is_reversed, bool is_negative, const CompactStrip<V>& before,
                           const CompactStrip<V>& next, std::uint32_t (&sums)[V]) {
  AREAL_UNROLL
  for (int v = 0; v < V; ++v) {
    const std::uint32_t growth = std::uint32_t{next.at[v]} - before.at[v];
    const std::uint32_t count = (is_reversed ? 0u - growth : growth) & 0xffffu;
    sums[v] += is_negative ? 0u - count : count;
  }
}
/// Adds what the pairs behind the first ones count of V bins, of the edges with a bit in `further`.
template <int V, class M>
AREAL_DEVICE void add_further(const M& m, const CompactCountsArgs& a, const CompactBox& box, std::int64_t first,
                              unsigned further, std::uint32_t (&sums)[V]) {
  AREAL_NO_UNROLL
  for (int i = 0; i < 4; ++i) {
    if ((further >> i & 1u) == 0) continue;
    const CompactEdge e = box.edge(a, i);
    const char* const strips = a.store + e.at + first;
    CompactStrip<V> last = load_strip<V>(m, strips, e, e.first + e.step);
    AREAL_NO_UNROLL
    for (int line = e.first + e.step; line < e.last;) {
      line = line + e.step < e.last ? line + e.step : e.last;
      const CompactStrip<V> strip = load_strip<V>(m, strips, e, line);
      add_pair(e.is_reversed, e.is_negative, last, strip, sums);
      last = strip;
    }
  }
}
/// Adds what all strips of a box count of V bins, from the bin at `first` bytes on. The first pairs of all edges are
/// loaded together.
template <int V, class M>
AREAL_DEVICE void add_strips(const M& m, const CompactCountsArgs& a, const CompactBox& box, std::int64_t first,
                             std::uint32_t (&sums)[V]) {
  CompactStrip<V> before[4] = {}, next[4] = {};
  unsigned reversed = 0, negative = 0, further = 0;  // a bit an edge
  AREAL_UNROLL
  for (int i = 0; i < 4; ++i) {
    const CompactEdge e = box.edge(a, i);
    reversed |= (e.is_reversed ? 1u : 0u) << i, negative |= (e.is_negative ? 1u : 0u) << i;
    if (e.step == 0) continue;
    further |= (e.first + e.step < e.last ? 1u : 0u) << i;
    const char* const strips = a.store + e.at + first;
    before[i] = load_strip<V>(m, strips, e, e.first);
    next[i] = load_strip<V>(m, strips, e, e.first + e.step);
  }
  AREAL_UNROLL
  for (int i = 0; i < 4; ++i) add_pair((reversed >> i & 1u) != 0, (negative >> i & 1u) != 0, before[i], next[i], sums);
  if (further != 0) add_further<V>(m, a, box, first, further, sums);
}

/// The sum of the anchors of a bin, modulo their width.
template <class Anchor, class M>
AREAL_DEVICE Anchor anchors_of(const M& m, const CompactCountsArgs& a, const CompactBox& box, std::int64_t bin) {
  Anchor sum = 0;
  AREAL_UNROLL
  for (int corner = 0; corner < 4; ++corner) {
    const Anchor value = m.load(reinterpret_cast<const Anchor*>(a.store + box.anchor(a.c, a.image, corner)) + bin);
    sum += CompactBox::is_negative(corner) ? 0 - value : value;
  }
  return sum;
}
/// The count of a bin: anchors of 32 bits are in `sum` already; else it is a signed number.
template <class M>
AREAL_DEVICE std::uint64_t compact_count(const M& m, const CompactCountsArgs& a, const CompactBox& box,
                                         std::int64_t bin, std::uint32_t sum) {
  if (a.c.anchor_bytes == 4) return sum;
  const auto others = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(sum)});
  return others + (box.is_small ? 0 : anchors_of<std::uint64_t>(m, a, box, bin));
}

}  // namespace areal::kernels
