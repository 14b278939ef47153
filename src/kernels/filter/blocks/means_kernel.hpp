#pragma once
// Means of floats by blocks where every pixel counts: the additions of `Blocks` in the same order, one launch.
//
// Each warp walks down a strip of columns on its own; a lane has four columns, half a block of 8. Going down, it keeps
// the sum of the block of 8 rows that the window ends in, up to there, and of the whole blocks between, whose totals
// wait in a ring in shared memory. When windows begin to leave a block of rows, its rows are read a second time, from
// the last upwards, and the sums of its last rows, of its last two, .. wait in shared memory. Windows of up to 8 rows
// read all their rows instead.
//
// Along the row, the two lanes of a block exchange one sum. Lanes put the sums from the beginning of a block to each
// column into shared memory, where the lanes whose windows end there find them. The last lanes have only incomplete
// windows.
//
// Reads: for each segment of S rows and strip S + height - 1 rows; of windows of more than 8 rows less those of the
// first window's first block, and once more the rows of the blocks that windows leave. Writes: each output once.

#include <cmath>
#include <cstdint>
#include "kernels/filter/blocks/blocks_kernel.hpp"

namespace areal::kernels {

/// Means of 32f to 32f of windows of whose blocks of rows `ring` totals wait.
template <int ring_>
struct MeansByBlocks {
  static constexpr int ring = ring_;
};

template <class M, class C>
struct BlockMeans {
  using Args = BlocksArgs;
  static constexpr int block = 8, V = 4;
  static constexpr int threads = warp_size, resident = C::ring > 0 ? 12 : 20;
  static constexpr int ahead = 2;                 // rows on their way
  static constexpr std::int64_t most_width = 64;  // half of the lanes have complete windows
  using Two = Vec<double, 2>;
  using Four = Vec<float, 4>;

  /// Sums of a lane's columns, in vectors side by side of the lanes.
  struct Held {
    Two at[V / 2][warp_size];
  };
  struct Shared {
    Held held[block + C::ring];  // sums of a block's last rows; totals
    double ends[V][warp_size];   // sums from the beginning of a block of columns
    int shown[V][warp_size];     // the pixels of a lane whose columns are no vector of the image; -1: beyond
  };

  M m;
  Args a;

  struct Place {
    const char* image;  ///< the plane
    char* out;          ///< the plane, at the first lane's first output, which may lie before the strip
    int column;         ///< the lane's first
    int y, rows;        ///< the segment's first output row, and its rows of outputs
    int begin, end;     ///< outputs of the strip, from the first lane's first on
    bool whole;         ///< the lane's columns are vectors of the image
    bool full;          ///< their windows have as many columns as any
    bool upper;         ///< the lane has the upper half of its block
    int complete;       ///< the lane, or the last one whose windows are complete
    int last;           ///< the row after the last one that windows need
  };
  using Row = double[V];

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place at = place_of(s, m.block());
    m.all(at.whole && at.full, full_mask) ? walk<true>(s, at) : walk<false>(s, at);
  }

