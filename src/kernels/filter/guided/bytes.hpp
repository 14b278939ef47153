#pragma once
// Both passes of guided filters of bytes in one launch, where the edge adds no copies.
//
// A block of threads walks down a strip of columns, a thread has four of them. It keeps the sums of their windows of p,
// I, I p and I^2, integers: the row that enters adds the sums along the row, of four bytes at a time (dot4), the one
// that leaves subtracts them. a and b, which follow, are the rows of BlockSums. They wait in the workspace, each in the
// place of its own thread, until windows leave their block of rows.
//
// Reads: image and guide 2 S + 3 height times for each segment of S rows, in words, each by the threads whose windows
// cover it; the guide's pixel of each output; the rows of a and b of the blocks that windows leave, or of each window
// of up to 8 rows. Writes: each output once; for each segment and strip S + height - 1 rows of a and b.

#include <cstdint>
#include "formulas/guided.hpp"
#include "kernels/filter/guided/integers.hpp"
#include "kernels/filter/guided/passes.hpp"

namespace areal::kernels {

/// Four 32-bit words with which a word of four bytes is multiplied, one for each of a thread's columns.
struct ByteMasks {
  std::uint32_t at[4];
};
struct GuidedBytesArgs : GuidedArgs {
  FilterAxis around, above;  ///< the windows of the first pass
  int words, first_word;     ///< that cover a thread's windows; the first one's columns begin here from the thread's
  int head, tail;            ///< words [0, head) and [tail, words) are multiplied by masks, all others by ones
  ByteMasks head_masks[2], tail_masks[2];
  std::uint32_t outside;  ///< a pixel beyond the edge, in four places
  char* rows_of_blocks;   ///< lines in the workspace, `rows_bytes` for each block of the grid
  std::int64_t rows_bytes;
  int row_mask;           ///< rows of the ring less 1; they are a power of 2
  bool words_fit;         ///< words are aligned
  bool out_words;         ///< outputs of 8u are
  double inverse, share;  ///< of whole windows: eps count^2, and 1 / count
};

template <bool self_>
struct GuidedOfBytes : GuidedPairs {
  static constexpr bool self = self_, keeps = true;
  static constexpr int terms = self ? 2 : 4, ahead = 0, together = 4;
};

template <class M, class C>
struct GuidedBytes : BlockSums<M, C, GuidedBytesArgs, GuidedBytes<M, C>> {
  using Base = BlockSums<M, C, GuidedBytesArgs, GuidedBytes<M, C>>;
  using Raw = typename C::Raw;
  using Term = typename C::Term;
  using Held = typename Base::Held;
  using Base::a, Base::m, Base::block, Base::V, Base::threads;
  static constexpr int resident = 2;
  static constexpr std::int64_t most_width = 65;

  using Shared = typename Base::SumsShared;
  /// Words of image and guide.
  struct Words {
    std::uint32_t p, guide;
  };
  /// Words of a row: the first in which the thread's windows begin, four that all of them hold, the first in which they
  /// end.
  struct Fetched {
    Words head, middle[4], tail;
  };
  struct Place : Base::SumsPlace {
    const char *image, *guide;  ///< the planes
    char *out, *rows;
    int column;   ///< the thread's first
    bool inside;  ///< its windows lie between the first and the last column
    static constexpr int none = -(1 << 30);
    int first, next;  ///< the first row that entered the sums, and the next one; none yet
    std::uint32_t sums[4][C::terms];
    Fetched entering, leaving;  ///< words of the next row, and of the one that leaves the sums with it
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    int turn = 0;
    AREAL_NO_UNROLL
    for (std::int64_t unit = m.block(); unit < a.units; unit += m.blocks()) {
      const FilterUnit place = FilterUnit::at(unit, a);
      Place at;
      at.image = a.image.first + place.plane_in(a.image.strides);
      at.guide = a.guide.first + place.plane_in(a.guide.strides);
      at.out = a.out + place.plane_in(a.to);
      at.rows = a.rows_of_blocks + m.block() * a.rows_bytes;
      at.column = this->column_in(place.strip);
      const int left = a.rows.outputs - place.y;
      this->set_place(at, at.column, place.y, left < a.segment_rows ? left : a.segment_rows);
      const int first = at.column + a.first_word;
      at.inside = a.words_fit && first >= 0 && first + 4 * a.words <= a.columns.extent;
      at.next = at.none;
      this->walk(s, at, turn);
    }
  }

  // ---------------------------------------------------------------- integers

