#pragma once
// Means of bytes by matrix products, one launch without a workspace.
//
// The sums of the windows of an image X are the product V X U of bytes: U has a band of ones for the columns of each
// window, V one for its rows. A block walks down a strip of columns, a chunk of 16 rows after the other, which all its
// threads copy asynchronously into a ring of tiles in shared memory. Each warp has 32 columns of outputs. Of a chunk it
// computes X U, sums of 16 bits, and keeps their lower and upper bytes in registers as the right operand of V (X U),
// until the last chunk arrives that windows of these rows end in. The order of columns within products is such that no
// lane needs another one's sums.
//
// Columns beyond the edge are filled in the tile, from its own pixels, one chunk before they are used.
//
// Reads: for each segment of S rows and strip, the rows of ceil(S / 16) + blocks - 1 chunks, columns + 32 (steps - 1)
// columns of each. Writes: each output once.

#include <cstdint>
#include "formulas/rounded_mean.hpp"
#include "kernels/filter/axis.hpp"
#include "kernels/filter/units.hpp"
#include "kernels/filter/walk/walk_kernel.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// Windows whose columns lie in `steps` times 32 columns of the tile for each warp, and whose rows lie in `blocks`
/// chunks for each chunk of outputs.
template <int steps_, int blocks_, WalkOutput output_>
struct MeansByBands {
  static constexpr int steps = steps_, blocks = blocks_;
  static constexpr WalkOutput output = output_;
};

/// Which of four places from `place` on lie in a window of `size` from `first` on: a byte of 1 each.
AREAL_BOTH std::uint32_t band_of_ones(int first, int size, int place) {
  const auto bytes_before = [](int count) { return count <= 0 ? 0u : count >= 4 ? ~0u : (1u << 8 * count) - 1; };
  return 0x01010101u & (bytes_before(first + size - place) & ~bytes_before(first - place));
}

struct BandMeansArgs {
  const char* image;
  char* out;
  Strides from, to;
  FilterAxis columns, rows;
  RowsBeyond beyond_rows;
  std::int64_t units;          ///< blocks: planes x segments x strips
  int strips, channels;        ///< of a plane; of an image
  int segments, segment_rows;  ///< of a strip; outputs, a multiple of a chunk's
  // TileBandMeans: the same of the first and the last strip, if `outer` is 1.
  std::int64_t outer_units;
  int outer, outer_segments, outer_rows;
  int margin;                  ///< columns of the tile before the strip's outputs, a multiple of 16
  bool vectors;                ///< outputs can be stored eight at a time
  std::uint32_t beyond;        ///< a pixel beyond the edge, four times
  formulas::RoundedMean mean;  ///< of a whole window
  std::uint32_t factor, add;   ///< for WalkOutput::product: (sum factor + add) / 2^24
};

/// The part of an image that a block of BandMeans or of TileBandMeans walks down.
struct BandPlace {
  const char* image;                ///< the plane
  char* out;                        ///< the plane
  int x, y;                         ///< the first output
  int end;                          ///< of the outputs' columns
  int left;                         ///< column of the image at the tile's first one
  int rows;                         ///< of outputs
  int chunks;                       ///< of rows to read
  int first;                        ///< row of the image at the first chunk's first one
  int inner_begin, inner_end;       ///< chunks without rows beyond the edge, or beyond the last window's
  bool plain;                       ///< of BandMeans: outputs are stored eight at a time, and fill the strip
  int outside_left, outside_right;  ///< vectors of a row of the tile beyond the edge that windows need
  int first_right;                  ///< of the latter, the first vector

  template <class Kernel>
  AREAL_DEVICE void set(const BandMeansArgs& a, const FilterUnit& unit, int segment_rows) {
    y = unit.y;
    image = a.image + unit.plane_in(a.from);
    out = a.out + unit.plane_in(a.to);
    x = unit.strip * Kernel::columns;
    left = x - a.margin;
    rows = a.rows.outputs - y < segment_rows ? a.rows.outputs - y : segment_rows;
    // A chunk of outputs needs the rows of so many, also if the last has none that windows reach.
    chunks = (rows + Kernel::chunk - 1) / Kernel::chunk + Kernel::blocks - 1;
    first = y - a.rows.before;
    const int end_row = rows + a.rows.size - 1, inside = a.rows.extent - first;
    inner_begin = first < 0 ? (Kernel::chunk - 1 - first) / Kernel::chunk : 0;
    inner_end = (end_row < inside ? end_row : inside) / Kernel::chunk;
    plain = a.vectors && x + Kernel::columns <= a.columns.outputs;
    outside_left = left < 0 ? -left / 16 : 0;
    first_right = (a.columns.extent - left) / 16;
    end = x + Kernel::columns < a.columns.outputs ? x + Kernel::columns : a.columns.outputs;
    const int needed = (end + a.columns.after() - left + 15) / 16;  // of the tile's vectors
    outside_right = needed > first_right ? needed - first_right : 0;
  }
};

