#pragma once
// Means of bytes by the matrix products of warpgroups, one launch without a workspace.
//
// The products are those of BandMeans: V X U, with bands of ones in U for the columns of each window and in V for its
// rows. A block walks down a strip of columns, a chunk of 64 rows after the other. Four warps copy chunks into a ring
// of tiles in shared memory. Each other warpgroup has 64 columns of outputs. Of a chunk it computes X U, sums of 16
// bits, puts their lower and upper bytes into shared memory, and multiplies V by those of two chunks. Meanwhile the
// tensor cores multiply its part of the next chunk.
//
//   - X U has a column of outputs for each row of the left operand. A lane has sums of 4 of each 16 rows of the chunk,
//     which are the next 4 of 16 places in the right operand of V: V's band has its rows in this order.
//   - The columns of X U are in an order by which a lane has 16 outputs side by side.
//   - Workers fence what loaders copied. fence_async waits for all copies of its thread: a loader that fenced would
//     have only one chunk in flight.
//   - A line of 128 bytes of the image goes to one line of shared memory. Copies whose destinations lie in several
//     lines make one request of the L2 for each vector.
//
// Columns beyond the edge are filled in the tile, from its own pixels, before it is passed on.
//
// Reads: for each segment of S rows and strip, those of S rows and of a window's other rows, columns + 64 columns of
// each. Writes: each output once.

#include <cstdint>
#include "formulas/rounded_mean.hpp"
#include "kernels/filter/walk/bands_kernel.hpp"

namespace areal::kernels {

/// Windows whose rows lie in `steps` times 32 rows, of two chunks, for each 64 rows of outputs.
template <int steps_, WalkOutput output_>
struct MeansByTileBands {
  static constexpr int steps = steps_;
  static constexpr WalkOutput output = output_;
};

template <class M, class C>
struct TileBandMeans {
  using Args = BandMeansArgs;
  static constexpr int groups = 3, group_threads = 4 * warp_size, workers = groups * group_threads;
  static constexpr int threads = workers + 4 * warp_size, resident = 1;  // four warps load
  static constexpr int chunk = 64, quarter = 16;                         // rows; of a loading warp
  static constexpr int blocks = 2;                                       // chunks of rows for each of outputs
  static constexpr int each = 64;                                        // columns of outputs of a warpgroup
  static constexpr int columns = groups * each;                          // of outputs
  static constexpr int margin_unit = 32;  // of columns before them: tiles begin with a sector
  static constexpr int reach = 4 * 32;    // columns of the tile that the windows of `each` columns of outputs have
  static constexpr int steps = C::steps, stages = 4;
  static constexpr int span = columns - each + reach, vectors = span / 16, lines = vectors / 8;  // of a row
  static_assert(vectors == 16);          // half a warp copies a row
  static constexpr int most_beyond = 8;  // vectors of a row beyond the edge that windows need
  using Vector = Vec<std::uint32_t, 4>;
  using Sums = std::uint32_t[32];
  /// 64 rows or columns of 16 places: 8 of them lie together, in 8 times 16 bytes.
  using Tile = std::uint32_t[8][warp_size];
  using Two = Vec<std::uint32_t, 2>;
  struct Fill {
    Two from[4];
    std::uint32_t selector[4];
  };

  struct Shared {
    Vector tile[stages][lines][chunk * 8];
    Tile sums[groups][2][2][4];  // lower and upper bytes; of two chunks
    Tile across[reach / 16], down[2 * steps];
    Fill fill[most_beyond];
    Two parts[columns];  // for means of windows of each column that have all their rows: factor; shift + 1 + 256 pixels
    Mbarrier full[stages], empty[stages];
  };

  M m;
  Args a;

