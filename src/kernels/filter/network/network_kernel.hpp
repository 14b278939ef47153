#pragma once
// network: medians of 3x3 and 5x5 pixels by sorting networks in registers, one launch without a workspace or shared
// memory.
//
// A warp walks down a strip of columns, two rows of outputs a step. A lane has V columns, and those that its windows
// reach beyond. Keys of up to 16 bits go in pairs in 32-bit words; the second of each pair belongs to the column 32 V
// further right. Each column is sorted once for all windows that hold it: the rows that the windows of both outputs
// share first, then either of the others is inserted. Of each row of sorted columns, the keys that two neighbouring
// windows share are sorted first, too (Adams 2021).
//
// The other outputs are the frame, whose windows are sorted one by one: a thread loads a window of any edge, and sorts
// it. These are windows that reach beyond the first and the last column, and all whose pixels are not contiguous or
// whose rank is not the median's.
//
// Reads: for each strip and segment of S rows of outputs, S + size - 1 rows; for each output of the frame its window.
// Writes: each output once.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include "kernels/filter/axis.hpp"
#include "kernels/filter/keys.hpp"
#include "kernels/filter/network/sorting.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Keys of that type, windows of size x size.
template <class Key_, int size_>
struct NetworkOf {
  using Key = Key_;
  static constexpr int size = size_;
  /// As many as have registers enough: 16-bit keys of either kind, and pairs of registers, take more than 168.
  static constexpr int resident = size == 3 ? 4 : sizeof(Key) == 2 || sizeof(Key) == 8 ? 2 : 3;
};

/// Outputs of a plane, by columns and rows.
struct OutputRange {
  int x = 0, x_end = 0, y = 0, y_end = 0;
};

struct NetworkArgs {
  const char* image;
  char* out;
  Strides from, to;
  FilterAxis columns, rows;
  OutputRange inner;         ///< of whole lanes, whose words of the image hold all that they see
  std::int64_t frame;        ///< outputs of a plane's frame
  std::int64_t frame_units;  ///< warps for all frames; they come first
  std::int64_t units;        ///< warps for all inner outputs: planes x segments x strips
  int strips, segments, segment_rows, channels;
  bool vectors;  ///< a lane's outputs are aligned and contiguous
  bool pixel_aligned, out_aligned;
  std::uint64_t beyond;      ///< a pixel beyond the edge, in every place of its size
  std::uint64_t fill;        ///< of windows of fewer pixels than min_count
  std::uint64_t order_flip;  ///< see KeyOrder
  bool real, fills;          ///< floats; whole windows have fewer than min_count
  double percent;
  std::int64_t min_count;
};

template <class M, class C>
struct RankNetwork {
  using Args = NetworkArgs;
  using Shared = NoShared;
  using Key = typename C::Key;
  static constexpr int warps = 4, threads = warps * warp_size, resident = C::resident;
  static constexpr int k = C::size, bytes = static_cast<int>(sizeof(Key));
  static constexpr bool pairs = bytes <= 2;
  static constexpr int parts = pairs ? 2 : 1;  ///< keys of a word
  using Word = std::conditional_t<bytes == 8, std::uint64_t, std::uint32_t>;
  static constexpr int V = pairs ? 8 : bytes == 4 ? 4 : 2;  ///< columns of a lane, in each part
  static constexpr int strip_columns = parts * V * warp_size;
  static constexpr int width = V + k - 1;                ///< columns that a lane sees
  static constexpr int words = (width * bytes + 3) / 4;  ///< that hold a row of these
  using Vector = Vec<std::uint32_t, V * bytes / 4>;
  using Order = WordOrder<M, Word, pairs>;

  M m;
  Args a;

  struct Plane {
    const char* image;
    char* out;
  };
  AREAL_DEVICE Plane plane_of(std::int64_t plane) const {
    const std::int64_t channel = plane % a.channels, n = plane / a.channels;
    return {a.image + n * a.from.batch + channel * a.from.channel, a.out + n * a.to.batch + channel * a.to.channel};
  }

