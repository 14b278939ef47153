#pragma once
// van-herk: minima and maxima of any window (van Herk 1992), one launch without a workspace.
//
// A span, which is a warp or a block, walks down a strip of columns, 16 bytes a lane. Down the columns, `height` rows
// are a block: a lane keeps in shared memory the extremes from each row of a block to its end, and in registers that
// from the beginning of the next block on; a window's extreme is one of each. Rows of the next block take the places of
// those that no window needs any more. Blocks have at most `ring` rows: of higher windows, the rows between two blocks
// are common to `ring` outputs, whose segment reads them once.
//
// Then, of each row of outputs, along the row: the extremes of 4, 16, 64, .. columns while the windows are wider, then
// of up to four of these that cover a window. Lanes exchange them in shared memory.
//
// Pixels are compared as keys, of which the least wins. Beyond an edge that repeats pixels of the window, or has none,
// lies a pixel that never wins.
//
// Reads: for each strip and segment of S rows of outputs, S + height - 1 rows. Writes: each output once.

#include <cstdint>
#include <type_traits>
#include "kernels/filter/axis.hpp"
#include "kernels/filter/keys.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Keys of that type; `warps` of a span, `ring` rows of a block.
template <class Key_, int warps_>
struct ExtremesOf {
  using Key = Key_;
  static constexpr int warps = warps_, ring = warps == 1 ? 32 : 16;
  static constexpr int resident = warps == 1 ? 6 : 3;
};

struct ExtremesArgs {
  const char* image;
  char* out;
  Strides from, to;
  FilterAxis columns, rows;  ///< cut where more pixels beyond an edge change nothing
  std::int64_t units;        ///< spans in all: planes x segments x strips
  int strips, strip_lanes;   ///< of a plane; with outputs
  int segments, segment_rows, channels;
  int lead;      ///< columns from a strip's first column to its first window
  int aligned;   ///< rows hold pixels side by side: 1 at any address, 2 in whole vectors
  bool vectors;  ///< a lane's outputs are an aligned vector
  bool pixel_aligned, out_aligned;
  bool mirrors;              ///< pixels beyond the first and last column may win
  std::uint64_t beyond;      ///< a pixel beyond the edge, in every place of its size
  std::uint64_t flip, fill;  ///< see KeyOrder; the pixel of windows of too few
  bool real;                 ///< floats
  std::int64_t min_count;
};

template <class M, class C>
struct Extremes {
  using Args = ExtremesArgs;
  using Key = typename C::Key;
  using Part = Vec<std::uint32_t, 4>;
  static constexpr int warps = C::warps, ring = C::ring, resident = C::resident;
  static constexpr int spans = warps > 1 ? 1 : 2;  ///< of a block
  static constexpr int threads = warps * spans * warp_size;
  static constexpr int places = warps * warp_size;  ///< lanes of a span
  static constexpr int bytes = static_cast<int>(sizeof(Key)), V = 16 / bytes;
  static constexpr int ahead = 4;  ///< rows on their way
  /// The widest window whose strips have outputs in a sixteenth of a span's lanes.
  static constexpr int most_width = V * (places - places / 16 - 2);

  struct Shared {
    Part rows[spans * warps * ring * warp_size];
    Part line[2][spans * places];
  };

  M m;
  Args a;

  // ---------------------------------------------------------------- keys

  /// The least keys of a lane's columns.
  struct Least {
    static constexpr int count = bytes == 1 ? 8 : bytes == 8 ? 2 : 4;
    using Word = std::conditional_t<bytes == 8, std::uint64_t, std::uint32_t>;
    Word word[count];  ///< of bytes, two in the upper bytes of each half: the even ones, then the odd ones