  struct Cut {
    int strips, segments, segment_rows, channels;
  };
  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const BandPlace at = place_of(m.block());
    if (m.thread() < stages) {
      m.init(s.full[m.thread()], threads - workers);
      m.init(s.empty[m.thread()], workers / warp_size);
    }
    m.fence_init();
    const bool sided = at.left < 0 || at.left + span > a.columns.extent;
    const bool fills = sided && a.columns.copies();
    if (fills) make_fills(s, at);
    if (sided) put_beyond(s, at);
    m.sync();
    if (m.thread() >= workers) return fills ? load<true>(s, at) : load<false>(s, at);
    make_bars(s);
    const bool shrinks = a.columns.edge == Edge::shrink &&
                         (sided || at.first < 0 || at.y + at.rows + a.rows.after() > a.rows.extent);
    if (shrinks) make_parts(s, at);
    m.fence_async();
    m.sync(groups + 1, workers);
    shrinks ? walk<true>(s, at) : walk<false>(s, at);
  }

  AREAL_DEVICE BandPlace place_of(std::int64_t unit) const {
    BandPlace at;
    // The first and the last strip come first.
    const bool outer = unit < a.outer_units;
    const Cut cut{outer ? 2 : a.strips - 2 * a.outer, outer ? a.outer_segments : a.segments,
                  outer ? a.outer_rows : a.segment_rows, a.channels};
    FilterUnit place = FilterUnit::at(outer ? unit : unit - a.outer_units, cut);
    place.strip = outer ? place.strip * (a.strips - 1) : place.strip + a.outer;
    at.template set<TileBandMeans>(a, place, cut.segment_rows);
    return at;
  }

  // ---------------------------------------------------------------- pixels

  AREAL_DEVICE Vector& cell(Shared& s, int stage, int row, int vector) const {
    return s.tile[stage][vector / 8][place_in_lines(row, vector % 8)];
  }
  /// Before the block's barrier: vectors beyond the edge, which copies leave alone.
  AREAL_DEVICE void put_beyond(Shared& s, const BandPlace& at) const {
    const int vector = m.thread() % 16, x = at.left + 16 * vector;
    if (x >= 0 && x + 16 <= a.columns.extent) return;
    AREAL_NO_UNROLL
    for (int row = m.thread() / 16; row < stages * chunk; row += threads / 16)
      m.put(cell(s, row / chunk, row % chunk, vector), beyond());
  }
  /// A loader's part: 16 rows of each chunk. `fills`: columns beyond the edge show others, and are filled one chunk
  /// later.
  template <bool fills>
  AREAL_DEVICE void load(Shared& s, const BandPlace& at) const {
    const int row = quarter * (m.warp() - workers / warp_size) + m.lane() / 16, vector = m.lane() % 16;
    const int x = at.left + 16 * vector;
    const bool inside = x >= 0 && x + 16 <= a.columns.extent;
    const char* from = at.image + static_cast<std::int64_t>(at.first + row) * a.from.row + x;
    AREAL_NO_UNROLL
    for (int number = 0; number < at.chunks; ++number, from += chunk * a.from.row) {
      const int stage = number % stages;
      if (number >= stages) m.wait(s.empty[stage], (number / stages - 1) & 1);
      const bool inner = number < at.inner_end && number >= at.inner_begin;
      if (inside && inner) copy(s, stage, row, vector, from);
      if (inside && !inner) copy_outer(s, at, stage, number, row, vector, x);
      if constexpr (fills) {
        m.commit_copies();
        m.template wait_copies<1>();
        if (number > 0) fill_sides(s, at, number - 1);
      } else if (inner) {
        m.arrive_copies(s.full[stage]);
      } else {
        m.commit_copies();
        m.template wait_copies<0>();
        m.arrive(s.full[stage]);
      }
    }
    if constexpr (fills) {
      m.template wait_copies<0>();
      fill_sides(s, at, at.chunks - 1);
    }
  }
  AREAL_DEVICE Vector beyond() const { return {{a.beyond, a.beyond, a.beyond, a.beyond}}; }
  /// Every second row of a quarter of a chunk.
  AREAL_DEVICE void copy(Shared& s, int stage, int row, int vector, const char* from) const {
    AREAL_UNROLL
    for (int i = 0; i < quarter; i += 2, from += 2 * a.from.row)
      m.copy_async(cell(s, stage, row + i, vector), reinterpret_cast<const Vector*>(from));
  }
  /// The same of a chunk with rows beyond the edge, or beyond the last window's, which no output needs.
  AREAL_DEVICE void copy_outer(Shared& s, const BandPlace& at, int stage, int number, int row, int vector,
                               int x) const {
    AREAL_NO_UNROLL
    for (int i = row; i < row + quarter; i += 2) {
      const int y = row_of(at, number * chunk + i);
      Vector& to = cell(s, stage, i, vector);
      if (y >= 0)
        m.copy_async(to, reinterpret_cast<const Vector*>(at.image + y * a.from.row + x));
      else
        m.put(to, beyond());
    }
  }
  /// The row of the image that a row of the segment shows; -1 if it shows none.
  AREAL_DEVICE int row_of(const BandPlace& at, int row) const {
    const int last = at.rows + a.rows.size - 2;
    return a.beyond_rows.row(at.first + (row < last ? row : last));
  }

