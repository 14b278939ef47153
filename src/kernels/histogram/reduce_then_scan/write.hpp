#pragma once
// reduce-then-scan, third launch: the tensor. A warp walks down the rows of some tiles, one below the other, for one
// bin.

#include <cstdint>
#include <type_traits>
#include "kernels/histogram/reduce_then_scan/tile.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// How a warp stores its rows: as vectors; as elements of all the tile's columns; or for any tensor.
enum class RowStores : std::uint8_t { vectors, elements, any };

/// A warp's tiles, one below the other: one bin of one image.
struct ReduceThenScanPlace {
  std::int64_t image, x, y;
  std::int64_t tile;    ///< the first, of the image
  std::int64_t at;      ///< of all planes
  std::int64_t corner;  ///< the first of its corner's terms, and their number
  int corner_terms;
  int bin, columns, rows;
};

/// What the counting and the weighing warp share. E: adjacent columns that a lane stores at once; a row of the tile
/// takes 4 / E stores a lane.
template <class M, class C>
struct ReduceThenScanWarp {
  using T = typename C::T;
  using A = typename C::A;
  using Side = typename C::Side;
  template <int E>
  using Sums = A[4 / E][E];

  const M& m;
  const ReduceThenScanArgs<A>& a;
  const ReduceThenScanPlace& place;

  template <int E>
  AREAL_DEVICE int column(int store) const {
    return store * warp_size * E + m.lane() * E;
  }

  /// Inclusive sums along the columns of one store, starting from `carry`; then of the next store.
  template <int E>
  AREAL_DEVICE void across(A (&x)[E], A& carry) const {
    AREAL_UNROLL
    for (int v = 1; v < E; ++v) x[v] += x[v - 1];
    const A scan = warp_scan(m, x[E - 1]);
    const A before = carry + before_in_scan(m, scan, x[E - 1]);
    AREAL_UNROLL
    for (int v = 0; v < E; ++v) x[v] += before;
    carry += m.shuffle(scan, warp_size - 1);
  }

  /// The tensor above and left of the tile.
  AREAL_DEVICE A corner() const {
    A sum = 0;
    for (int i = m.lane(); i < place.corner_terms; i += warp_size) sum += m.load(a.corners + place.corner + i);
    return warp_sum(m, sum);
  }
  /// The anchor: the tensor's row above the tile.
  template <int E>
  AREAL_DEVICE void anchor(A corner, Sums<E>& sum) const {
    const Side* const from = static_cast<const Side*>(a.above) + place.at * tile_width;
    AREAL_UNROLL
    for (int j = 0; j < 4 / E; ++j) {
      const auto above = m.load(reinterpret_cast<const Vec<Side, E>*>(from + column<E>(j)));
      AREAL_UNROLL
      for (int v = 0; v < E; ++v) sum[j][v] = above.at[v];
      across<E>(sum[j], corner);
    }
    if (a.carry.above) add_above<E>(sum);
  }
  /// Adds the carry above the piece, less its corner.
  template <int E>
  AREAL_DEVICE void add_above(Sums<E>& sum) const {
    const TensorPlaneCarry<M, C> carry = carried();
    const A less = carry.corner();
    const char* const above = carry.above_at(place.x + (a.edge ? 1 : 0) + column<E>(0));
    AREAL_UNROLL
    for (int j = 0; j < 4 / E; ++j) AREAL_UNROLL
    for (int v = 0; v < E; ++v)
      if (column<E>(j) + v < place.columns)
        sum[j][v] +=
            carry.element(above + (j * warp_size * E + v) * static_cast<int>(sizeof(T)), a.carry.above_in) - less;
  }
  AREAL_DEVICE TensorPlaneCarry<M, C> carried() const { return {m, a.carry, place.image, place.bin}; }
  /// Address of the carry left of the piece, at the warp's first row.
  AREAL_DEVICE const char* left_of_piece() const { return carried().left_at(place.y + (a.edge ? 1 : 0)); }
  AREAL_DEVICE A left_of_row(const char* first, int row) const {
    return carried().element(first + row * a.carry.left_in.row, a.carry.left_in);
  }
  /// The same of 32 rows: a row a lane.
  AREAL_DEVICE A left_of_rows(const char* first, int y) const {
    const int row = y + m.lane();
    return row < place.rows ? left_of_row(first, row) : A(0);
  }
  /// For counts, which wrap, the differences between consecutive rows suffice and take fewer registers. Floats would be
  /// rounded once more.
  AREAL_DEVICE A steps_of_rows(const char* first, bool has_before, int y) const {
    const int row = y + m.lane();
    if (row >= place.rows) return 0;
    return left_of_row(first, row) - (has_before || row > 0 ? left_of_row(first, row - 1) : A(0));
  }

