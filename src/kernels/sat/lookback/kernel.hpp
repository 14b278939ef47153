#pragma once
// The kernel of lookback, lookback-diagonal and all-partials. A block takes the next tile and keeps it on chip from its
// only read to its only write:
//   load     each thread copies its own part of the tile asynchronously into its own slots of shared memory
//   publish  the sum of each of the tile's rows and columns
//   gather   the sums left of each row and above each column, from the sums that other tiles have published
//   carry    for a piece of a larger table: adds the sums outside the image
//   write    the tile, adding the sums to the left and above
// The three algorithms differ in the order of the tiles and in the gather: C::Gather is a function object in the
// algorithm's own file. A tile only waits for tiles with smaller tickets; if the machine holds all tiles at once there
// are no tickets, and each block has the tile of its number. With squares, pairs of sums are published and gathered. A
// tile's rows are scanned before they are published, and their scans kept in registers; or, if registers do not
// suffice, scanned again when they are written (rescan.hpp). A reversed table's tiles are cut from the right and from
// below, by negative strides, and are kept on chip in memory order.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/tile_state.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/sat/lookback/anti_diagonals.hpp"
#include "kernels/sat/lookback/carry.hpp"
#include "kernels/sat/lookback/rescan.hpp"
#include "kernels/sat/lookback/store_row.hpp"
#include "kernels/sat/lookback/sum_pair.hpp"
#include "kernels/sat/mirror.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

enum class LookbackOrder { rows, diagonals, direct };

template <class In, class T>
struct LookbackArgs {
  const char* image;
  char* table;    ///< where the first sum goes
  char* squares;  ///< where the first sum of squares goes; null without squares
  Strides in, out, squares_out;
  Valid valid;
  std::int64_t width, height;  ///< of what is summed
  int channels;
  bool edge;            ///< zeros, or the carry, go left of and above the first sum
  CarryLines carry[2];  ///< of the sum and of the squares
  int tiles_x, tiles_y;
  int group, groups;  ///< tiles of a group; groups of a row of tiles (rows)
  // The workspace; all but the first for each image and channel:
  std::uint64_t* ticket;
  std::uint32_t* launches;   ///< launches so far, of each block, if all run at once
  TileState<T>* rows;        ///< [tiles_y][tiles_x][tile height] sums of the tile's rows
  TileState<T>* group_sums;  ///< [tiles_y][groups][tile height] of the group's rows (rows)
  TileState<T>* columns;  ///< [tiles_y][tiles_x][tile width] sums of the tile's columns, then of all rows down to here
  TileState<T>* totals;   ///< [tiles_y][tiles_x] sum of the tile's columns from the top down to here; direct: of the
                          ///< tile, in several sums
};

template <class M, class C>
struct Lookback {
  using In = typename C::In;
  using T = typename C::T;
  using Cell = typename C::Cell;
  using Word = TileState<T>;
  using Epoch = typename Word::Epoch;
  using Args = LookbackArgs<In, T>;
  static constexpr LookbackOrder order = C::order;
  static constexpr int V = C::vector;                               // columns of a lane
  static constexpr int warps_x = C::warps_x, warps_y = C::warps_y;  // warps in a row, and in a column, of the tile
  static constexpr int rows_per_warp = C::rows_per_warp;            // of a warp
  static constexpr int warps = warps_x * warps_y, threads = warps * warp_size, resident = C::resident;
  static constexpr int warp_width = V * warp_size, tile_width = warps_x * warp_width,
                       tile_height = warps_y * rows_per_warp;
  static constexpr int threads_per_row = threads / tile_height;  // threads that gather for one row
  static constexpr int loads_in_flight = C::loads_in_flight;
  static constexpr int column_warps = tile_width / warp_size;  // those with a thread for each column
  static constexpr int totals = order == LookbackOrder::direct ? column_warps : 1;  // of a tile
  static_assert(threads % tile_height == 0 && tile_width <= threads);