  AREAL_DEVICE void operator()() {
    std::int64_t unit = m.block() * warps + m.warp();
    if (unit < a.frame_units) return sort_frame(unit * warp_size + m.lane());
    unit -= a.frame_units;
    if (unit < a.units) walk(unit);
  }

  // ---------------------------------------------------------------- one by one

  AREAL_DEVICE KeyOrder<Key> order() const {
    KeyOrder<Key> order;
    order.flip = static_cast<Key>(a.order_flip), order.real = a.real;
    return order;
  }
  AREAL_DEVICE void sort_frame(std::int64_t i) const {
    const std::int64_t each = (a.frame + warp_size - 1) / warp_size * warp_size;
    const Plane plane = plane_of(i / each);
    i %= each;
    if (i >= a.frame) return;
    // Rows above the inner outputs, then those below, then the columns beside them.
    const std::int64_t above = std::int64_t{a.inner.y} * a.columns.outputs;
    const std::int64_t below = std::int64_t{a.rows.outputs - a.inner.y_end} * a.columns.outputs;
    const bool is_beside = i >= above + below;
    int across = a.columns.outputs, y = 0;
    if (is_beside) i -= above + below, across -= a.inner.x_end - a.inner.x, y = a.inner.y;
    if (!is_beside && i >= above) i -= above, y = a.inner.y_end;
    y += static_cast<int>(i / across);
    int x = static_cast<int>(i % across);
    if (is_beside && x >= a.inner.x) x += a.inner.x_end - a.inner.x;
    sort_one(plane, x, y);
  }

  /// A window of any edge and rank.
  AREAL_DEVICE void sort_one(const Plane& plane, int x, int y) const {
    const WordOrder<M, Key, false> sorting{m};
    const KeyOrder<Key> keys = order();
    const bool skips = a.columns.edge == Edge::shrink;
    std::int64_t column[k];
    AREAL_UNROLL
    for (int i = 0; i < k; ++i) {
      const int at = a.columns.pixel(x - a.columns.before + i);
      column[i] = at < 0 ? -1 : at * a.from.column;
    }
    Key window[k * k];
    int n = 0, unknown = 0;
    AREAL_UNROLL
    for (int j = 0; j < k; ++j) {
      const int at = a.rows.pixel(y - a.rows.before + j);
      const char* const row = plane.image + at * a.from.row;
      AREAL_UNROLL
      for (int i = 0; i < k; ++i) {
        const bool is_pixel = at >= 0 && column[i] >= 0;
        Key key = KeyOrder<Key>::all;
        if (is_pixel || !skips) {
          key = keys.key(is_pixel ? load_element<M, Key>(m, row + column[i], a.pixel_aligned)
                                  : static_cast<Key>(a.beyond));
          ++n;
          if (a.real && key == KeyOrder<Key>::all) ++unknown;
        }
        window[j * k + i] = key;
      }
    }
    sort_all(sorting, window);
    const double place = std::floor(a.percent * n / 100);
    Key pixel = keys.pixel(pick(window, place >= n ? static_cast<unsigned>(n - 1) : static_cast<unsigned>(place)));
    if (unknown > 0) pixel = KeyOrder<Key>::quiet;
    if (n < a.min_count) pixel = static_cast<Key>(a.fill);
    store_element(m, plane.out + y * a.to.row + x * a.to.column, pixel, a.out_aligned);
  }

  // ---------------------------------------------------------------- rows