    AREAL_DEVICE explicit Least(const Part& part) {
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) word[i] = from(part, i);
    }
    AREAL_DEVICE static Word from(const Part& part, int i) {
      if constexpr (bytes == 1) return i % 2 == 0 ? part.at[i / 2] << 8 : part.at[i / 2];
      if constexpr (bytes == 8)
        return Word{part.at[2 * i + 1 < 4 ? 2 * i + 1 : 3]} << 32 | part.at[2 * i < 4 ? 2 * i : 2];
      return part.at[i < 4 ? i : 3];
    }
    AREAL_DEVICE void add(const M& machine, const Part& part) {
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) {
        const Word other = from(part, i);
        if constexpr (bytes <= 2)
          word[i] = machine.min2(word[i], other);
        else
          word[i] = other < word[i] ? other : word[i];
      }
    }
    AREAL_DEVICE Part part(const M& machine) const {
      Part part;
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i) {
        if constexpr (bytes == 1)
          part.at[i] = machine.permute(word[2 * i], word[2 * i + 1], 0x7351);
        else if constexpr (bytes == 8)
          part.at[i] = static_cast<std::uint32_t>(i % 2 == 0 ? word[i / 2] : word[i / 2] >> 32);
        else
          part.at[i] = word[i];
      }
      return part;
    }
  };
  AREAL_DEVICE static Part last() { return {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}}; }

  AREAL_DEVICE KeyOrder<Key> order() const {
    KeyOrder<Key> order;
    order.flip = static_cast<Key>(a.flip), order.nan = 0, order.real = a.real;
    return order;
  }
  /// f(key) of each key.
  template <class F>
  AREAL_DEVICE static Part each(const F& f, Part part) {
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      if constexpr (bytes == 2) {
        part.at[i] = std::uint32_t{f(static_cast<Key>(part.at[i] & 0xffff))} |
                     std::uint32_t{f(static_cast<Key>(part.at[i] >> 16))} << 16;
      } else if constexpr (bytes == 4) {
        part.at[i] = f(part.at[i]);
      } else if constexpr (bytes == 8) {
        if (i % 2 != 0) continue;
        const Key one = f(Key{part.at[i + 1]} << 32 | part.at[i]);
        part.at[i] = static_cast<std::uint32_t>(one), part.at[i + 1] = static_cast<std::uint32_t>(one >> 32);
      }
    }
    return part;
  }
  AREAL_DEVICE Part flipped(Part part) const {
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i)
      part.at[i] ^= static_cast<std::uint32_t>(bytes == 8 && i % 2 == 1 ? a.flip >> 32 : a.flip);
    return part;
  }
  AREAL_DEVICE Part keys(const Part& pixels) const {
    if (bytes == 1 || !a.real) return flipped(pixels);
    return each([&](Key one) { return order().key(one); }, pixels);
  }
  AREAL_DEVICE Part pixels(const Part& keys) const {
    if (bytes == 1 || !a.real) return flipped(keys);
    return each([&](Key one) { return order().pixel(one); }, keys);
  }

  // ---------------------------------------------------------------- rows

  /// A lane's place, and the rows of its segment.
  struct Place {
    int lane;           ///< of the span
    int x;              ///< the first of the lane's columns
    int y, y_end;       ///< output rows
    int rows;           ///< of the image
    int out;            ///< the first of the lane's output columns
    const char* image;  ///< the plane
    char* to;
    int how;  ///< a lane's columns are: 0 beyond the edge, 1 read one by one, 2 in words, 3 a vector
  };
  AREAL_DEVICE Place place_of(std::int64_t unit) const {
    Place at;
    const FilterUnit place = FilterUnit::at(unit, a);
    at.y = place.y;
    at.image = a.image + place.plane_in(a.from);
    at.to = a.out + place.plane_in(a.to);
    at.y_end = a.rows.outputs - at.y < a.segment_rows ? a.rows.outputs : at.y + a.segment_rows;
    at.rows = at.y_end - at.y + a.rows.size - 1;
    at.lane = warps == 1 ? m.lane() : m.thread();
    at.out = V * (place.strip * a.strip_lanes + at.lane);
    at.x = at.out - a.columns.before - a.lead;
    if (at.lane >= a.strip_lanes || at.out >= a.columns.outputs) at.out = -1;
    const std::int64_t first = std::int64_t{at.x} * bytes, end = std::int64_t{a.columns.extent} * bytes;
    const bool inside = at.x >= 0 && first + 16 <= end;
    at.how = 1;
    if (inside && a.aligned == 2) at.how = 3;
    if (a.aligned == 1 && first >= 3 && first + 20 <= end) at.how = 2;
    const int begin = a.mirrors ? -a.columns.before : 0;
    if (at.x + V <= begin || at.x >= (a.mirrors ? a.columns.outputs + a.columns.after() : a.columns.extent)) at.how = 0;
    return at;
  }

  AREAL_DEVICE Part beyond() const {
    Part part;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i)
      part.at[i] = static_cast<std::uint32_t>(bytes == 8 && i % 2 == 1 ? a.beyond >> 32 : a.beyond);
    return part;
  }
  /// A lane's pixels of the n-th row of a segment.
  AREAL_DEVICE Part fetch(const Place& at, int n) const {
    if (n >= at.rows || at.how == 0) return beyond();
    const int y = a.rows.pixel(at.y - a.rows.before + n);
    if (y < 0) return beyond();
    const char* const row = at.image + y * a.from.row;
    const char* const from = row + at.x * std::int64_t{bytes};
    if (at.how == 3) return m.load(reinterpret_cast<const Part*>(from));
    if (at.how == 2) return from_words(from);
    return one_by_one(row, at.x);
  }
  /// 16 bytes at any address, from the five aligned words that hold them.
  AREAL_DEVICE Part from_words(const char* from) const {
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const auto* const aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    const std::uint32_t selector = 0x3210 + 0x1111 * static_cast<std::uint32_t>(address & 3);
    std::uint32_t word[5];
    AREAL_UNROLL
    for (int i = 0; i < 5; ++i) word[i] = m.load(aligned + i);
    Part part;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) part.at[i] = m.permute(word[i], word[i + 1], selector);
    return part;
  }
  AREAL_DEVICE Part one_by_one(const char* row, int first) const {
    constexpr int of_step = bytes < 4 ? 4 / bytes : 1, apart = bytes == 8 ? 2 : 1;
    Part part{};
    AREAL_NO_UNROLL
    for (int i = 0; i < 4 / apart; ++i) {
      std::uint32_t made[apart] = {};
      AREAL_UNROLL
      for (int b = 0; b < of_step; ++b) {
        const int x = first + i * of_step + b;
        const bool is_seen = a.mirrors ? x >= -a.columns.before && x < a.columns.outputs + a.columns.after()
                                       : x >= 0 && x < a.columns.extent;
        const int at = is_seen ? a.columns.pixel(x) : -1;
        const Key one =
            at < 0 ? static_cast<Key>(a.beyond) : load_element<M, Key>(m, row + at * a.from.column, a.pixel_aligned);
        made[0] |= static_cast<std::uint32_t>(one) << (8 * bytes % 32 * b);
        if constexpr (bytes == 8) made[1] = static_cast<std::uint32_t>(one >> 32);
      }
      AREAL_UNROLL
      for (int w = 0; w + apart < 4; ++w) part.at[w] = part.at[w + apart];
      AREAL_UNROLL
      for (int w = 0; w < apart; ++w) part.at[4 - apart + w] = made[w];
    }
    return part;
  }

  // ---------------------------------------------------------------- down the columns

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t unit = warps == 1 ? m.block() * spans + m.warp() : m.block();
    if (unit < a.units) walk(s, place_of(unit));
  }

  AREAL_DEVICE void walk(Shared& s, const Place& at) const {
    Part* const row = s.rows + m.warp() * ring * warp_size + m.lane();  // of a lane's block, each warp_size further
    Part next[ahead];
    AREAL_UNROLL
    for (int i = 0; i < ahead; ++i) next[i] = fetch(at, i);
    int n = ahead, turn = 0;
    const auto take = [&] {
      const Part part = keys(next[0]);
      AREAL_UNROLL
      for (int i = 0; i + 1 < ahead; ++i) next[i] = next[i + 1];
      next[ahead - 1] = fetch(at, n++);
      return part;
    };
    const int size = a.rows.size < ring ? a.rows.size : ring;
    AREAL_NO_UNROLL
    for (int j = 0; j < size; ++j) m.put(row[j * warp_size], take());
    int y = at.y;
    AREAL_NO_UNROLL
    while (y < at.y_end) {
      Least least(m.get(row[(size - 1) * warp_size]));
      AREAL_NO_UNROLL
      for (int j = size - 2; j >= 0; --j) {
        least.add(m, m.get(row[j * warp_size]));
        m.put(row[j * warp_size], least.part(m));
      }
      Least after(last());
      AREAL_NO_UNROLL
      for (int j = size; j < a.rows.size; ++j) after.add(m, take());  // in a segment of one block
      least.add(m, after.part(m));
      write(s, at, y++, least.part(m), turn);
      AREAL_NO_UNROLL
      for (int j = 1; j < size && y < at.y_end; ++j) {
        const Part part = take();
        m.put(row[(j - 1) * warp_size], part);
        after.add(m, part);
        Least both = after;
        both.add(m, m.get(row[j * warp_size]));
        write(s, at, y++, both.part(m), turn);
      }
      if (y < at.y_end) m.put(row[(size - 1) * warp_size], take());
    }
  }

  // ---------------------------------------------------------------- along the row

  AREAL_DEVICE void meet() const {
    if constexpr (warps == 1)
      m.sync_warp();
    else
      m.sync();
  }
  /// The 16 bytes that begin `distance` columns right of a lane's own.
  AREAL_DEVICE Part at_distance(const Part* line, const Place& at, int distance) const {
    const int lane = at.lane + distance / V, rest = distance % V * bytes;
    const Part first = m.get(line[lane < places ? lane : places - 1]);
    if (rest == 0) return first;
    return shifted(first, m.get(line[lane + 1 < places ? lane + 1 : places - 1]), rest);
  }
  AREAL_DEVICE Part shifted(const Part& first, const Part& second, int rest) const {
    switch (rest / 4) {
      case 0:
        return shifted_words<0>(first, second, rest % 4);
      case 1:
        return shifted_words<1>(first, second, rest % 4);
      case 2:
        return shifted_words<2>(first, second, rest % 4);
      default:
        return shifted_words<3>(first, second, rest % 4);
    }
  }
  template <int n>
  AREAL_DEVICE Part shifted_words(const Part& first, const Part& second, int rest) const {
    std::uint32_t word[8];
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) word[i] = first.at[i], word[4 + i] = second.at[i];
    const std::uint32_t selector = 0x3210 + 0x1111 * static_cast<std::uint32_t>(rest);
    Part part;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) part.at[i] = m.permute(word[n + i], word[n + i + 1], selector);
    return part;
  }

  AREAL_DEVICE void write(Shared& s, const Place& at, int y, Part part, int& turn) const {
    int covered = 1;
    // Lanes read lines of one step while others write that of the next.
    const auto exchange = [&] {
      Part* const line = s.line[turn] + (warps == 1 ? m.warp() * warp_size : 0);
      turn = 1 - turn;
      m.put(line[at.lane], part);
      meet();
      return line;
    };
    AREAL_NO_UNROLL
    for (; 4 * covered < a.columns.size; covered *= 4) {
      const Part* const line = exchange();
      Least least(part);
      AREAL_NO_UNROLL
      for (int i = 1; i < 4; ++i) least.add(m, at_distance(line, at, i * covered));
      part = least.part(m);
    }
    if (a.columns.size > 1) {
      const Part* const line = exchange();
      Least least(at_distance(line, at, a.lead));
      AREAL_NO_UNROLL
      for (int end = 2 * covered; end - covered < a.columns.size; end += covered)
        least.add(m, at_distance(line, at, a.lead + (end < a.columns.size ? end : a.columns.size) - covered));
      part = least.part(m);
    }
    if (at.out >= 0) store(at, y, pixels(part));
  }

  AREAL_DEVICE void store(const Place& at, int y, Part part) const {
    char* const row = at.to + y * a.to.row;
    if (a.vectors && a.min_count <= 1 && at.out + V <= a.columns.outputs) {
      m.store_streaming(reinterpret_cast<Part*>(row + std::int64_t{at.out} * bytes), part);
      return;
    }
    const bool shrinks = a.columns.edge == Edge::shrink;
    const std::int64_t down = shrinks ? a.rows.inside(y) : 0;  // others have too few everywhere
    AREAL_NO_UNROLL
    for (int i = 0; i < V; ++i) {
      Key one = static_cast<Key>(part.at[0]);
      if constexpr (bytes == 8) one |= Key{part.at[1]} << 32;
      const int x = at.out + i;
      if (a.min_count > 1 && down * (shrinks ? a.columns.inside(x) : 1) < a.min_count) one = static_cast<Key>(a.fill);
      if (x < a.columns.outputs) store_element(m, row + x * a.to.column, one, a.out_aligned);
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) {
        if constexpr (bytes < 4)
          part.at[w] =
              part.at[w] >> (8 * bytes % 32) | (w < 3 ? part.at[w < 3 ? w + 1 : 3] << (32 - 8 * bytes) % 32 : 0);
        else
          part.at[w] = part.at[w + bytes / 4 < 4 ? w + bytes / 4 : 3];
      }
    }
  }
};

}  // namespace areal::kernels