  static constexpr bool both = C::both, rescan = C::rescan, reverse = C::reverse;
  static constexpr bool together = C::together;                // all blocks run at once, without tickets
  static constexpr std::int64_t direction = reverse ? -1 : 1;  // of a row
  /// Bytes are summed four at a time, and scanned two rows at a time, as a row's sums within a warp fit 16 bits.
  static constexpr bool bytes = C::byte && !rescan;
  static_assert(!bytes || V == 4);
  static constexpr int scans = rescan ? 1 : bytes ? rows_per_warp / 2 : rows_per_warp;
  static constexpr int cells = rescan ? 1 : V;  // column sums per shared memory access

  struct Shared {
    Vec<In, V> tile[rows_per_warp][threads];
    Vec<Cell, cells> columns[warps_y]
                            [tile_width / cells];  // column sums of a warp's rows, then of all rows above these
    Vec<T, cells> above[tile_width / cells];
    T row[warps_x][tile_height];  // row sums of a warp's columns, then of all left of them
    T left[tile_height];
    T thread_sums[2][threads];  // the sums that one of several threads gathered for a row or a column
    T warp_sums[2][warps];      // a warp's part of the columns' sum down to here, and of the corner
    struct {
      std::int64_t image, batch, channel;  // the last two for rescan
      int ty, tx;
      Epoch epoch;
    } ticket;
  };

  M m;
  Args a;
  Epoch epoch = 0;          // this launch's
  Cell before[scans] = {};  // for each of this thread's rows, the sum left of its columns in the warp's

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    int ty, tx;
    std::int64_t image;
    if constexpr (together) {
      image = tile_of(static_cast<std::uint64_t>(m.block()), ty, tx);
    } else {
      if (m.thread() == 0) choose_tile(s);
      m.sync();
      ty = m.get(s.ticket.ty), tx = m.get(s.ticket.tx);
      image = m.get(s.ticket.image);
    }
    choose_image(image);