  /// A lane's place in its strip, and the rows of its segment.
  struct Place {
    Plane plane;
    int x;            ///< the first output column of the first part; the second is 32 V further
    int y, y_end;     ///< output rows
    int rows;         ///< of the image
    bool has[parts];  ///< outputs
  };
  AREAL_DEVICE Place place_of(std::int64_t unit) const {
    Place at;
    const auto strip = static_cast<int>(unit % a.strips);
    unit /= a.strips;
    at.y = a.inner.y + static_cast<int>(unit % a.segments) * a.segment_rows;
    at.plane = plane_of(unit / a.segments);
    at.y_end = a.inner.y_end - at.y < a.segment_rows ? a.inner.y_end : at.y + a.segment_rows;
    at.rows = at.y_end - at.y + k - 1;
    at.x = a.inner.x + strip * strip_columns + V * m.lane();
    AREAL_UNROLL
    for (int part = 0; part < parts; ++part) at.has[part] = first_output(at, part) < a.inner.x_end;
    return at;
  }
  AREAL_DEVICE static int first_output(const Place& at, int part) { return at.x + part * V * warp_size; }

  /// A row of what a lane sees, in aligned words: the pixels begin at the byte that `selector` begins with.
  struct Raw {
    std::uint32_t word[parts][words + 1], selector;
  };
  /// The n-th row of a segment.
  AREAL_DEVICE Raw fetch(const Place& at, int n) const {
    Raw raw{};
    raw.selector = 0x3210;
    if (n >= at.rows) return raw;
    const int y = a.rows.pixel(at.y - a.rows.before + n);
    const char* const from = at.plane.image + y * a.from.row + (at.x - a.columns.before) * std::int64_t{bytes};
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const auto* const aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    if (y >= 0) raw.selector += 0x1111 * static_cast<std::uint32_t>(address & 3);
    AREAL_UNROLL
    for (int part = 0; part < parts; ++part) {
      AREAL_UNROLL
      for (int i = 0; i <= words; ++i) {
        if (y < 0)
          raw.word[part][i] = static_cast<std::uint32_t>(bytes == 8 && i % 2 == 1 ? a.beyond >> 32 : a.beyond);
        else if (at.has[part])
          raw.word[part][i] = m.load(aligned + part * (V * warp_size * bytes / 4) + i);
      }
    }
    return raw;
  }