  AREAL_DEVICE char* first() const {
    return a.tensor + place.image * a.out.batch + place.bin * a.out.channel + place.y * a.out.row +
           place.x * static_cast<std::int64_t>(sizeof(T));
  }
  template <int E, RowStores mode>
  AREAL_DEVICE void store(char* row, const Sums<E>& sum) const {
    AREAL_UNROLL
    for (int j = 0; j < 4 / E; ++j) {
      char* const to = row + column<E>(j) * static_cast<int>(sizeof(T));
      if constexpr (mode != RowStores::any) {
        Vec<T, E> line;
        AREAL_UNROLL
        for (int v = 0; v < E; ++v) line.at[v] = static_cast<T>(sum[j][v]);
        m.store_streaming(reinterpret_cast<Vec<T, E>*>(to), line);
      } else {
        AREAL_UNROLL
        for (int v = 0; v < E; ++v)
          if (column<E>(j) + v < place.columns) store_sum(to + v * static_cast<int>(sizeof(T)), sum[j][v]);
      }
    }
  }
  /// Including the carry left of the piece.
  template <int E, RowStores mode>
  AREAL_DEVICE void store(char* row, const Sums<E>& sum, A left) const {
    Sums<E> all;
    AREAL_UNROLL
    for (int j = 0; j < 4 / E; ++j) AREAL_UNROLL
    for (int v = 0; v < E; ++v) all[j][v] = sum[j][v] + left;
    store<E, mode>(row, all);
  }
  AREAL_DEVICE void store_sum(char* to, A sum) const {
    store_element(m, to, static_cast<T>(sum), a.out.alignment != Alignment::bytes);
  }

  /// Writes the zeros left of and above the tensor's first tiles, or the carry there.
  AREAL_DEVICE void write_edge() const {
    char* const at = first();
    static constexpr int size = sizeof(T);
    const TensorPlaneCarry<M, C> carry = carried();
    if (place.x == 0)
      for (int y = m.lane(); y < place.rows; y += warp_size)
        store_sum(at + y * a.out.row - size, carry.alone(0, place.y + y + 1));
    if (place.y == 0) {
      for (int x = m.lane(); x < place.columns; x += warp_size)
        store_sum(at - a.out.row + x * size, carry.alone(place.x + x + 1, 0));
      if (place.x == 0 && m.lane() == 0) store_sum(at - a.out.row - size, carry.alone(0, 0));
    }
  }
};

template <class M, class C>
struct ReduceThenScanWrite {
  using T = typename C::T;
  using A = typename C::A;
  using Side = typename C::Side;
  using Args = ReduceThenScanArgs<A>;
  using Warp = ReduceThenScanWarp<M, C>;
  template <int E>
  using Sums = A[4 / E][E];
  static constexpr bool weighted = !std::is_integral_v<A>;
  static constexpr int warps = 8, threads = warps * warp_size, resident = !weighted ? 4 : sizeof(A) == 8 ? 2 : 3;
  static constexpr int most_tiles = 4;                        // of a block, adjacent or one below the other
  static constexpr int W = 16 / static_cast<int>(sizeof(A));  // columns of one store that can be a vector