  /// How each vector beyond the edge is made of words of its row, two for each of its own: where they lie in the tile's
  /// row 0, and the order of bytes.
  AREAL_DEVICE void make_fills(Shared& s, const BandPlace& at) const {
    AREAL_NO_UNROLL
    for (int i = m.thread(); i < 4 * (at.outside_left + at.outside_right); i += threads) {
      int one = 0, two = 0;
      std::uint32_t selector = 0;
      AREAL_NO_UNROLL
      for (int b = 0; b < 4; ++b) {
        int x = a.columns.pixel(at.left + 16 * vector_beyond(at, i / 4) + 4 * (i % 4) + b) - at.left;
        if (x < 0)
          x = 0;  // the last column of the last vector, which no window needs, may show the one before the tile
        const int word = x / 4;
        if (b == 0)
          one = two = word;
        else if (word != one)
          two = word;
        selector |= static_cast<std::uint32_t>(word == one ? x % 4 : 4 + x % 4) << (4 * b);
      }
      m.put(s.fill[i / 4].from[i % 4], Two{{static_cast<std::uint32_t>(one), static_cast<std::uint32_t>(two)}});
      m.put(s.fill[i / 4].selector[i % 4], selector);
    }
  }
  AREAL_DEVICE int vector_beyond(const BandPlace& at, int i) const {
    return i < at.outside_left ? i : at.first_right + i - at.outside_left;
  }
  /// Of the warp's rows of a chunk, which have landed, and passes it on.
  AREAL_DEVICE void fill_sides(Shared& s, const BandPlace& at, int number) const {
    const int stage = number % stages, first = quarter * (m.warp() - workers / warp_size);
    m.sync_warp();
    AREAL_NO_UNROLL
    for (int i = m.lane(); i < quarter * (at.outside_left + at.outside_right); i += warp_size) {
      const int row = first + i % quarter;
      const Fill& fill = s.fill[i / quarter];
      const auto word = [&](std::uint32_t n) { return m.get(cell(s, stage, row, static_cast<int>(n / 4)).at[n % 4]); };
      Vector vector;
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) {
        const Two from = m.get(fill.from[w]);
        vector.at[w] = m.permute(word(from.at[0]), word(from.at[1]), m.get(fill.selector[w]));
      }
      m.put(cell(s, stage, row, vector_beyond(at, i / quarter)), vector);
    }
    m.arrive(s.full[stage]);
  }

  // ---------------------------------------------------------------- bands

  AREAL_DEVICE void make_bars(Shared& s) const {
    AREAL_NO_UNROLL
    for (int i = m.thread(); i < reach / 16 * chunk * 4; i += workers) {
      const int n = i / 4 % chunk, word = i % 4, place = 16 * (i / 4 / chunk);
      // Row n of the left operand is the column that row n of V X U's right operand has: see output.
      const int column = 16 * (n % 8 / 2) + 2 * (n / 8) + n % 2;
      std::uint32_t& across = s.across[i / 4 / chunk][n / 8][4 * (n % 8) + word];
      m.put(across, band_of_ones(column + a.margin - a.columns.before, a.columns.size, place + 4 * word));
      if (place >= 32 * steps) continue;
      std::uint32_t& down = s.down[i / 4 / chunk][n / 8][4 * (n % 8) + word];
      const int row = place + 2 * word;
      m.put(down, m.permute(band_of_ones(n, a.rows.size, row), band_of_ones(n, a.rows.size, row + 8), 0x5410));
    }
  }
  AREAL_DEVICE void make_parts(Shared& s, const BandPlace& at) const {
    for (int i = m.thread(); i < columns; i += workers) {
      const formulas::RoundedMean mean(static_cast<std::uint32_t>(a.rows.size * a.columns.inside(at.x + i)));
      m.put(s.parts[i], Two{{mean.factor, mean.pixels << 8 | static_cast<std::uint32_t>(mean.shift + 1)}});
    }
  }
  static constexpr int next_rows = 8 * 16, next_bytes = sizeof(Tile);
  AREAL_DEVICE static ByteTile tile_of(const Tile& first) { return {&first, next_rows, next_bytes}; }

  // ---------------------------------------------------------------- sums

  /// Begins X U of a chunk.
  AREAL_DEVICE void across(Shared& s, int group, int number, Sums& sum) const {
    const int stage = number % stages;
    m.wait(s.full[stage], (number / stages) & 1);
    m.fence_async();
    m.begin_products();
    AREAL_UNROLL
    for (int step = 0; step < reach / 32; ++step) {
      const int vector = 4 * group + 2 * step;  // the first of the tile's
      const auto* const line = reinterpret_cast<const char*>(s.tile[stage][vector / 8]) + vector % 8 * 16;
      m.multiply_tiles(sum, tile_of(s.across[2 * step]), {line, 8 * 128, 0}, step > 0);
    }
    m.commit_products();
  }
  /// Puts its sums, of 16 bits, once all of the group have read those of two chunks before.
  AREAL_DEVICE void keep(Shared& s, int group, int number, const Sums& sum) const {
    if (m.lane() == 0) m.arrive(s.empty[number % stages]);
    m.sync(group + 1, group_threads);
    Tile *const low = s.sums[group][0][number % 2], *const high = s.sums[group][1][number % 2];
    AREAL_UNROLL
    for (int j = 0; j < 8; j += 2) AREAL_UNROLL
    for (int h = 0; h < 2; ++h) {
      const std::uint32_t one = m.permute(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1], 0x5140);
      const std::uint32_t two = m.permute(sum[4 * j + 2 * h + 4], sum[4 * j + 2 * h + 5], 0x5140);
      const int block = 2 * (m.warp() % 4) + h;
      m.put(low[j / 2][block][m.lane()], m.permute(one, two, 0x5410));
      m.put(high[j / 2][block][m.lane()], m.permute(one, two, 0x7632));
    }
    m.fence_async();
    m.sync(group + 1, group_threads);
  }
  /// Begins V (X U) of the chunk of outputs whose windows begin in the chunk before this one.
  AREAL_DEVICE void down(Shared& s, int group, int number, Sums& low, Sums& high) const {
    m.begin_products();
    AREAL_UNROLL
    for (int step = 0; step < steps; ++step) {
      const int slot = (number + 1 + step / 2) % 2, place = 2 * (step % 2);
      m.multiply_tiles(low, tile_of(s.down[2 * step]), tile_of(s.sums[group][0][slot][place]), step > 0);
      m.multiply_tiles(high, tile_of(s.down[2 * step]), tile_of(s.sums[group][1][slot][place]), step > 0);
    }
    m.commit_products();
  }

  // ---------------------------------------------------------------- outputs

  /// Of a window that extends beyond the edge. The estimate differs from the quotient by at most one.
  AREAL_DEVICE std::uint32_t mean_inside(int x, int down, std::uint32_t sum) const {
    const auto n = static_cast<std::uint32_t>(down * a.columns.inside(x)), more = sum + n / 2;
    auto quotient = static_cast<std::uint32_t>(static_cast<float>(more) * m.inverse_estimate(static_cast<float>(n)));
    const std::uint32_t rest = more - quotient * n;
    if (static_cast<std::int32_t>(rest) < 0)
      --quotient;
    else if (rest >= n)
      ++quotient;
    if (n % 2 == 0 && quotient * n == more) quotient -= quotient & 1;
    return quotient;
  }
  template <class F>
  AREAL_DEVICE static Vector each_mean(const F& mean_of) {
    Vector vector{};
    AREAL_UNROLL
    for (int i = 0; i < 16; ++i) vector.at[i / 4] |= (mean_of(i) & 0xffu) << (8 * (i % 4));
    return vector;
  }
  /// Of two rows of 16 windows.
  template <bool shrinks>
  AREAL_DEVICE void output(const Shared& s, const BandPlace& at, int x, int row, const Sums& low, const Sums& high,
                           char* to) const {
    AREAL_UNROLL
    for (int h = 0; h < 2; ++h, row += 8, to += 8 * a.to.row) {
      const auto sum = [&](int i) {
        const int n = i / 2 * 4 + 2 * h + i % 2;
        return low[n] + (high[n] << 8);
      };
      Vector vector;
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) vector.at[w] = four_means<C::output>(m, a, [&](int i) { return sum(4 * w + i); });
      if constexpr (shrinks) {
        const int inside = a.rows.inside(at.y + row);
        if (inside != a.rows.size)
          vector = each_mean([&](int i) { return mean_inside(x + i, inside, sum(i)); });
        else if (x < a.columns.before || x + 15 + a.columns.after() >= a.columns.extent)
          vector = each_mean([&](int i) {
            const Two part = m.get(s.parts[x - at.x + i]);
            formulas::RoundedMean mean;
            mean.factor = part.at[0], mean.shift = static_cast<int>(part.at[1] & 0xffu) - 1,
            mean.pixels = part.at[1] >> 8;
            return mean(sum(i));
          });
      }
      if (row < at.rows) store(to, vector, a.columns.outputs - x);
    }
  }
  AREAL_DEVICE void store(char* to, Vector vector, int count) const {
    if (a.vectors && count >= 16) return m.store_streaming(reinterpret_cast<Vector*>(to), vector);
    AREAL_NO_UNROLL
    for (int i = 0; i < 16 && i < count; ++i, to += a.to.column) {
      m.store_streaming(reinterpret_cast<std::uint8_t*>(to), static_cast<std::uint8_t>(vector.at[0] & 0xff));
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) vector.at[w] = vector.at[w] >> 8 | (w < 3 ? vector.at[w + 1] << 24 : 0);
    }
  }

  /// `shrinks`: some of the windows may lie beyond the edge in part.
  template <bool shrinks>
  AREAL_DEVICE void walk(Shared& s, const BandPlace& at) const {
    const int group = m.shuffle(m.warp() / 4, 0);  // the same for all lanes, which the compiler then knows
    const int x = at.x + each * group + 16 * (m.lane() % 4);
    int row = 16 * (m.warp() % 4) + m.lane() / 4;
    char* to = at.out + static_cast<std::int64_t>(at.y + row) * a.to.row + x * a.to.column;
    Sums next, low, high;
    across(s, group, 0, next);
    m.template wait_products<0>(next);
    keep(s, group, 0, next);
    across(s, group, 1, next);
    m.template wait_products<0>(next);
    AREAL_NO_UNROLL
    for (int number = 1; number < at.chunks; ++number, row += chunk, to += chunk * a.to.row) {
      keep(s, group, number, next);
      down(s, group, number, low, high);
      // The assembler follows products only within a branch.
      if (number + 1 < at.chunks) {
        across(s, group, number + 1, next);
        m.template wait_products<1>(low, high);
        output<shrinks>(s, at, x, row, low, high, to);
        m.template wait_products<0>(next);
      } else {
        m.template wait_products<0>(low, high);
        output<shrinks>(s, at, x, row, low, high, to);
      }
    }
  }
};

}  // namespace areal::kernels