  /// Keys of a row: of bytes, both bytes of a half are the key.
  AREAL_DEVICE void keys_of(const Raw& raw, Word (&key)[width]) const {
    std::uint32_t word[parts][words];
    AREAL_UNROLL
    for (int part = 0; part < parts; ++part) {
      AREAL_UNROLL
      for (int i = 0; i < words; ++i) {
        word[part][i] = m.permute(raw.word[part][i], raw.word[part][i + 1], raw.selector);
        if constexpr (bytes == 1) word[part][i] ^= static_cast<std::uint32_t>(a.order_flip);
      }
    }
    AREAL_UNROLL
    for (int i = 0; i < width; ++i) {
      if constexpr (bytes == 1) {
        key[i] = m.permute(word[0][i / 4], word[1][i / 4], 0x4400 + 0x1111 * static_cast<std::uint32_t>(i % 4));
      } else if constexpr (bytes == 2) {
        key[i] = m.permute(word[0][i / 2], word[1][i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
        key[i] = a.real ? pair_of([&](Key one) { return order().key(one); }, key[i])
                        : key[i] ^ static_cast<std::uint32_t>(a.order_flip);
      } else if constexpr (bytes == 4) {
        key[i] = order().key(word[0][i]);
      } else {
        key[i] = order().key(Word{word[0][2 * i + 1]} << 32 | word[0][2 * i]);
      }
    }
  }
  template <class F>
  AREAL_DEVICE static std::uint32_t pair_of(const F& f, std::uint32_t word) {
    return std::uint32_t{f(static_cast<Key>(word & 0xffff))} | std::uint32_t{f(static_cast<Key>(word >> 16))} << 16;
  }

  // ---------------------------------------------------------------- medians

  AREAL_DEVICE void walk(std::int64_t unit) const {
    const Place at = place_of(unit);
    Word key[k + 1][width] = {};
    Raw next[2] = {fetch(at, 0), fetch(at, 1)};
    int y = at.y - (k - 1);
    AREAL_NO_UNROLL
    for (int n = 0; n < at.rows; n += 2, y += 2) {
      keys_of(next[0], key[k - 1]), keys_of(next[1], key[k]);
      next[0] = fetch(at, n + 2), next[1] = fetch(at, n + 3);
      if (y >= at.y) {
        Word median[2][V];
        medians(key, median);
        store(at, y, median[0]);
        if (y + 1 < at.y_end) store(at, y + 1, median[1]);
      }
      AREAL_UNROLL
      for (int j = 0; j < k - 1; ++j) {
        AREAL_UNROLL
        for (int i = 0; i < width; ++i) key[j][i] = key[j + 2][i];
      }
    }
  }

  /// Of two rows of windows: the first are of the rows 0 to k - 1, the others one row lower.
  AREAL_DEVICE void medians(const Word (&key)[k + 1][width], Word (&median)[2][V]) const {
    const Order order{m};
    Word sorted[2][width][k];
    AREAL_UNROLL
    for (int i = 0; i < width; ++i) {
      Word both[k - 1];
      AREAL_UNROLL
      for (int j = 0; j < k - 1; ++j) both[j] = key[j + 1][i];
      order.sort(both);
      order.insert(both, key[0][i], sorted[0][i]);
      order.insert(both, key[k][i], sorted[1][i]);
    }
    AREAL_UNROLL
    for (int i = 0; i < V; i += 2) {
      AREAL_UNROLL
      for (int row = 0; row < 2; ++row) {
        two(order, sorted[row] + i, median[row][i], median[row][i + 1]);
        if constexpr (bytes > 1)
          if (a.real) mark_unknown(order, sorted[row] + i, median[row] + i);
      }
    }
  }
  /// The medians of two windows become the last key where a window holds it: it is that of NaN.
  AREAL_DEVICE static void mark_unknown(const Order& order, const Word (*column)[k], Word* median) {
    AREAL_UNROLL
    for (int side = 0; side < 2; ++side) {
      Word top = column[side][k - 1];
      AREAL_UNROLL
      for (int j = 1; j < k; ++j) top = order.most(top, column[side + j][k - 1]);
      median[side] = order.most(median[side], unknown(top));
    }
  }
  /// All ones where the largest key of a window is.
  AREAL_DEVICE static Word unknown(Word top) {
    if constexpr (bytes == 2)
      return ((top & 0xffff) == 0xffff ? 0xffffu : 0u) | (top >> 16 == 0xffff ? 0xffff0000u : 0u);
    return top == static_cast<Word>(~Word{0}) ? top : 0;
  }

  /// The medians of the columns 0 to 2, and 1 to 3: the median of the most of the least, of the medians, and of the
  /// least of the most.
  AREAL_DEVICE static void two(const Order& order, const Word (*column)[3], Word& left, Word& right) {
    Word middle[2] = {column[1][1], column[2][1]};
    order.sort(middle);
    const auto of = [&](int other) {
      const Word most = order.most(order.most(column[1][0], column[2][0]), column[other][0]);
      const Word least = order.least(order.least(column[1][2], column[2][2]), column[other][2]);
      return order.median(most, order.most(middle[0], order.least(middle[1], column[other][1])), least);
    };
    left = of(0), right = of(3);
  }
  /// The medians of the columns 0 to 4, and 1 to 5. With the j-th of each column sorted, too, element (i, j) is at
  /// least as large as (i + 1)(j + 1) - 1 others and at most as large as (5 - i)(5 - j) - 1. So the median is one of
  /// the 13 with i + j = 3, 4 or 5; six of the others are below it and six above. An element is at least as large as
  /// its two neighbours of the sum before, so that, sorted, the n-th of sum 3 is at most the n-th of sum 4, and that at
  /// most the n-th of sum 5 or the one before. Counted again, only the most of sum 3, the median of sum 4 and the least
  /// of sum 5 have no more than six on either side.
  AREAL_DEVICE static void two(const Order& order, const Word (*column)[5], Word& left, Word& right) {
    Word most[2], middle[2][5], least[2];
    AREAL_UNROLL
    for (int j = 0; j < 5; ++j) {
      Word both[4] = {column[1][j], column[2][j], column[3][j], column[4][j]};
      order.sort(both);
      AREAL_UNROLL
      for (int side = 0; side < 2; ++side) {
        Word all[5];
        order.insert(both, column[5 * side][j], all);
        middle[side][j] = all[4 - j];
        if (j == 0) most[side] = all[3];
        if (j > 0 && j < 4) most[side] = order.most(most[side], all[3 - j]);
        if (j == 1) least[side] = all[4];
        if (j > 1) least[side] = order.least(least[side], all[5 - j]);
      }
    }
    const auto of = [&](int side) {
      const Word(&is)[5] = middle[side];
      return order.median(most[side], order.median(is[0], is[1], is[2], is[3], is[4]), least[side]);
    };
    left = of(0), right = of(1);
  }

  // ---------------------------------------------------------------- outputs

  AREAL_DEVICE void store(const Place& at, int y, const Word (&median)[V]) const {
    Vector part[parts];
    if constexpr (bytes == 1) {
      AREAL_UNROLL
      for (int i = 0; i < V; i += 4) {
        const std::uint32_t low = m.permute(median[i], median[i + 1], 0x6240),
                            high = m.permute(median[i + 2], median[i + 3], 0x6240);
        part[0].at[i / 4] = m.permute(low, high, 0x5410) ^ static_cast<std::uint32_t>(a.order_flip);
        part[1].at[i / 4] = m.permute(low, high, 0x7632) ^ static_cast<std::uint32_t>(a.order_flip);
      }
    } else if constexpr (bytes == 2) {
      AREAL_UNROLL
      for (int i = 0; i < V; i += 2) {
        Word both[2] = {pixels(median[i]), pixels(median[i + 1])};
        part[0].at[i / 2] = m.permute(both[0], both[1], 0x5410);
        part[1].at[i / 2] = m.permute(both[0], both[1], 0x7632);
      }
    } else {
      AREAL_UNROLL
      for (int i = 0; i < V; ++i) {
        const Key one = order().pixel(median[i]);
        part[0].at[i * bytes / 4] = static_cast<std::uint32_t>(one);
        if constexpr (bytes == 8) part[0].at[2 * i + 1] = static_cast<std::uint32_t>(one >> 32);
      }
    }
    AREAL_UNROLL
    for (int i = 0; i < parts; ++i)
      if (at.has[i]) store_part(at.plane.out + y * a.to.row, first_output(at, i), part[i]);
  }
  AREAL_DEVICE Word pixels(Word median) const {
    return a.real ? pair_of([&](Key one) { return order().pixel(one); }, static_cast<std::uint32_t>(median))
                  : median ^ static_cast<Word>(a.order_flip);
  }
  AREAL_DEVICE void store_part(char* row, int x, Vector part) const {
    constexpr int n = V * bytes / 4;
    if (a.fills) {
      AREAL_UNROLL
      for (int i = 0; i < n; ++i)
        part.at[i] = static_cast<std::uint32_t>(bytes == 8 && i % 2 == 1 ? a.fill >> 32 : a.fill);
    }
    if (a.vectors) {
      m.store_streaming(reinterpret_cast<Vector*>(row + x * std::int64_t{bytes}), part);
      return;
    }
    AREAL_NO_UNROLL
    for (int i = 0; i < V; ++i) {
      Key one = static_cast<Key>(part.at[0]);
      if constexpr (bytes == 8) one |= Key{part.at[1]} << 32;
      store_element(m, row + (x + i) * a.to.column, one, a.out_aligned);
      constexpr int shift = bytes < 4 ? 8 * bytes : 0, gone = bytes < 4 ? 0 : bytes / 4;
      AREAL_UNROLL
      for (int w = 0; w < n; ++w) {
        if constexpr (bytes < 4)
          part.at[w] = part.at[w] >> shift | (w + 1 < n ? part.at[w + 1 < n ? w + 1 : w] << (32 - shift) : 0);
        else
          part.at[w] = part.at[w + gone < n ? w + gone : w];
      }
    }
  }
};

}  // namespace areal::kernels
