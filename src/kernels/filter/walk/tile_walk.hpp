#pragma once
// What kernels of the products of warpgroups share: how the tiles of a strip are loaded and filled, and its bands.
//
// A block walks down a strip of columns, a chunk of 64 rows after the other. Four warps copy chunks into a ring of
// tiles in shared memory. Each other warpgroup has 64 columns of outputs.
//
//   - X U has a column of outputs for each row of the left operand. A lane has sums of 4 of each 16 rows of the chunk,
//     which are the next 4 of 16 places in the right operand of V: V's band has its rows in this order.
//   - The columns of X U are in an order by which a lane has 16 outputs side by side.
//   - Workers fence what loaders copied and wrote. fence_async waits for all copies of its thread: a loader that fenced
//     would have only one chunk in flight.
//   - A line of 128 bytes of the image goes to one line of shared memory. Copies whose destinations lie in several
//     lines make one request of the L2 for each vector.
//
// Columns beyond the edge are filled in the tile, from its own pixels, before it is passed on.

#include <cstdint>
#include "kernels/filter/walk/bands_kernel.hpp"

namespace areal::kernels {

inline constexpr int tile_chunk = 64;  // rows

/// `count` chunks of rows of `vectors` vectors, in lines of 8 (see place_in_lines). The last half lines of two
/// neighbouring chunks lie side by side.
template <int count, int vectors>
struct TileLines {
  static_assert(count % 2 == 0 && vectors % 4 == 0);
  using Vector = Vec<std::uint32_t, 4>;
  static constexpr int whole = vectors / 8, of_two = vectors / 4;  // lines of a row
  Vector line[count / 2][of_two][tile_chunk * 8];

  AREAL_DEVICE Vector& cell(int number, int row, int vector) {
    const bool half = vectors % 8 != 0 && vector >= 8 * whole;
    const int which = half ? of_two - 1 : number % 2 * whole + vector / 8;
    return line[number / 2][which][place_in_lines(row, vector % 8 + (half ? number % 2 * 4 : 0))];
  }
  /// The 32 bytes of each row from a vector on.
  AREAL_DEVICE ByteTile tile(int number, int vector) { return {&cell(number, 0, vector), 8 * 128, 0}; }
};

/// `groups` warpgroups of workers. Windows whose rows lie in `steps` times 32 rows, of two chunks, for each 64 rows of
/// outputs. Bands of ones, and if `bands` is 2, of 128. `planes` more chunks of bytes, which loaders make of those.
template <class M, class Args_, int groups_, int steps_, int bands, int planes>
struct TileWalk {
  using Args = Args_;
  static constexpr int groups = groups_, group_threads = 4 * warp_size, workers = groups * group_threads;
  static constexpr int threads = workers + 4 * warp_size, resident = 1;  // four warps load
  static constexpr int chunk = tile_chunk, quarter = 16;                 // rows; of a loading warp
  static constexpr int blocks = 2;                                       // chunks of rows for each of outputs
  static constexpr int each = 64;                                        // columns of outputs of a warpgroup
  static constexpr int columns = groups * each;                          // of outputs
  static constexpr int margin_unit = 32;  // of columns before them: tiles begin with a sector
  static constexpr int reach = 4 * 32;    // columns of the tile that the windows of `each` columns of outputs have
  static constexpr int steps = steps_, stages = 4;
  static constexpr int span = columns - each + reach, vectors = span / 16;  // of a row
  static_assert(vectors <= 16);                                             // half a warp copies a row
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

  struct Tiles {
    TileLines<stages + planes, vectors> tile;
    Tile across[bands][reach / 16], down[bands][2 * steps];
    Fill fill[most_beyond];
    Mbarrier full[stages], empty[stages];
  };

  M m;
  Args a;