  // A block loads its input to shared memory first. Row by row, the loads would wait behind the stores.
  /// The squares of the block's tiles, and for each warp the sums left of its tiles.
  struct Counting {
    Square square[most_tiles][tile_squares][warp_size];
    alignas(16) Side left[warps][most_tiles * tile_height];
  };
  /// Bin numbers and weights of the block's tiles: all rows of one tile, or some rows at a time of several.
  struct Weighing {
    Square square[tile_squares][warp_size];
    alignas(16) A terms[tile_height][tile_width];
  };
  using Shared = std::conditional_t<weighted, Weighing, Counting>;

  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    ReduceThenScanPlace place{};
    const bool mine = find(place);
    m.wait_previous_launch();
    const Warp warp{m, a, place};
    const bool whole = place.columns == tile_width;
    const bool vectors = whole && a.out.alignment == Alignment::vectors;
    if constexpr (weighted) {
      weigh(warp, place, mine, vectors);
    } else {
      fetch(place, mine);
      if (!mine) return arrived();  // at the barrier of the other warps
      if (a.edge) warp.write_edge();
      const A corner = warp.corner();
      if (vectors)
        count<W, RowStores::vectors>(warp, place, corner);
      else if (whole && a.out.alignment == Alignment::elements)
        count<1, RowStores::elements>(warp, place, corner);
      else
        count<1, RowStores::any>(warp, place, corner);
    }
  }

  /// False if this warp has no tile.
  AREAL_DEVICE bool find(ReduceThenScanPlace& place) const {
    const int bins_per_block = warps / a.tiles_per_block;
    const auto tiles_x = static_cast<std::uint32_t>(a.tiles_x), tiles_y = static_cast<std::uint32_t>(a.tiles_y);
    const std::uint32_t stacks = tiles_x * ((tiles_y + a.tiles_per_warp - 1) / a.tiles_per_warp);
    const std::uint32_t stack_groups = (stacks + a.tiles_per_block - 1) / a.tiles_per_block,
                        bin_groups = (a.bins + bins_per_block - 1) / bins_per_block;
    auto at = static_cast<std::uint32_t>(m.block());  // a grid has fewer blocks than 2^31
    // All bins of a stack before the next, while its squares are cached.
    place.bin = static_cast<int>(at % bin_groups) * bins_per_block + m.warp() % bins_per_block;
    at /= bin_groups;
    const std::uint32_t stack = at % stack_groups * a.tiles_per_block + m.warp() / bins_per_block;
    place.image = at / stack_groups;
    place.rows = 0;
    if (stack >= stacks) return false;
    const std::int64_t tx = stack % tiles_x, ty = static_cast<std::int64_t>(stack / tiles_x) * a.tiles_per_warp;
    place.tile = ty * tiles_x + tx;
    place.x = tx * tile_width, place.y = ty * tile_height;
    const std::int64_t plane = (place.image * a.bins + place.bin) * tiles_x * tiles_y;
    place.at = plane + place.tile;
    place.corner = plane + (a.corners_along_columns ? tx * tiles_y : ty * tiles_x);
    place.corner_terms = static_cast<int>(tx == 0 || ty == 0 ? 0 : a.corners_along_columns ? ty : tx);
    const std::int64_t right = a.width - place.x, down = a.height - place.y;
    place.columns = static_cast<int>(right < tile_width ? right : tile_width);
    place.rows = static_cast<int>(down < a.tiles_per_warp * tile_height ? down : a.tiles_per_warp * tile_height);
    return place.bin < a.bins;
  }
  AREAL_DEVICE const Square* squares(const ReduceThenScanPlace& place) const {
    const std::int64_t tiles = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y;
    return a.numbers +
           ((place.image * a.groups + place.bin / C::group) * tiles + place.tile) * tile_squares * warp_size;
  }
  /// The number four times, the word for comparisons.
  AREAL_DEVICE std::uint32_t number(const ReduceThenScanPlace& place) const {
    return static_cast<std::uint32_t>(place.bin % C::group);
  }

  // ---------------------------------------------------------------- counts

  /// The warps of a stack load its squares together, and each the sums left of its own bin.
  AREAL_DEVICE void fetch(const ReduceThenScanPlace& place, bool mine) {
    Counting& s = m.template shared<Counting>();
    const int warps_of_stack = warps / a.tiles_per_block, stack = m.warp() / warps_of_stack,
              threads_of_stack = warps_of_stack * warp_size;
    const Square* const from = place.rows > 0 ? squares(place) : nullptr;
    const auto* const left = static_cast<const Side*>(a.left) + place.at * tile_height;
    using Line = Vec<Side, 16 / static_cast<int>(sizeof(Side))>;
    static constexpr int lines = tile_height * static_cast<int>(sizeof(Side)) / 16;
    for (int first = 0, t = 0; first < place.rows; first += tile_height, ++t) {
      const std::int64_t below = static_cast<std::int64_t>(t) * a.tiles_x;
      const int rows = place.rows - first < tile_height ? place.rows - first : tile_height;
      for (int i = m.thread() - stack * threads_of_stack; i < (rows + 3) / 4 * warp_size; i += threads_of_stack)
        m.copy_async(s.square[stack * a.tiles_per_warp + t][i / warp_size][i % warp_size],
                     from + below * tile_squares * warp_size + i);
      if (mine && m.lane() < lines)
        m.copy_async(reinterpret_cast<Line*>(s.left[m.warp()] + first)[m.lane()],
                     reinterpret_cast<const Line*>(left + below * tile_height) + m.lane());
    }
    m.commit_copies();
  }
  AREAL_DEVICE void arrived() {
    m.template wait_copies<0>();
    m.sync_warps(threads);
  }

  template <int E, RowStores mode>
  AREAL_DEVICE void count(const Warp& warp, const ReduceThenScanPlace& place, A corner) {
    Counting& s = m.template shared<Counting>();
    const auto* const squares =
        s.square[m.warp() / (warps / a.tiles_per_block) * a.tiles_per_warp];  // of all the stack's tiles
    Sums<E> sum;
    const char* const piece_left = a.carry.left ? warp.left_of_piece() : nullptr;
    const bool has_before = place.y > 0;
    if (piece_left && has_before) corner += warp.left_of_row(piece_left, -1);
    warp.template anchor<E>(corner, sum);
    const std::uint32_t key = number(place) * 0x01010101u;
    char* to = warp.first();
    arrived();
    const Side* const left = s.left[m.warp()];
    A steps = 0;  // of the carry left of the piece, for 32 rows
    int y = 0;
    for (; y + 4 <= place.rows; y += 4, to += 4 * a.out.row) {
      if (a.carry.left && y % warp_size == 0) steps = warp.steps_of_rows(piece_left, has_before, y);
      count_rows<E, mode>(warp, m.get(squares[y / 4][m.lane()]), left + y, key, sum, to, 4, steps, y);
    }
    if (y < place.rows) {
      if (a.carry.left && y % warp_size == 0) steps = warp.steps_of_rows(piece_left, has_before, y);
      count_rows<E, mode>(warp, m.get(squares[y / 4][m.lane()]), left + y, key, sum, to, place.rows - y, steps, y);
    }
  }

  /// Four rows: a byte each in one word, as 128 columns have at most 128 pixels of a bin.
  template <int E, RowStores mode>
  AREAL_DEVICE void count_rows(const Warp& warp, const Square& square, const Side* left, std::uint32_t key,
                               Sums<E>& sum, char* to, int rows, A steps, int y) {
    std::uint32_t upto[4];  // byte v: the pixels of the bin among the lane's columns up to v
    std::uint32_t own = 0;  // of all four columns; the first row in the highest byte
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t equal = equal_numbers(square.at[i], key);
      upto[i] = equal * 0x01010101u;
      own = own << 8 | upto[i] >> 24;
    }
    const std::uint32_t before = warp_scan(m, own) - own;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i)
      if (i < rows) {
        A more = 0;
        if (a.carry.left) more = m.shuffle(steps, (y + i) % warp_size);
        add_row(sum, upto[i], before, 3 - i, m.get(left[i]) + more);
        warp.template store<E, mode>(to, sum);
        to += a.out.row;
      }
  }

  /// Adds a row's counts to the row above.
  template <int E>
  AREAL_DEVICE void add_row(A (&sum)[4 / E][E], std::uint32_t upto, std::uint32_t before, int byte, A left) {
    if constexpr (E == 4 && sizeof(A) == 4) {
      const A base = m.dot4(before, 1u << (8 * byte), left);
      AREAL_UNROLL
      for (int v = 0; v < 4; ++v) sum[0][v] = m.dot4(upto, 1u << (8 * v), sum[0][v] + base);
    } else {
      // The counts left of the tile, shuffled to the lanes that store them.
      static constexpr int stores = 4 / E;
      const std::uint32_t counts = upto + (before >> (8 * byte) & 0xffu) * 0x01010101u;
      AREAL_UNROLL
      for (int j = 0; j < stores; ++j) {
        const std::uint32_t mine =
            m.shuffle(counts, j * (warp_size / stores) + m.lane() / stores) >> (8 * E * (m.lane() % stores));
        AREAL_UNROLL
        for (int v = 0; v < E; ++v) sum[j][v] += left + (mine >> (8 * v) & 0xffu);
      }
    }
  }

  // ---------------------------------------------------------------- weights

  /// Each of the block's tiles has its share of the rows in shared memory; warps of one tile copy them. Warps that
  /// store vectors and warps that store elements pass the same barriers, and add in the same order.
  AREAL_DEVICE void weigh(const Warp& warp, const ReduceThenScanPlace& place, bool mine, bool vectors) {
    const int warps_of_tile = warps / a.tiles_per_block, nth = m.warp() / warps_of_tile,
              share = tile_height / a.tiles_per_block;
    Sums<W> sum;
    A left[tile_height / warp_size] = {};  // of the tile, row by row
    if (mine) {
      if (a.edge) warp.write_edge();
      warp.template anchor<W>(warp.corner(), sum);
      const Side* const from = static_cast<const Side*>(a.left) + place.at * tile_height + m.lane();
      AREAL_UNROLL
      for (int i = 0; i < tile_height / warp_size; ++i) left[i] = m.load(from + i * warp_size);
    }
    A piece_left = 0;  // the carry left of the piece, for 32 rows
    for (int first = 0; first < tile_height; first += share) {
      if (first > 0) m.sync();  // the rows before have been used
      if (first < place.rows) copy_rows(place, first, share, nth * share, m.thread() - nth * warps_of_tile * warp_size);
      m.commit_copies();
      m.template wait_copies<0>();
      m.sync();
      if (!mine) continue;
      const auto rows = [&](auto mode) {
        for (int y = first; y < first + share && y < place.rows; y += 4) {
          if (a.carry.left && y % warp_size == 0) piece_left = warp.left_of_rows(warp.left_of_piece(), y);
          weigh_rows<decltype(mode)::value>(warp, place, nth * share + y - first, y, y < warp_size ? left[0] : left[1],
                                            piece_left, sum);
        }
      };
      if (vectors)
        rows(std::integral_constant<RowStores, RowStores::vectors>{});
      else
        rows(std::integral_constant<RowStores, RowStores::any>{});
    }
  }

  /// Copies rows of a tile, from `first` on, to row `to` of shared memory; `thread` is the caller among the copying
  /// threads.
  AREAL_DEVICE void copy_rows(const ReduceThenScanPlace& place, int first, int rows, int to, int thread) {
    static constexpr int lines = tile_width * static_cast<int>(sizeof(A)) / 16;  // of a row
    using Line = Vec<A, W>;
    Weighing& s = m.template shared<Weighing>();
    const int step = warps / a.tiles_per_block * warp_size;
    const Square* const numbers = squares(place) + first / 4 * warp_size;
    for (int i = thread; i < rows / 4 * warp_size; i += step)
      m.copy_async(s.square[to / 4 + i / warp_size][i % warp_size], numbers + i);
    const std::int64_t of_image = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y * place.image + place.tile;
    const auto* const terms = reinterpret_cast<const Line*>(a.terms + (of_image * tile_height + first) * tile_width);
    for (int i = thread; i < rows * lines; i += step)
      m.copy_async(reinterpret_cast<Line*>(s.terms[to + i / lines])[i % lines], terms + i);
  }

  /// Four rows of the tile, from y on, in shared memory from row `at` on; `left` and `piece_left` are of 32 rows. As
  /// many rows as make four vectors are scanned together.
  template <RowStores mode>
  AREAL_DEVICE void weigh_rows(const Warp& warp, const ReduceThenScanPlace& place, int at, int y, A left, A piece_left,
                               Sums<W>& sum) {
    static constexpr int stores = 4 / W, rows = 4 / stores;
    Weighing& s = m.template shared<Weighing>();
    char* to = warp.first() + y * a.out.row;
    AREAL_UNROLL
    for (int r = 0; r < 4; r += rows) {
      A x[rows][stores][W], scan[rows][stores];
      AREAL_UNROLL
      for (int j = 0; j < stores; ++j) {
        const int lane = j * (warp_size / stores) + m.lane() / stores;  // whose square has this store's columns
        const Square numbers = m.get(s.square[at / 4][lane]);
        AREAL_UNROLL
        for (int i = 0; i < rows; ++i) {
          const auto terms =
              m.get(*reinterpret_cast<const Vec<A, W>*>(&s.terms[at + r + i][warp.template column<W>(j)]));
          const std::uint32_t mine = numbers.at[r + i] >> (8 * W * (m.lane() % stores));
          AREAL_UNROLL
          for (int v = 0; v < W; ++v) {
            x[i][j][v] = (mine >> (8 * v) & 0xffu) == number(place) ? terms.at[v] : A(0);
            if (v > 0) x[i][j][v] += x[i][j][v - 1];
          }
          scan[i][j] = x[i][j][W - 1];
        }
      }
      AREAL_UNROLL
      for (int n = 1; n < warp_size; n *= 2) {
        AREAL_UNROLL
        for (int i = 0; i < rows; ++i) AREAL_UNROLL
        for (int j = 0; j < stores; ++j) {
          const A other = m.shuffle_up(scan[i][j], n);
          if (m.lane() >= n) scan[i][j] += other;
        }
      }
      AREAL_UNROLL
      for (int i = 0; i < rows; ++i, to += a.out.row) {
        A before = m.shuffle(left, (y + r + i) % warp_size);
        AREAL_UNROLL
        for (int j = 0; j < stores; ++j) {
          const A mine = before + before_in_scan(m, scan[i][j], x[i][j][W - 1]);
          AREAL_UNROLL
          for (int v = 0; v < W; ++v) sum[j][v] += x[i][j][v] + mine;
          before += m.shuffle(scan[i][j], warp_size - 1);
        }
        if (y + r + i >= place.rows) continue;
        if (a.carry.left)
          warp.template store<W, mode>(to, sum, m.shuffle(piece_left, (y + r + i) % warp_size));
        else
          warp.template store<W, mode>(to, sum);
      }
    }
  }
};

}  // namespace areal::kernels