  AREAL_DEVICE Place place_of(Shared& s, std::int64_t unit) const {
    Place at;
    // The first and the last strip, whose rows take longer, begin first.
    at.y = static_cast<int>(unit % a.segments) * a.segment_rows;
    unit /= a.segments;
    const std::int64_t planes = a.units / a.segments / a.strips, plane = unit % planes;
    const std::int64_t channel = plane % a.channels, image = plane / a.channels;
    const auto turn = static_cast<int>(unit / planes);
    const int strip = turn == 0 ? 0 : turn == 1 ? a.strips - 1 : turn - 1;
    at.image = a.image + image * a.from.batch + channel * a.from.channel;
    at.rows = a.rows.outputs - at.y < a.segment_rows ? a.rows.outputs - at.y : a.segment_rows;
    at.last = at.y - a.rows.before + at.rows + a.rows.size - 1;
    const int first = -a.columns.before - (-a.columns.before & (block - 1));  // a block's first column
    const int left = first + strip * a.strip_columns;
    at.column = left + V * m.thread();
    const int out = left + a.columns.before;  // of the first lane's first output
    at.out = a.out + image * a.to.batch + channel * a.to.channel + out * static_cast<std::int64_t>(sizeof(float));
    at.begin = out < 0 ? -out : 0;
    at.end = a.columns.outputs - out < a.strip_columns ? a.columns.outputs - out : a.strip_columns;
    at.whole = a.vectors && at.column >= 0 && at.column + V <= a.columns.extent;
    at.full =
        a.columns.edge != Edge::shrink || (at.column >= 0 && at.column + V - 1 + a.columns.size <= a.columns.extent);
    const int complete = a.strip_columns / V - 1;
    at.complete = m.thread() < complete ? m.thread() : complete;
    at.upper = m.thread() % 2 != 0;
    const int needed = a.columns.outputs - a.columns.before + a.columns.size - 1;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = at.column + j;
      m.put(s.shown[j][m.thread()], x < -a.columns.before || x >= needed ? -1 : a.columns.pixel(x));
    }
    return at;
  }

  // ---------------------------------------------------------------- rows

  AREAL_DEVICE float beyond() const { return __builtin_bit_cast(float, static_cast<std::uint32_t>(a.beyond)); }

  /// A lane's columns of the row at a position; `inner`: of a strip whose lanes all have vectors of the image.
  template <bool inner>
  AREAL_DEVICE Four row(const Shared& s, const Place& at, int position) const {
    const int y = a.rows.pixel(position);
    if (y >= 0 && (inner || at.whole)) return vectors(at, y);
    Four raw;
    const char* const from = at.image + y * a.from.row;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const int x = inner || y < 0 ? -1 : m.get(s.shown[j][m.thread()]);
      raw.at[j] = x < 0 ? beyond() : load_element<M, float>(m, from + x * a.from.column, a.finish.pixel_aligned);
    }
    return raw;
  }
  /// The same, but an inner strip's row that is_beyond has any pixels: to choose them would wait for the load.
  template <bool inner>
  AREAL_DEVICE void load_row(const Shared& s, const Place& at, int position, Four& raw) const {
    if constexpr (inner) {
      const int y = a.rows.pixel(position);
      raw = vectors(at, y < 0 ? 0 : y);
    } else {
      raw = row<inner>(s, at, position);
    }
  }
  AREAL_DEVICE bool is_beyond(int position) const {
    return (position < 0 || position >= a.rows.extent) && !a.rows.copies();
  }
  AREAL_DEVICE Four filled() const { return {{beyond(), beyond(), beyond(), beyond()}}; }
  AREAL_DEVICE Four vectors(const Place& at, int y) const {
    const char* const from = at.image + y * a.from.row + at.column * static_cast<std::int64_t>(sizeof(float));
    return m.load(reinterpret_cast<const Four*>(from));
  }
  /// All of these rows are vectors, and lie in the image.
  template <bool inner>
  AREAL_DEVICE bool are_vectors(const Place& at, int from, int to) const {
    return (inner || at.whole) && from >= 0 && to <= a.rows.extent;
  }

  AREAL_DEVICE void hold(Held& to, const Row& sum) const {
    AREAL_UNROLL
    for (int i = 0; i < V / 2; ++i) m.put(to.at[i][m.thread()], Two{{sum[2 * i], sum[2 * i + 1]}});
  }
  AREAL_DEVICE void take(const Held& from, Row& sum) const {
    AREAL_UNROLL
    for (int i = 0; i < V / 2; ++i) {
      const Two two = m.get(from.at[i][m.thread()]);
      sum[2 * i] = two.at[0], sum[2 * i + 1] = two.at[1];
    }
  }
  AREAL_DEVICE static void add(Row& sum, const Row& next) {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = sum[j] + next[j];
  }
  AREAL_DEVICE static void add(Row& sum, const Four& raw) {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = sum[j] + static_cast<double>(raw.at[j]);
  }
  AREAL_DEVICE static void set(Row& sum, const Four& raw) {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = static_cast<double>(raw.at[j]);
  }

  // ---------------------------------------------------------------- down the columns

  static constexpr int together = 4;  // rows that are loaded before the first is added

  /// Sums of the block of rows at `first` from each of its rows `cell` to 7 on to its end.
  template <bool inner>
  AREAL_DEVICE void leave(Shared& s, const Place& at, int first, int cell) const {
    if (are_vectors<inner>(at, first, first + block))
      leave_by<together>(s, first, 0, [&](int position) { return vectors(at, position); });
    else
      leave_by<1>(s, first, cell, [&](int position) { return row<inner>(s, at, position); });
  }
  template <int together_, class RowAt>
  AREAL_DEVICE void leave_by(Shared& s, int first, int cell, const RowAt& row_at) const {
    Row sum = {};
    AREAL_NO_UNROLL
    for (int i = block - together_; i >= cell; i -= together_) {
      Four raw[together_];
      AREAL_UNROLL
      for (int k = 0; k < together_; ++k) raw[k] = row_at(first + i + k);
      AREAL_UNROLL
      for (int k = together_ - 1; k >= 0; --k) {
        i + k == block - 1 ? set(sum, raw[k]) : add(sum, raw[k]);
        hold(s.held[i + k], sum);
      }
    }
  }

  AREAL_DEVICE void keep(Shared& s, int& slot, const Row& total) const {
    hold(s.held[block + slot], total);
    if (++slot == a.ring_length) slot = 0;
  }
  /// The sum of the totals, from the oldest on.
  AREAL_DEVICE void between(const Shared& s, int slot, Row& sum) const {
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = 0;
    AREAL_NO_UNROLL
    for (int n = 0; n < a.ring_length; ++n) {
      Row total;
      take(s.held[block + slot], total);
      add(sum, total);
      if (++slot == a.ring_length) slot = 0;
    }
  }

  /// f(row, position) for the rows from a position on; `ahead` rows are on their way. A register that waits for its row
  /// is not moved: the move would wait, too.
  template <bool inner, class F>
  AREAL_DEVICE void for_rows(Shared& s, const Place& at, int from, const F& f) const {
    Four next[ahead] = {};
    AREAL_UNROLL
    for (int i = 0; i < ahead; ++i)
      if (from + i < at.last) load_row<inner>(s, at, from + i, next[i]);
    AREAL_NO_UNROLL
    for (int position = from; position < at.last; position += ahead) {
      AREAL_UNROLL
      for (int i = 0; i < ahead; ++i) {
        if (position + i >= at.last) break;
        Four entering = next[i];
        if (inner && is_beyond(position + i)) entering = filled();
        if (position + i + ahead < at.last) load_row<inner>(s, at, position + i + ahead, next[i]);
        f(entering, position + i);
      }
    }
  }

  /// Of the rows that windows end in.
  struct Down {
    Row whole, prefix;
    int slot;
  };
  /// Takes over a row: its sum with those before in its block, and the whole blocks of the windows that end there.
  template <bool inner>
  AREAL_DEVICE void enter(Shared& s, const Place& at, Down& down, const Four& entering, int position) const {
    const int begin = at.y - a.rows.before, start = position - (a.rows.size - 1), end = position & (block - 1);
    const bool leaves = (start & (block - 1)) == 0 && start > begin;
    if (leaves) {
      leave<inner>(s, at, start, 0);
      between(s, down.slot, down.whole);
    }
    if (end == 0) {
      // The ring has it already where windows leave a block; the first block that rows enter has none before it.
      if (position > begin - (begin & (block - 1)) + block && !leaves) add(down.whole, down.prefix);
      set(down.prefix, entering);
    } else {
      add(down.prefix, entering);
    }
    if (C::ring > 0 && end == block - 1 && a.ring_length > 0) keep(s, down.slot, down.prefix);
  }
  template <bool inner>
  AREAL_DEVICE void walk(Shared& s, const Place& at) const {
    if (a.rows.size <= block) return walk_low<inner>(s, at);
    const int begin = at.y - a.rows.before, first = begin - (begin & (block - 1));
    Down down{};
    leave<inner>(s, at, first, begin - first);
    for_rows<inner>(s, at, first + block, [&](const Four& entering, int position) {
      enter<inner>(s, at, down, entering, position);
      const int start = position - (a.rows.size - 1);  // of the window whose last row it is
      if (start < begin) return;
      Row sum;
      take(s.held[start & (block - 1)], sum);
      add(sum, down.whole), add(sum, down.prefix);
      across<inner>(s, at, start + a.rows.before, sum);
    });
  }

  /// Windows of up to 8 rows, which wait in shared memory.
  template <bool inner>
  AREAL_DEVICE void walk_low(Shared& s, const Place& at) const {
    const int begin = at.y - a.rows.before;
    Four* const rows = reinterpret_cast<Four*>(s.held);
    for_rows<inner>(s, at, begin, [&](const Four& entering, int position) {
      m.put(rows[(position & (block - 1)) * warp_size + m.thread()], entering);
      const int start = position - (a.rows.size - 1);
      if (start < begin) return;
      Row sum = {};
      low_window(rows, start, sum);
      across<inner>(s, at, start + a.rows.before, sum);
    });
  }
  /// The rows of one block from the first on; or those of the first block from its end upwards, then the others.
  AREAL_DEVICE void low_window(const Four* rows, int start, Row& sum) const {
    const auto row_at = [&](int position) { return m.get(rows[(position & (block - 1)) * warp_size + m.thread()]); };
    const int rest = block - (start & (block - 1)), split = rest < a.rows.size ? rest : 0;
    if (split > 0) {
      set(sum, row_at(start + split - 1));
      AREAL_NO_UNROLL
      for (int i = split - 2; i >= 0; --i) add(sum, row_at(start + i));
    }
    Row prefix;
    set(prefix, row_at(start + split));
    AREAL_NO_UNROLL
    for (int i = split + 1; i < a.rows.size; ++i) add(prefix, row_at(start + i));
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = split > 0 ? (sum[j] + 0.0) + prefix[j] : prefix[j];
  }

  // ---------------------------------------------------------------- along the row

  /// Windows of a row of column sums, and their outputs.
  template <bool inner>
  AREAL_DEVICE void across(Shared& s, const Place& at, int y, const Row& column) const {
    Row prefix, window;
    prefix[0] = column[0], window[V - 1] = column[V - 1];
    fill(column, prefix, window);
    const double other = m.shuffle_xor(at.upper ? window[0] : prefix[V - 1], 1);
    prefix[0] = at.upper ? other + column[0] : column[0];
    window[V - 1] = at.upper ? column[V - 1] : column[V - 1] + other;
    fill(column, prefix, window);
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) m.put(s.ends[j][m.thread()], prefix[j]);
    m.sync_warp(full_mask);
    // Windows that begin in one of the block's first columns end `away` blocks later, the others in the next block.
    const int away = (a.columns.size - 1) / block;
    double some = 0, more = 0;
    AREAL_NO_UNROLL
    for (int n = 1; n <= away; ++n) {
      some = more;
      more = more + m.get(s.ends[V - 1][(at.complete | 1) + 2 * n]);
    }
    // The lane's windows end this many lanes later, the last `rest` ones in the next lane.
    const int lanes = (a.columns.size - 1) / V, end = at.complete + lanes;
    const double first = lanes % 2 != 0 && at.upper ? more : some, last = lanes % 2 != 0 || at.upper ? more : some;
    const auto add_ends = [&]<int rest>() {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j)
        window[j] =
            (window[j] + (j + rest < V ? first : last)) + m.get(s.ends[(j + rest) % V][end + (j + rest < V ? 0 : 1)]);
    };
    switch ((a.columns.size - 1) % V) {
      case 0:
        add_ends.template operator()<0>();
        break;
      case 1:
        add_ends.template operator()<1>();
        break;
      case 2:
        add_ends.template operator()<2>();
        break;
      default:
        add_ends.template operator()<3>();
    }
    if (away == 0) near_windows(at, column, window);
    m.sync_warp(full_mask);
    output<inner>(at, y, window);
  }
  /// Sums from the first to each column, and from each to the last one.
  AREAL_DEVICE static void fill(const Row& column, Row& prefix, Row& suffix) {
    AREAL_UNROLL
    for (int j = 1; j < V; ++j) {
      prefix[j] = prefix[j - 1] + column[j];
      suffix[V - 1 - j] = column[V - 1 - j] + suffix[V - j];
    }
  }

  /// Windows inside one block, from the first column on.
  AREAL_DEVICE void near_windows(const Place& at, const Row& column, Row& window) const {
    const int later = block - (a.columns.size - 1) - (at.upper ? V : 0);
    double both[2 * V];
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) both[j] = column[j], both[V + j] = m.shuffle_xor(column[j], 1);
    Row sum;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) sum[j] = column[j];
    AREAL_UNROLL
    for (int n = 1; n < 2 * V; ++n) {
      if (n >= a.columns.size) break;
      AREAL_UNROLL
      for (int j = 0; j < V && j + n < 2 * V; ++j) sum[j] = sum[j] + both[j + n];
    }
    AREAL_UNROLL
    for (int j = 0; j < V; ++j)
      if (j < later) window[j] = sum[j];
  }

  // ---------------------------------------------------------------- outputs

  template <bool inner>
  AREAL_DEVICE void output(const Place& at, int y, const Row& window) const {
    float mean[V];
    std::uint32_t distance = ~0u, least = ~0u;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) {
      const double near = window[j] * a.reciprocal;
      mean[j] = static_cast<float>(near);
      const std::uint32_t middle = from_middle(near), size = size_of(near);
      distance = middle < distance ? middle : distance;
      least = size < least ? size : least;
    }
    const bool whole = (inner || at.full) && (a.columns.edge != Edge::shrink || a.rows.inside(y) == a.rows.size);
    if (!whole || distance <= doubtful || least < normal) divide(at, y, window, mean);
    store(at, reinterpret_cast<float*>(at.out + y * a.to.row), mean);
  }

  /// The product of a sum and n's reciprocal is at most two units in the last place of a double from the quotient. So
  /// both round to the same float, unless the middle of two floats is as near. Floats have 29 bits fewer; this is the
  /// distance from four units below their middle on, in eighths, and wraps.
  AREAL_DEVICE static std::uint32_t from_middle(double near) {
    return static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, near)) * 8 + 8 * (0x10000000u + 4);
  }
  static constexpr std::uint32_t doubtful = 8 * 8;
  /// The exponent and the first bits of the fraction, twice, less 2; that of 0, whose mean is exact, is the largest.
  AREAL_DEVICE static std::uint32_t size_of(double near) {
    return static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, near) >> 32) * 2 - 2;
  }
  static constexpr std::uint32_t normal = (1023u - 120) << 21;  // of 2^-120, far above a float's least exponent
  /// A lane's means by divisions: of windows that lose pixels at the edge, and of sums that have no mean by a product.
  AREAL_DEVICE void divide(const Place& at, int y, const Row& sum, float (&mean)[V]) const {
    Row window;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) window[j] = sum[j];
    const bool inside = a.columns.edge == Edge::shrink;
    const double down = inside ? a.rows.inside(y) : a.rows.size;
    AREAL_NO_UNROLL
    for (int x = at.column + a.columns.before, end = x + V; x < end; ++x) {
      const double count = down * (inside ? a.columns.inside(x) : a.columns.size);
      const auto one = static_cast<float>(window[0] == 0 ? window[0] : window[0] / count);
      AREAL_UNROLL
      for (int j = 0; j + 1 < V; ++j) window[j] = window[j + 1], mean[j] = mean[j + 1];
      mean[V - 1] = one;
    }
  }
  /// Stores outputs as vectors of aligned addresses, each from the end of one lane's and the beginning of the next
  /// one's. The first lane stores the rest.
  AREAL_DEVICE void store(const Place& at, float* to, const float (&mean)[V]) const {
    const int over = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % V);  // in all lanes
    const int shift = over == 0 ? 0 : V - over, x = V * m.thread() + shift;
    Four four;
    switch (shift) {
      case 0:
        four = shifted<0>(mean);
        break;
      case 1:
        four = shifted<1>(mean);
        break;
      case 2:
        four = shifted<2>(mean);
        break;
      default:
        four = shifted<3>(mean);
    }
    if (x >= at.begin && x + V <= at.end) {
      m.store_streaming(reinterpret_cast<Four*>(to + x), four);
    } else if (x < at.end) {
      AREAL_UNROLL
      for (int j = 0; j < V; ++j)
        if (x + j >= at.begin && x + j < at.end) m.store_streaming(to + x + j, four.at[j]);
    }
    if (m.thread() > 0) return;
    AREAL_UNROLL
    for (int j = 0; j < V - 1; ++j)
      if (j < shift && j >= at.begin && j < at.end) m.store_streaming(to + j, mean[j]);
  }
  /// Four floats from mean[by] on, the last ones from the next lane.
  template <int by>
  AREAL_DEVICE Four shifted(const float (&mean)[V]) const {
    Four four;
    AREAL_UNROLL
    for (int j = 0; j < V; ++j) four.at[j] = j + by < V ? mean[(j + by) % V] : m.shuffle_down(mean[(j + by) % V], 1);
    return four;
  }
};

}  // namespace areal::kernels