  struct Cut {
    int strips, segments, segment_rows, channels;
  };
  AREAL_DEVICE bool sided(const BandPlace& at) const { return at.left < 0 || at.left + span > a.columns.extent; }
  /// Of all threads, before loaders and workers part.
  AREAL_DEVICE void begin(Tiles& s, const BandPlace& at) const {
    if (m.thread() < stages) {
      m.init(s.full[m.thread()], threads - workers);
      m.init(s.empty[m.thread()], workers / warp_size);
    }
    m.fence_init();
    if (sided(at)) {
      if (a.columns.copies()) make_fills(s, at);
      put_beyond(s, at);
    }
    m.sync();
  }
  /// Whether some of the place's windows extend beyond an edge that has no pixels.
  AREAL_DEVICE bool shrinks(const BandPlace& at) const {
    return a.columns.edge == Edge::shrink &&
           (sided(at) || at.first < 0 || at.y + at.rows + a.rows.after() > a.rows.extent);
  }

  AREAL_DEVICE BandPlace place_of(std::int64_t unit) const {
    BandPlace at;
    // The first and the last strip come first.
    const bool outer = unit < a.outer_units;
    const Cut cut{outer ? 2 : a.strips - 2 * a.outer, outer ? a.outer_segments : a.segments,
                  outer ? a.outer_rows : a.segment_rows, a.channels};
    FilterUnit place = FilterUnit::at(outer ? unit : unit - a.outer_units, cut);
    place.strip = outer ? place.strip * (a.strips - 1) : place.strip + a.outer;
    at.template set<TileWalk>(a, place, cut.segment_rows);
    return at;
  }

  // ---------------------------------------------------------------- pixels