/// The means of four whole windows, a byte each. sum(i): of the i-th.
template <WalkOutput output, class M, class F>
AREAL_DEVICE std::uint32_t four_means(const M& m, const BandMeansArgs& a, const F& sum) {
  static constexpr std::uint32_t selector = output == WalkOutput::product ? 0x0073 : 0x0040;
  const auto mean = [&](int i) -> std::uint32_t {
    if constexpr (output == WalkOutput::product) return sum(i) * a.factor + a.add;
    if constexpr (output == WalkOutput::upper) return a.mean.up(sum(i));
    return a.mean(sum(i));
  };
  return m.permute(m.permute(mean(0), mean(1), selector), m.permute(mean(2), mean(3), selector), 0x5410);
}

template <class M, class C>
struct BandMeans {
  using Args = BandMeansArgs;
  static constexpr int warps = 4, threads = warps * warp_size, resident = C::blocks > 3 ? 3 : 4;
  static constexpr int chunk = 16;              // rows
  static constexpr int each = 32;               // columns of outputs of a warp
  static constexpr int columns = warps * each;  // of outputs
  static constexpr int margin_unit = 16;        // of columns before them
  static constexpr int steps = C::steps, blocks = C::blocks, stages = 4;
  static constexpr int span = columns + each * (steps - 1), vectors = span / 16;  // of a tile's row
  // A lane reads 8 bytes, and a quarter of a warp two rows: 32 or 96 more than a multiple of 128.
  static constexpr int pitch = span % 128 == 32 || span % 128 == 96 ? span : span + 32;
  static_assert(pitch % 128 == 32 || pitch % 128 == 96);
  static constexpr int turns = (chunk * vectors + threads - 1) / threads;  // vectors of a chunk that a thread copies
  using Vector = Vec<std::uint32_t, 4>;
  using Two = Vec<std::uint32_t, 2>;
  struct Shared {
    Vector tile[stages][chunk][pitch / 16];
    std::uint32_t words[8 * C::steps + 2 * C::blocks][warp_size];
  };

  M m;
  Args a;

  struct Place : BandPlace {
    bool whole;  ///< all windows of the strip have all their columns
  };
  /// The vectors that a thread copies of each chunk.
  struct Copies {
    int cell[turns];          ///< of the tile; -1: none
    const char* from[turns];  ///< of the next chunk
  };
  /// The part of a thread in filling vectors beyond the edge: a word of four columns from two words of its row.
  struct Fill {
    int row, vector;  ///< vector -1: none
    std::uint32_t from[4], selector[4];
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place at = place_of(m.block());
    const bool sided = at.left < 0 || at.left + span > a.columns.extent;
    if (a.columns.edge == Edge::shrink && (sided || at.first < 0 || at.y + at.rows + a.rows.after() > a.rows.extent))
      return walk<true, true>(s, at);
    sided ? walk<true, false>(s, at) : walk<false, false>(s, at);
  }

  AREAL_DEVICE Place place_of(std::int64_t unit) const {
    Place at;
    at.template set<BandMeans>(a, FilterUnit::at(unit, a), a.segment_rows);
    at.whole =
        a.columns.edge != Edge::shrink || (at.x >= a.columns.before && at.end + a.columns.after() <= a.columns.extent);
    return at;
  }

  // ---------------------------------------------------------------- pixels