  /// Word i of a row: of the image, or what lies beyond.
  AREAL_DEVICE std::uint32_t word(const GuidedView& view, const char* row, int x) const {
    if (a.words_fit && x >= 0 && x + 4 <= a.columns.extent)
      return m.load(reinterpret_cast<const std::uint32_t*>(row + x));
    if (x + 4 <= 0 || x >= a.columns.extent) return a.outside;
    std::uint32_t word = 0;
    AREAL_UNROLL
    for (int b = 0; b < 4; ++b) {
      std::uint32_t byte = a.outside & 0xff;
      if (x + b >= 0 && x + b < a.columns.extent)
        byte = m.load(reinterpret_cast<const std::uint8_t*>(row + (x + b) * view.strides.column));
      word |= byte << (8 * b);
    }
    return word;
  }
  /// The planes' rows y, if there are, at a thread's first word.
  struct Rows {
    const char *image, *guide;
    bool exist;
  };
  AREAL_DEVICE Rows rows_of(const Place& at, int y) const {
    return {at.image + y * a.image.strides.row, at.guide + y * a.guide.strides.row, y >= 0 && y < a.rows.extent};
  }
  template <bool inside>
  AREAL_DEVICE Words words_at(const Place& at, const Rows& rows, int i) const {
    const int x = at.column + a.first_word + 4 * i;
    Words words;
    if constexpr (inside) {
      words.guide = m.load(reinterpret_cast<const std::uint32_t*>(rows.guide + x));
      words.p = C::self ? words.guide : m.load(reinterpret_cast<const std::uint32_t*>(rows.image + x));
    } else {
      words.guide = word(a.guide, rows.guide, x);
      words.p = C::self ? words.guide : word(a.image, rows.image, x);
    }
    return words;
  }
  AREAL_DEVICE Words words_at(const Place& at, const Rows& rows, int i) const {
    if (!rows.exist) return {a.outside, a.outside};
    return at.inside ? words_at<true>(at, rows, i) : words_at<false>(at, rows, i);
  }
  using Each = std::uint32_t[C::terms];
  AREAL_DEVICE void add(Each& sum, const Words& words, std::uint32_t marks) const {
    const std::uint32_t guide = words.guide & marks, ones = marks & 0x01010101u;
    sum[0] = m.dot4(words.guide, ones, sum[0]);
    sum[1] = m.dot4(guide, words.guide, sum[1]);
    if constexpr (!C::self) {
      sum[2] = m.dot4(words.p, ones, sum[2]);
      sum[3] = m.dot4(guide, words.p, sum[3]);
    }
  }
  AREAL_DEVICE void add(Each (&each)[V], const Words& words, const ByteMasks& masks) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) add(each[j], words, masks.at[j]);
  }
  /// Does not wait for the words.
  AREAL_DEVICE void fetch(const Place& at, int y, Fetched& row) const {
    const Rows rows = rows_of(at, y);
    if (rows.exist)
      at.inside ? fetch<true>(at, rows, row) : fetch<false>(at, rows, row);
    else
      fetch_from(row, [&](int) { return Words{a.outside, a.outside}; });
  }
  template <bool inside>
  AREAL_DEVICE void fetch(const Place& at, const Rows& rows, Fetched& row) const {
    fetch_from(row, [&](int i) { return words_at<inside>(at, rows, i); });
  }
  template <class At>
  AREAL_DEVICE void fetch_from(Fetched& row, const At& word_at) const {
    row.head = word_at(0);
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      row.middle[i] = {0, 0};
      if (a.head + i < a.tail) row.middle[i] = word_at(a.head + i);
    }
    row.tail = {0, 0};
    if (a.tail < a.words) row.tail = word_at(a.tail);
  }
  /// Sums along row y of the thread's windows, of I, I^2, p and I p.
  AREAL_DEVICE void along(const Place& at, int y, const Fetched& row, Each (&each)[V]) const {
    const Rows rows = rows_of(at, y);
    Each common = {};
    AREAL_UNROLL
    for (int i = 0; i < 3; ++i) add(common, row.middle[i], ~0u);
    if (a.head + 3 < a.tail) add(common, row.middle[3], ~0u);
    AREAL_NO_UNROLL
    for (int i = a.head + 4; i < a.tail; ++i) add(common, words_at(at, rows, i), ~0u);
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) AREAL_UNROLL
    for (int t = 0; t < C::terms; ++t) each[j][t] = common[t];
    add(each, row.head, a.head_masks[0]);
    add(each, row.tail, a.tail_masks[0]);
    if (a.head > 1) add(each, words_at(at, rows, 1), a.head_masks[1]);
    if (a.tail + 1 < a.words) add(each, words_at(at, rows, a.tail + 1), a.tail_masks[1]);
  }
  /// The sums of the windows of row v, which follows the last one. The next row's words are then on their way.
  AREAL_DEVICE void advance(Place& at, int v) const {
    const int end = v - a.above.before + a.above.size;
    if (at.next == at.none) {
      at.first = at.next = end - a.above.size;
      AREAL_UNROLL
      for (int j = 0; j < V; ++j) AREAL_UNROLL
      for (int t = 0; t < C::terms; ++t) at.sums[j][t] = 0;
      fetch(at, at.next, at.entering);
    }
    AREAL_NO_UNROLL
    for (; at.next < end; ++at.next) {
      Each row[V];
      const int leaves = at.next - a.above.size;
      along(at, at.next, at.entering, row);
      change(at.sums, row, 1);
      if (leaves >= at.first) {
        along(at, leaves, at.leaving, row);
        change(at.sums, row, ~0u);
      }
      fetch(at, at.next + 1, at.entering);
      if (leaves + 1 >= at.first) fetch(at, leaves + 1, at.leaving);
    }
  }
  AREAL_DEVICE static void change(Each (&sums)[V], const Each (&row)[V], std::uint32_t by) {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) AREAL_UNROLL
    for (int t = 0; t < C::terms; ++t) sums[j][t] += row[j][t] * by;
  }

  // ---------------------------------------------------------------- lines

  AREAL_DEVICE Raw enter(const Shared& /*s*/, Place& at, int v) const {
    Raw raw;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) raw.at[j] = {{0, a.beyond}};
    if (v < 0 || v >= a.rows.extent) return raw;
    advance(at, v);
    const bool shrinks = a.columns.edge == Edge::shrink;
    const int down = shrinks ? a.above.inside(v) : a.above.size;
    const bool whole = !shrinks || (down == a.above.size && at.column >= a.around.before &&
                                    at.column + V - 1 + a.around.after() < a.columns.extent);
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = at.column + j;
      std::uint32_t n = static_cast<std::uint32_t>(a.around.size * a.above.size);
      double share = a.share, least = a.inverse;
      if (!whole) {
        n = static_cast<std::uint32_t>(a.around.inside(x) * down);
        const double count = as_double(n);
        share = 1 / count, least = a.eps * (count * count);
      }
      const std::uint32_t guide = at.sums[j][0], squares = at.sums[j][1], p = at.sums[j][C::self ? 0 : 2],
                          cross = at.sums[j][C::self ? 1 : 3];
      const double variance = difference_of_products(m, n, squares, guide, guide);
      const double covariance = C::self ? variance : difference_of_products(m, n, cross, guide, p);
      // A quotient of 0 takes long.
      const double quotient = (covariance == 0 ? 1.0 : covariance) / (variance + least);
      const double slope = covariance == 0 ? 0.0 : quotient;
      const double b = (as_double(p) - slope * as_double(guide)) * share;
      if (x >= 0 && x < a.columns.extent) raw.at[j] = {{slope, b}};
    }
    return raw;
  }

  // ---------------------------------------------------------------- rows of lines

  AREAL_DEVICE Held* kept(const Place& at, int position) const {
    return reinterpret_cast<Held*>(at.rows) + (position & a.row_mask);
  }
  AREAL_DEVICE void keep_row(const Shared& /*s*/, const Place& at, int position, const Raw& raw) const {
    Held* const to = kept(at, position);
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) m.store(&to->at[i][m.thread()], this->pair(raw.at, i));
  }
  AREAL_DEVICE Raw row(const Shared& /*s*/, const Place& at, int position) const {
    const Held* const from = kept(at, position);
    Raw raw;
    AREAL_UNROLL
    for (int i = 0; i < V; ++i) this->set_pair(raw.at, i, m.load(&from->at[i][m.thread()]));
    return raw;
  }
  AREAL_DEVICE bool are_vectors(const Place& /*at*/, int /*from*/, int /*to*/) const { return true; }
  AREAL_DEVICE Raw vector(const Shared& s, const Place& at, int position) const { return row(s, at, position); }
  AREAL_DEVICE Term term_of(const Raw& raw, int j) const { return raw.at[j]; }

  // ---------------------------------------------------------------- outputs

  AREAL_DEVICE void output(const Shared& /*s*/, const Place& at, int y, Term (&window)[V]) const {
    const bool shrinks = a.columns.edge == Edge::shrink;
    const int down = shrinks ? a.rows.inside(y) : a.rows.size;
    const bool whole = at.full && down == a.rows.size;
    const char* const guides = at.guide + y * a.guide.strides.row;
    char* const to = at.out + y * a.to.row;
    const bool words = a.out_words && at.x >= at.begin && at.x + V <= at.end;
    std::uint32_t four = words ? m.load(reinterpret_cast<const std::uint32_t*>(guides + at.x)) : 0, bytes = 0;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = at.x + j;
      if (!words && (x < at.begin || x >= at.end)) continue;
      if (!words) four = m.load(reinterpret_cast<const std::uint8_t*>(guides + x * a.guide.strides.column)) << (8 * j);
      const double share =
          whole ? a.share : 1 / (static_cast<double>(shrinks ? a.columns.inside(x) : a.columns.size) * down);
      const double value =
          formulas::guided_output(window[j].at[0], window[j].at[1], as_double(four >> (8 * j) & 0xff), share);
      if (words)
        bytes |= rounded_byte(value) << (8 * j);
      else
        store_rounded(m, to + x * a.to.column, a.out_type, value, a.out_aligned);
    }
    if (words) m.store_streaming(reinterpret_cast<std::uint32_t*>(to + at.x), bytes);
  }
  /// formulas::rounded of a finite number; its exponent decides faster.
  AREAL_DEVICE static std::uint32_t rounded_byte(double value) {
    const auto high = static_cast<std::int32_t>(__builtin_bit_cast(std::uint64_t, value) >> 32);
    const auto nearest = static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, value + 0x1p52));
    return high < 0 ? 0 : high >= 0x406fe000 ? 255 : nearest;
  }
};

}  // namespace areal::kernels