  /// Before the block's barrier: vectors beyond the edge, which copies leave alone.
  AREAL_DEVICE void put_beyond(Tiles& s, const BandPlace& at) const {
    const int vector = m.thread() % 16, x = at.left + 16 * vector;
    if (vector >= vectors || (x >= 0 && x + 16 <= a.columns.extent)) return;
    AREAL_NO_UNROLL
    for (int row = m.thread() / 16; row < stages * chunk; row += threads / 16)
      m.put(s.tile.cell(row / chunk, row % chunk, vector), beyond());
  }
  /// The stage of a chunk, and whether its barriers' phase is odd.
  AREAL_DEVICE static int stage_of(int number) { return number % stages; }
  AREAL_DEVICE static unsigned parity_of(int number) { return static_cast<unsigned>(number / stages & 1); }
  /// A loader's warp of the four.
  AREAL_DEVICE int loader() const { return m.warp() - workers / warp_size; }
  /// A loader's part: 16 rows of each chunk. Its warp calls landed(number) when its rows of the chunk have landed, with
  /// `late` chunks in flight behind it, which passes the chunk on. `late` 0: they are passed on as they land.
  template <int late, class Landed>
  AREAL_DEVICE void load(Tiles& s, const BandPlace& at, const Landed& landed) const {
    const int row = quarter * loader() + m.lane() / 16, vector = m.lane() % 16;
    const int x = at.left + 16 * vector;
    const bool inside = vector < vectors && x >= 0 && x + 16 <= a.columns.extent;
    const char* from = at.image + static_cast<std::int64_t>(at.first + row) * a.from.row + x;
    AREAL_NO_UNROLL
    for (int number = 0; number < at.chunks; ++number, from += chunk * a.from.row) {
      const int stage = stage_of(number);
      if (number >= stages) m.wait(s.empty[stage], parity_of(number - stages));
      const bool inner = number < at.inner_end && number >= at.inner_begin;
      if (inside && inner) copy(s, stage, row, vector, from);
      if (inside && !inner) copy_outer(s, at, stage, number, row, vector, x);
      if constexpr (late > 0) {
        m.commit_copies();
        m.template wait_copies<late>();
        m.sync_warp();
        if (number >= late) landed(number - late);
      } else if (inner) {
        m.arrive_copies(s.full[stage]);
      } else {
        m.commit_copies();
        m.template wait_copies<0>();
        m.arrive(s.full[stage]);
      }
    }
    if constexpr (late > 0) {
      m.template wait_copies<0>();
      m.sync_warp();
      AREAL_NO_UNROLL
      for (int number = at.chunks > late ? at.chunks - late : 0; number < at.chunks; ++number) landed(number);
    }
  }
  AREAL_DEVICE Vector beyond() const { return {{a.beyond, a.beyond, a.beyond, a.beyond}}; }
  /// Every second row of a quarter of a chunk.
  AREAL_DEVICE void copy(Tiles& s, int stage, int row, int vector, const char* from) const {
    AREAL_UNROLL
    for (int i = 0; i < quarter; i += 2, from += 2 * a.from.row)
      m.copy_async(s.tile.cell(stage, row + i, vector), reinterpret_cast<const Vector*>(from));
  }
  /// The same of a chunk with rows beyond the edge, or beyond the last window's, which no output needs.
  AREAL_DEVICE void copy_outer(Tiles& s, const BandPlace& at, int stage, int number, int row, int vector, int x) const {
    AREAL_NO_UNROLL
    for (int i = row; i < row + quarter; i += 2) {
      const int y = row_of(at, number * chunk + i);
      Vector& to = s.tile.cell(stage, i, vector);
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
  AREAL_DEVICE void make_fills(Tiles& s, const BandPlace& at) const {
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
  /// Of the warp's rows of a chunk, which have landed.
  AREAL_DEVICE void fill_sides(Tiles& s, const BandPlace& at, int number) const {
    const int stage = stage_of(number), first = quarter * loader();
    AREAL_NO_UNROLL
    for (int i = m.lane(); i < quarter * (at.outside_left + at.outside_right); i += warp_size) {
      const int row = first + i % quarter;
      const Fill& fill = s.fill[i / quarter];
      const auto word = [&](std::uint32_t n) {
        return m.get(s.tile.cell(stage, row, static_cast<int>(n / 4)).at[n % 4]);
      };
      Vector vector;
      AREAL_UNROLL
      for (int w = 0; w < 4; ++w) {
        const Two from = m.get(fill.from[w]);
        vector.at[w] = m.permute(word(from.at[0]), word(from.at[1]), m.get(fill.selector[w]));
      }
      m.put(s.tile.cell(stage, row, vector_beyond(at, i / quarter)), vector);
    }
  }

  // ---------------------------------------------------------------- bands

  AREAL_DEVICE void make_bars(Tiles& s) const {
    AREAL_NO_UNROLL
    for (int i = m.thread(); i < reach / 16 * chunk * 4; i += workers) {
      const int n = i / 4 % chunk, word = i % 4, place = 16 * (i / 4 / chunk);
      // Row n of the left operand is the column that row n of V X U's right operand has: see output.
      const int column = 16 * (n % 8 / 2) + 2 * (n / 8) + n % 2;
      const int row = place + 2 * word, cell = 4 * (n % 8) + word;
      const std::uint32_t across = band_of_ones(column + a.margin - a.columns.before, a.columns.size, place + 4 * word);
      const std::uint32_t down =
          m.permute(band_of_ones(n, a.rows.size, row), band_of_ones(n, a.rows.size, row + 8), 0x5410);
      AREAL_UNROLL
      for (int band = 0; band < bands; ++band) {
        m.put(s.across[band][place / 16][n / 8][cell], across << (7 * band));
        if (place < 32 * steps) m.put(s.down[band][place / 16][n / 8][cell], down << (7 * band));
      }
    }
  }
  static constexpr int next_rows = 8 * 16, next_bytes = sizeof(Tile);
  AREAL_DEVICE static ByteTile tile_of(const Tile& first) { return {&first, next_rows, next_bytes}; }

  /// The lowest bytes of four words, and the next ones.
  AREAL_DEVICE Two bytes_of(std::uint32_t one, std::uint32_t two, std::uint32_t three, std::uint32_t four) const {
    const std::uint32_t first = m.permute(one, two, 0x5140), last = m.permute(three, four, 0x5140);
    return {{m.permute(first, last, 0x5410), m.permute(first, last, 0x7632)}};
  }
  /// Waits for a chunk, whose tile products may then read.
  AREAL_DEVICE void wait_for(Tiles& s, int number) const {
    m.wait(s.full[stage_of(number)], parity_of(number));
    m.fence_async();
  }
  /// Of a worker's warp, which has waited for its products of the chunk.
  AREAL_DEVICE void give_back(Tiles& s, int number) const {
    m.sync_warp();
    if (m.lane() == 0) m.arrive(s.empty[stage_of(number)]);
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
};

}  // namespace areal::kernels