  AREAL_DEVICE Copies copies_of(const Place& at) const {
    Copies copies;
    AREAL_UNROLL
    for (int i = 0; i < turns; ++i) {
      const int number = m.thread() + i * threads, row = number / vectors, vector = number % vectors;
      const int x = at.left + 16 * vector;
      const bool inside = number < chunk * vectors && x >= 0 && x + 16 <= a.columns.extent;
      copies.cell[i] = inside ? row * (pitch / 16) + vector : -1;
      copies.from[i] = at.image + static_cast<std::int64_t>(at.first + row) * a.from.row + x;
    }
    return copies;
  }
  /// Begins to copy the next chunk.
  AREAL_DEVICE void fetch(Shared& s, const Place& at, Copies& copies, int number) const {
    if (number < at.inner_end && number >= at.inner_begin) {
      AREAL_UNROLL
      for (int i = 0; i < turns; ++i)
        if (copies.cell[i] >= 0)
          m.copy_async(s.tile[number % stages][0][copies.cell[i]], reinterpret_cast<const Vector*>(copies.from[i]));
    } else if (number < at.chunks) {
      fetch_outer(s, at, number);
    }
    AREAL_UNROLL
    for (int i = 0; i < turns; ++i) copies.from[i] += chunk * a.from.row;
    m.commit_copies();
  }
  /// A chunk with rows beyond the edge, or beyond the last window's, which no output needs.
  AREAL_DEVICE void fetch_outer(Shared& s, const Place& at, int number) const {
    const int last = at.rows + a.rows.size - 2;
    AREAL_NO_UNROLL
    for (int i = 0; i < turns; ++i) {
      const int thread = m.thread() + i * threads, row = thread / vectors, vector = thread % vectors;
      const int x = at.left + 16 * vector;
      if (row >= chunk || x < 0 || x + 16 > a.columns.extent) continue;
      const int n = number * chunk + row, y = a.beyond_rows.row(at.first + (n < last ? n : last));
      Vector& cell = s.tile[number % stages][row][vector];
      if (y >= 0)
        m.copy_async(cell, reinterpret_cast<const Vector*>(at.image + y * a.from.row + x));
      else
        m.put(cell, Vector{{a.beyond, a.beyond, a.beyond, a.beyond}});
    }
  }
  static constexpr std::uint32_t no_word = 0xffffu;
  AREAL_DEVICE Fill fill_of(const Place& at) const {
    Fill fill{};
    const int of = m.thread() / chunk;
    fill.row = m.thread() % chunk;
    fill.vector = of < at.outside_left                      ? of
                  : of < at.outside_left + at.outside_right ? at.first_right + of - at.outside_left
                                                            : -1;
    if (fill.vector < 0) return fill;
    const int begin = at.left < 0 ? 0 : at.left;
    const int end = at.left + span < a.columns.extent ? at.left + span : a.columns.extent;
    AREAL_UNROLL
    for (int w = 0; w < 4; ++w) {
      std::uint32_t one = no_word, two = no_word, selector = 0;
      AREAL_NO_UNROLL
      for (int b = 0; b < 4; ++b) {
        const int x = a.columns.pixel(at.left + 16 * fill.vector + 4 * w + b);
        std::uint32_t word = no_word, byte = 0;
        if (x >= begin && x < end) {
          word = static_cast<std::uint32_t>((x - at.left) / 4);
          byte = static_cast<std::uint32_t>((x - at.left) % 4);
        }
        if (b == 0)
          one = word;
        else if (word != one)
          two = word;
        selector |= (word == one ? byte : 4 + byte) << (4 * b);
      }
      fill.from[w] = one | two << 16, fill.selector[w] = selector;
    }
    return fill;
  }
  AREAL_DEVICE void fill_sides(Shared& s, const Fill& fill, int number) const {
    if (fill.vector < 0) return;
    Vector* const row = s.tile[number % stages][fill.row];
    Vector vector;
    AREAL_UNROLL
    for (int w = 0; w < 4; ++w) {
      const std::uint32_t one = fill.from[w] & 0xffffu, two = fill.from[w] >> 16;
      const std::uint32_t low = one == no_word ? a.beyond : m.get(row[one / 4].at[one % 4]);
      const std::uint32_t high = two == no_word ? a.beyond : m.get(row[two / 4].at[two % 4]);
      vector.at[w] = m.permute(low, high, fill.selector[w]);
    }
    m.put(row[fill.vector], vector);
  }

  // ---------------------------------------------------------------- bands