    const Place place = place_of(ty, tx);
    if (a.in.alignment == Alignment::vectors)
      load<true>(s, place);
    else
      load<false>(s, place);
    if constexpr (together)
      if (m.thread() == 0) {
        count_launch(s);
        put_tile(s, image, ty, tx);
      }
    if (a.valid.plane != nullptr && a.in.alignment == Alignment::vectors)
      drop_invalid(s, place);
    else
      m.template wait_copies<0>();
    if constexpr (rescan)
      sum_for_rescan(*this, s);
    else
      sum(s);
    m.sync();
    epoch = m.get(s.ticket.epoch);
    publish(s, ty, tx);
    C::Gather::gather(*this, s, ty, tx);
    if (carries()) add_carry(*this, s, ty, tx);
    if constexpr (rescan)
      rescan_and_write(*this, s);
    else
      write(s, ty, tx, place);
  }

  AREAL_DEVICE void choose_tile(Shared& s) {
    const Ticket ticket = take_ticket(m, a.ticket);
    m.put(s.ticket.epoch, static_cast<Epoch>(ticket.launch));
    int ty, tx;
    const std::int64_t image = tile_of(ticket.turn, ty, tx);
    put_tile(s, image, ty, tx);
  }
  /// The n-th tile of all images; returns the image.
  AREAL_DEVICE std::int64_t tile_of(std::uint64_t n, int& ty, int& tx) const {
    const std::uint64_t tiles = static_cast<std::uint64_t>(a.tiles_x) * static_cast<std::uint64_t>(a.tiles_y);
    std::uint64_t at, x;
    const std::uint64_t image = divide(n, tiles, at);
    if constexpr (order == LookbackOrder::diagonals) {
      on_diagonal(static_cast<std::int64_t>(at), a.tiles_x, a.tiles_y, tx, ty);
    } else {
      ty = static_cast<int>(divide(at, static_cast<std::uint64_t>(a.tiles_x), x)), tx = static_cast<int>(x);
    }
    return static_cast<std::int64_t>(image);
  }
  AREAL_DEVICE void put_tile(Shared& s, std::int64_t image, int ty, int tx) const {
    m.put(s.ticket.image, image);
    m.put(s.ticket.ty, ty);
    m.put(s.ticket.tx, tx);
    if constexpr (rescan) {
      std::uint64_t channel;
      m.put(s.ticket.batch, static_cast<std::int64_t>(divide(static_cast<std::uint64_t>(image),
                                                             static_cast<std::uint64_t>(a.channels), channel)));
      m.put(s.ticket.channel, static_cast<std::int64_t>(channel));
    }
  }
  /// If all blocks run at once, each counts the launches itself, while its pixels are loading.
  AREAL_DEVICE void count_launch(Shared& s) const {
    std::uint32_t* const count = a.launches + m.block();
    const std::uint32_t seen = m.load_relaxed(count);
    m.put(s.ticket.epoch, static_cast<Epoch>(seen * 2 + 2));
    m.store_relaxed(count, seen + 1);
  }

  /// Everything after this concerns one image of the batch, and one channel.
  AREAL_DEVICE void choose_image(std::int64_t n) {
    if (n == 0) return;
    const std::int64_t tiles = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y;
    const std::int64_t batch = n / a.channels, channel = n % a.channels;
    a.image += batch * a.in.batch + channel * a.in.channel;
    if constexpr (!rescan) a.table += batch * a.out.batch + channel * a.out.channel;  // otherwise when it is written
    if (a.valid.plane != nullptr) a.valid.plane += batch * a.valid.image;
    a.rows += n * tiles * tile_height;
    a.group_sums += n * a.groups * a.tiles_y * tile_height;
    a.columns += n * tiles * tile_width;
    a.totals += n * tiles * totals;
  }
  AREAL_DEVICE int warp_x() const { return m.warp() % warps_x; }
  AREAL_DEVICE int warp_y() const { return m.warp() / warps_x; }
  AREAL_DEVICE std::int64_t tile_at(int ty, int tx) const { return static_cast<std::int64_t>(ty) * a.tiles_x + tx; }

  /// The begin of this thread's part of a tile, and the number of its rows and columns in the image.
  struct Place {
    std::int64_t x, y;
    int columns, rows;
  };
  AREAL_DEVICE Place place_of(int ty, int tx) const {
    const std::int64_t x = static_cast<std::int64_t>(tx) * tile_width + warp_x() * warp_width + m.lane() * V;
    const std::int64_t y = static_cast<std::int64_t>(ty) * tile_height + warp_y() * rows_per_warp;
    const std::int64_t right = a.width - x, down = a.height - y;
    return {x, y,
            static_cast<int>(right < 0   ? 0
                             : right < V ? right
                                         : V),
            static_cast<int>(down < 0               ? 0
                             : down < rows_per_warp ? down
                                                    : rows_per_warp)};
  }

  /// The same for all blocks of a launch.
  AREAL_DEVICE bool carries() const { return !a.carry[0].empty() || (both && !a.carry[1].empty()); }

  /// True if all columns of the tile lie in the image.
  AREAL_DEVICE bool is_wide(int tx) const { return static_cast<std::int64_t>(tx + 1) * tile_width <= a.width; }

  // ---------------------------------------------------------------- load, sum

  /// Vectors that lie in the image and are aligned; otherwise elements.
  template <bool vectors>
  AREAL_DEVICE void load(Shared& s, const Place& at) {
    const char* from = a.image + at.y * a.in.row + at.x * a.in.column;
    if (vectors && at.columns == V) {
      AREAL_UNROLL
      for (int i = 0; i < rows_per_warp; ++i, from += a.in.row) {
        const auto* p = reinterpret_cast<const Vec<In, V>*>(vector_at<reverse, In, V>(from));
        if (i >= at.rows)
          m.put(s.tile[i][m.thread()], Vec<In, V>{});
        else if constexpr (V * sizeof(In) >= 4)
          m.copy_async(s.tile[i][m.thread()], p);
        else
          m.put(s.tile[i][m.thread()], m.load(p));
      }
      m.commit_copies();
    } else {
      const bool aligned = a.in.alignment != Alignment::bytes;
      for (int i = 0; i < rows_per_warp; ++i, from += a.in.row) {
        Vec<In, V> line;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          line.at[v] = In{};
          if (i < at.rows && v < at.columns && is_valid(m, a.valid, direction * (at.x + v), at.y + i))
            line.at[v] = load_element<M, In>(m, from + v * a.in.column, aligned);
        }
        m.put(s.tile[i][m.thread()], mirrored<reverse>(line));
      }
    }
  }

  /// Waits for vectors, and zeroes their invalid pixels. Elements were checked one by one.
  AREAL_DEVICE void drop_invalid(Shared& s, const Place& at) {
    using Marks = Vec<std::uint8_t, V>;
    const std::uint8_t* from =
        vector_at<reverse, std::uint8_t, V>(a.valid.plane + at.y * a.valid.row + direction * at.x);
    const int rows = at.columns == V ? at.rows : 0;
    m.template wait_copies<0>();
    AREAL_UNROLL
    for (int top = 0; top < rows_per_warp; top += 4) {
      Marks marks[4];
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i, from += a.valid.row)
        marks[i] = top + i < rows ? m.load(reinterpret_cast<const Marks*>(from)) : Marks{};
      AREAL_UNROLL
      for (int i = 0; i < 4; ++i) {
        if (top + i >= rows) break;
        Vec<In, V> line = m.get(s.tile[top + i][m.thread()]);
        AREAL_UNROLL
        for (int v = 0; v < V; ++v)
          if (marks[i].at[v] == 0) line.at[v] = In{};
        m.put(s.tile[top + i][m.thread()], line);
      }
    }
  }

  /// A lane's pixels of the i-th row. Bytes stay in memory order; the additions account for it.
  AREAL_DEVICE Vec<In, V> line_of(const Shared& s, int i) const {
    static constexpr bool turned = reverse && !bytes;
    return mirrored<turned>(m.get(s.tile[i][m.thread()]));
  }

  AREAL_DEVICE void sum(Shared& s) {
    Vec<Cell, V> column{};
    Cell total[scans];
    AREAL_UNROLL
    for (int i = 0; i < rows_per_warp; ++i) {
      const Vec<In, V> line = line_of(s, i);
      if constexpr (bytes) {
        const auto word = word_of(line);
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) column.at[v] = m.dot4(word, 1u << 8 * (reverse ? V - 1 - v : v), column.at[v]);
        const std::uint32_t all = m.dot4(word, 0x01010101u, 0u);
        total[i / 2] = i % 2 == 0 ? all : total[i / 2] + (all << 16);
      } else {
        total[i] = 0;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          const auto pixel = term<Cell>(line.at[v]);
          column.at[v] += pixel;
          total[i] += pixel;
        }
      }
    }
    m.put(s.columns[warp_y()][warp_x() * warp_size + m.lane()], column);
    AREAL_UNROLL
    for (int i = 0; i < scans; ++i) {
      const Cell scan = warp_scan(m, total[i]);
      before[i] = before_in_scan(m, scan, total[i]);
      if (m.lane() == warp_size - 1) {
        T* const row = &s.row[warp_x()][warp_y() * rows_per_warp];
        if constexpr (bytes) {
          m.put(row[2 * i], static_cast<T>(scan & 0xffffu));
          m.put(row[2 * i + 1], static_cast<T>(scan >> 16));
        } else {
          m.put(row[i], scan);
        }
      }
    }
  }

  // ---------------------------------------------------------------- publish, and what all gathers share

  /// A column's sum, as a cell.
  template <class S>
  AREAL_DEVICE static S& cell(Vec<S, cells>* line, int x) {
    return line[x / cells].at[x % cells];
  }

  /// The row of the tile whose sums this thread publishes, if any.
  AREAL_DEVICE int row_of_thread() const {
    return order == LookbackOrder::diagonals ? m.thread() - tile_width : m.thread();
  }

  AREAL_DEVICE T row_sum(Shared& s, int y) {
    T sum = 0;
    AREAL_UNROLL
    for (int p = 0; p < warps_x; ++p) sum += m.get(s.row[p][y]);
    return sum;
  }

  AREAL_DEVICE void publish(Shared& s, int ty, int tx) {
    const std::int64_t at = tile_at(ty, tx);
    const int y = row_of_thread(), x = m.thread();
    if (tx + 1 < a.tiles_x && y >= 0 && y < tile_height)
      store_word(
          m, a.rows + at * tile_height + y,
          Word{row_sum(s, y), epoch_with(epoch, order == LookbackOrder::diagonals && tx == 0 ? TileStatus::inclusive
                                                                                             : TileStatus::partial)});
    if (x >= tile_width) return;
    Cell tile = 0;
    AREAL_UNROLL
    for (int b = 0; b < warps_y; ++b) {
      Cell& of_warp = cell(s.columns[b], x);
      const Cell more = m.get(of_warp);
      m.put(of_warp, tile);
      tile += more;
    }
    T sum = static_cast<T>(tile);
    if (ty + 1 < a.tiles_y)
      store_word(m, a.columns + at * tile_width + x,
                 Word{sum, epoch_with(epoch, order != LookbackOrder::direct && ty == 0 ? TileStatus::inclusive
                                                                                       : TileStatus::partial)});
    m.put(cell(s.above, x), sum);
    if constexpr (order == LookbackOrder::direct)
      if (tx + 1 < a.tiles_x && ty + 1 < a.tiles_y) {
        sum = warp_sum(m, sum);
        if (m.lane() == 0)
          store_word(m, a.totals + at * totals + m.warp(), Word{sum, epoch_with(epoch, TileStatus::partial)});
      }
  }

  /// Stores the sum left of a row of the tile, and of each warp's columns.
  AREAL_DEVICE void put_left(Shared& s, int y, T left) {
    m.put(s.left[y], left);
    AREAL_UNROLL
    for (int p = 0; p < warps_x; ++p) {
      T& of_warp = s.row[p][y];
      const T more = m.get(of_warp);
      m.put(of_warp, left);
      left += more;
    }
  }

  /// Stores this warp's part of the corner: the sum both left of the tile and above it.
  AREAL_DEVICE void put_corner(Shared& s, T corner) {
    corner = warp_sum(m, corner);
    if (m.lane() == 0) m.put(s.warp_sums[1][m.warp()], corner);
  }

  /// Stores each thread's part of the sum of the tile's columns from the top down to here; publishes it after a
  /// barrier.
  AREAL_DEVICE void put_total(Shared& s, T down) {
    down = warp_sum(m, down);
    if (m.lane() == 0) m.put(s.warp_sums[0][m.warp()], down);
  }
  AREAL_DEVICE void store_total(Shared& s, int ty, int tx) {
    if (m.thread() != 0 || ty + 1 == a.tiles_y) return;
    T down = 0;
    AREAL_UNROLL
    for (int w = 0; w < column_warps; ++w) down += m.get(s.warp_sums[0][w]);
    store_word(m, a.totals + tile_at(ty, tx), Word{down, epoch_with(epoch, TileStatus::partial)});
  }

  /// The totals of the tiles above those to the left: issues the loads; the sum waits for them.
  AREAL_DEVICE auto prefetch_corner(int ty, int tx) {
    const Word* const from = a.totals + tile_at(ty - 1, 0);
    return gather<1>(m, epoch, m.thread(), threads, ty > 0 ? tx : 0, [=](int n) { return from + n; });
  }

  /// The words of some tiles, from one upwards.
  struct Window {
    Word word[C::window_size];
  };
  AREAL_DEVICE void load_window(Window& up, const Word* from, std::int64_t stride, int count) {
    AREAL_UNROLL
    for (int i = 0; i < C::window_size; ++i)
      up.word[i] = i < count ? load_word(m, from - i * stride) : Word{T(0), Epoch(0)};
  }

  /// The sum of the `count` words from `from` upwards: the nearest one that includes everything above, and those
  /// between. Added downwards, so that the bits do not depend on how far up that one was.
  AREAL_DEVICE T look_back(Window& up, const Word* from, std::int64_t stride, int count) {
    T sum = 0;
    const auto is_found = [&] {
      bool all = true, found = false;  // all nearer ones have arrived; one of them is inclusive
      AREAL_UNROLL
      for (int i = 0; i < C::window_size; ++i) {
        if (all && !found && epoch_of(up.word[i]) == epoch_with(epoch, TileStatus::inclusive)) {
          found = true;
          sum = value_of(up.word[i]);
          AREAL_UNROLL
          for (int j = i - 1; j >= 0; --j) sum += value_of(up.word[j]);
        }
        all = all && epoch_of(up.word[i]) == epoch_with(epoch, TileStatus::partial);
      }
      return found;
    };
    poll(m, is_found, [&] { load_window(up, from, stride, count); });
    return sum;
  }

  // ---------------------------------------------------------------- write

  AREAL_DEVICE void write(Shared& s, int ty, int tx, const Place& place) {
    const bool wide = is_wide(tx);
    if (a.edge) write_edge<0, T>(*this, s, a.table, a.out, ty, tx, place);
    if (wide && a.out.alignment == Alignment::vectors)
      write_as<StoreMode::vectors>(s, place);
    else if (wide && a.out.alignment == Alignment::elements && a.out.column == direction * static_cast<int>(sizeof(T)))
      write_as<StoreMode::shifted>(s, place);
    else
      write_as<StoreMode::elements>(s, place);
  }

  template <StoreMode mode>
  AREAL_DEVICE void write_as(Shared& s, const Place& place) {
    // Becomes the table's row above this warp's rows.
    T lefts = 0;
    for (int y = m.lane(); y < warp_y() * rows_per_warp; y += warp_size) lefts += m.get(s.left[y]);
    Vec<T, V> sum = up_to(s, warp_x());
    T run = 0;
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] = run += sum.at[v];
    T others = 0;
    for (int p = 0; p < warp_x(); ++p) {
      const Vec<T, V> more = up_to(s, p);
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) others += more.at[v];
    }
    T corner = 0;
    AREAL_UNROLL
    for (int w = 0; w < warps; ++w) corner += m.get(s.warp_sums[1][w]);
    const T start = corner + warp_sum(m, static_cast<T>(lefts + others)) + before_in_scan(m, warp_scan(m, run), run);
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] += start;

    const T* const row = &s.row[warp_x()][warp_y() * rows_per_warp];
    char* to = a.table + place.y * a.out.row + place.x * a.out.column;
    AREAL_UNROLL
    for (int i = 0; i < rows_per_warp; ++i, to += a.out.row) {
      const Vec<In, V> line = line_of(s, i);
      if constexpr (bytes) {
        const T left = m.get(row[i]);
        const std::uint32_t own = i % 2 == 0 ? before[i / 2] & 0xffffu : before[i / 2] >> 16;
        const auto word = word_of(line);
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          const std::uint32_t ones = reverse ? 0x01010101u << 8 * (V - 1 - v) : 0x01010101u >> 8 * (V - 1 - v);
          if constexpr (std::is_integral_v<T>)
            sum.at[v] += m.dot4(word, ones, left + own);
          else
            sum.at[v] += left + static_cast<T>(m.dot4(word, ones, own));
        }
      } else {
        const T base = m.get(row[i]) + before[i];
        T across = 0;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          across += term<T>(line.at[v]);
          sum.at[v] += across + base;
        }
      }
      if (i >= place.rows) continue;
      store_line<mode, reverse>(m, a.out, to, sum, place.columns);
    }
  }

  /// Sums of all columns above this warp's rows, in the p-th warp's columns.
  AREAL_DEVICE Vec<T, V> up_to(Shared& s, int p) {
    Vec<T, V> sum = m.get(s.above[p * warp_size + m.lane()]);
    const Vec<Cell, V> more = m.get(s.columns[warp_y()][p * warp_size + m.lane()]);
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] += static_cast<T>(more.at[v]);
    return sum;
  }
};

}  // namespace areal::kernels