  struct Bars {
    std::uint32_t across[2][steps][4];  // of each half of the columns, and of 32 columns of the tile
    std::uint32_t down[blocks][2];
  };
  static constexpr int words_of_bars = sizeof(Bars) / sizeof(std::uint32_t);
  /// A lane's word of Bars. Lane 4 g + t has the places g and g + 8 of a result, which are the columns 8 (g / 2) + g %
  /// 2, and 2 more, of the first half; those of the second half are 4 more. Of a left operand's columns it has 8 t to
  /// 8 t + 7.
  AREAL_DEVICE std::uint32_t bar(int word) const {
    const int g = m.lane() / 4, t = m.lane() % 4;
    if (word < 2 * steps * 4) {
      const int r = word % 4, column = 8 * (g / 2) + g % 2 + 2 * (r % 2) + 4 * (word / (4 * steps));
      const int first = column + a.margin - a.columns.before;
      return band_of_ones(first, a.columns.size, each * (word / 4 % steps) + 8 * t + 4 * (r / 2));
    }
    word -= 2 * steps * 4;
    const int first = g + 8 * (word % 2), row = chunk * (word / 2) + 2 * t;
    return m.permute(band_of_ones(first, a.rows.size, row), band_of_ones(first, a.rows.size, row + 8), 0x5410);
  }
  /// Each warp makes some of the words of all; a barrier must follow.
  AREAL_DEVICE void make_bars(Shared& s) const {
    AREAL_NO_UNROLL
    for (int word = m.warp(); word < words_of_bars; word += warps) m.put(s.words[word][m.lane()], bar(word));
  }
  AREAL_DEVICE Bars bars_of(const Shared& s) const {
    Bars all;
    AREAL_UNROLL
    for (int q = 0; q < 2; ++q) AREAL_UNROLL
    for (int step = 0; step < steps; ++step) AREAL_UNROLL
    for (int r = 0; r < 4; ++r) all.across[q][step][r] = m.get(s.words[4 * (steps * q + step) + r][m.lane()]);
    AREAL_UNROLL
    for (int i = 0; i < 2 * blocks; ++i) all.down[i / 2][i % 2] = m.get(s.words[8 * steps + i][m.lane()]);
    return all;
  }

  /// Sums of the rows of a chunk, as right operands: of columns 2 i and 2 i + 1 of each 8, their lower and upper bytes.
  struct Sums {
    std::uint32_t low[4], high[4];
  };
  AREAL_DEVICE Sums across(const Shared& s, const Bars& bars, int number) const {
    const int g = m.lane() / 4, t = m.lane() % 4;
    Vector sum[2][2];  // of the chunk's halves, and of the columns'
    AREAL_UNROLL
    for (int u = 0; u < 2; ++u) {
      const auto* const row =
          reinterpret_cast<const Two*>(s.tile[number % stages][8 * u + g]) + each / 8 * m.warp() + t;
      sum[u][0] = sum[u][1] = Vector{};
      AREAL_UNROLL
      for (int step = 0; step < steps; ++step) {
        const Two pixels = m.get(row[each / 8 * step]);
        AREAL_UNROLL
        for (int q = 0; q < 2; ++q) sum[u][q] = m.multiply_bytes(bars.across[q][step], pixels.at, sum[u][q]);
      }
    }
    Sums sums;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int q = i / 2, r = 2 * (i % 2);
      const std::uint32_t one = m.permute(sum[0][q].at[r], sum[0][q].at[r + 1], 0x5410);
      const std::uint32_t two = m.permute(sum[1][q].at[r], sum[1][q].at[r + 1], 0x5410);
      sums.low[i] = m.permute(one, two, 0x6420), sums.high[i] = m.permute(one, two, 0x7531);
    }
    return sums;
  }

  // ---------------------------------------------------------------- outputs

  /// Of eight windows that extend beyond the edge.
  AREAL_DEVICE Two means_inside(int x, int y, std::uint32_t (&sum)[8]) const {
    const int down = a.rows.inside(y);
    Two two{};
    AREAL_NO_UNROLL
    for (int i = 0; i < 8; ++i, ++x) {
      const auto n = static_cast<std::uint32_t>(down * a.columns.inside(x)), more = sum[0] + n / 2;
      std::uint32_t quotient = more / n;
      if (n % 2 == 0 && quotient * n == more) quotient -= quotient & 1;
      two.at[0] = two.at[0] >> 8 | two.at[1] << 24, two.at[1] = two.at[1] >> 8 | (quotient & 0xff) << 24;
      AREAL_UNROLL
      for (int b = 0; b < 7; ++b) sum[b] = sum[b + 1];
    }
    return two;
  }
  /// Of the chunk of outputs whose windows begin in the first of these chunks.
  template <bool shrinks>
  AREAL_DEVICE void output(const Place& at, const Bars& bars, const Sums (&held)[blocks], int oldest, int y,
                           char*& to) const {
    std::uint32_t sum[2][8];  // of the lane's two rows
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      Vector low{}, high{};
      AREAL_UNROLL
      for (int b = 0; b < blocks; ++b) {
        const Sums& sums = held[(oldest + b) % blocks];
        low = m.multiply_bytes(bars.down[b], {sums.low[i]}, low);
        high = m.multiply_bytes(bars.down[b], {sums.high[i]}, high);
      }
      AREAL_UNROLL
      for (int r = 0; r < 2; ++r) AREAL_UNROLL
      for (int b = 0; b < 2; ++b) sum[r][2 * i + b] = low.at[2 * r + b] + (high.at[2 * r + b] << 8);
    }
    const int x = at.x + each * m.warp() + 8 * (m.lane() % 4);
    AREAL_UNROLL
    for (int r = 0; r < 2; ++r, to += chunk / 2 * a.to.row) {
      const int row = y + m.lane() / 4 + 8 * r;
      Two two;
      AREAL_UNROLL
      for (int i = 0; i < 2; ++i) two.at[i] = four_means<C::output>(m, a, [&](int n) { return sum[r][4 * i + n]; });
      if constexpr (shrinks)
        if (!at.whole || a.rows.inside(at.y + row) != a.rows.size) two = means_inside(x, at.y + row, sum[r]);
      if (row < at.rows && at.plain)
        m.store_streaming(reinterpret_cast<Two*>(to), two);
      else if (row < at.rows)
        store(to, two, a.columns.outputs - x);
    }
  }
  AREAL_DEVICE void store(char* to, Two two, int count) const {
    if (a.vectors && count >= 8) return m.store_streaming(reinterpret_cast<Two*>(to), two);
    AREAL_NO_UNROLL
    for (int i = 0; i < 8 && i < count; ++i, to += a.to.column) {
      m.store_streaming(reinterpret_cast<std::uint8_t*>(to), static_cast<std::uint8_t>(two.at[0] & 0xff));
      two.at[0] = two.at[0] >> 8 | two.at[1] << 24, two.at[1] >>= 8;
    }
  }

  /// `sided`: some of the tile's columns lie beyond the edge. `shrinks`: some of the windows may.
  template <bool sided, bool shrinks>
  AREAL_DEVICE void walk(Shared& s, const Place& at) const {
    Copies copies = copies_of(at);
    Fill fill{};
    if constexpr (sided) {
      fill = fill_of(at);
      // Nothing is copied to vectors that no window needs.
      AREAL_NO_UNROLL
      for (int i = m.thread(); i < stages * chunk * vectors; i += threads)
        m.put(s.tile[i / (chunk * vectors)][i / vectors % chunk][i % vectors], Vector{});
      m.sync();
    }
    AREAL_NO_UNROLL
    for (int i = 0; i < stages - 1; ++i) fetch(s, at, copies, i);
    make_bars(s);
    m.template wait_copies<stages - 2>();
    m.sync();
    if constexpr (sided) fill_sides(s, fill, 0);
    const Bars bars = bars_of(s);
    Sums held[blocks];
    AREAL_UNROLL
    for (int number = 0; number < blocks - 1; ++number) held[number] = next<sided>(s, at, copies, fill, bars, number);
    char* to = at.out + static_cast<std::int64_t>(at.y + m.lane() / 4) * a.to.row +
               (at.x + each * m.warp() + 8 * (m.lane() % 4)) * a.to.column;
    for (int number = blocks - 1;;) {
      AREAL_UNROLL
      for (int phase = 0; phase < blocks; ++phase, ++number) {
        if (number >= at.chunks) return;
        held[(phase + blocks - 1) % blocks] = next<sided>(s, at, copies, fill, bars, number);
        output<shrinks>(at, bars, held, phase, chunk * (number - blocks + 1), to);
      }
    }
  }
  /// The sums of the next chunk, which is whole after the barrier, and the one behind it for fill_sides.
  template <bool sided>
  AREAL_DEVICE Sums next(Shared& s, const Place& at, Copies& copies, const Fill& fill, const Bars& bars,
                         int number) const {
    m.template wait_copies<stages - 3>();
    m.sync();
    fetch(s, at, copies, number + stages - 1);
    if constexpr (sided) fill_sides(s, fill, number + 1);
    return across(s, bars, number);
  }
};

}  // namespace areal::kernels
