#pragma once
// held, held-diagonal, held-direct (areal). 1 launch. Reads 1, writes 1 per element. Floats are the same every run.
//
// A block takes the next tile and keeps it on chip from its only read to its only write:
//   load     each thread its own part of the tile, asynchronously, into its own slots of shared memory
//   publish  the sum of each of the tile's rows and columns
//   gather   what lies left of each row and above each column, from what other tiles have published
//   write    the tile with all that is left and above added
// The three differ in the order of the tiles and in how they gather: held_rows.hpp, held_diagonals.hpp,
// held_direct.hpp. A tile only waits for tiles with smaller tickets.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include "kernels/device/elements.hpp"
#include "kernels/device/handover.hpp"
#include "kernels/device/machine.hpp"
#include "kernels/device/strides.hpp"
#include "kernels/device/warp.hpp"
#include "kernels/device/workspace.hpp"
#include "kernels/sat/edge.hpp"
#include "kernels/sat/held_diagonals.hpp"
#include "kernels/sat/held_direct.hpp"
#include "kernels/sat/held_rows.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

enum class HeldOrder { rows, diagonals, direct };

template <class In, class T>
struct HeldArgs {
  const char* image;
  char* table;  ///< where the first sum goes
  Strides in, out;
  Valid valid;
  std::int64_t width, height;  ///< of what is summed
  int channels;
  bool edge;  ///< zeros belong left of and above the first sum
  int tiles_x, tiles_y;
  int group, groups;  ///< tiles of a group; groups of a row of tiles (rows)
  // The workspace; all but the first for each image and channel:
  std::uint64_t* ticket;
  Tagged<T>* rows;     ///< [tiles_y][tiles_x][tile height] sums of the tile's rows
  Tagged<T>* beside;   ///< [tiles_y][groups][tile height] of the group's rows (rows)
  Tagged<T>* columns;  ///< [tiles_y][tiles_x][tile width] sums of the tile's columns, then of all down to here
  Tagged<T>* totals;   ///< [tiles_y][tiles_x] sum of the tile's columns from the top down to here; direct: of the
                       ///< tile, in parts
};

template <class M, class C>
struct Held {
  using In = typename C::In;
  using T = typename C::T;
  using Word = Tagged<T>;
  using Tag = typename Word::Tag;
  using Args = HeldArgs<In, T>;
  static constexpr HeldOrder order = C::order;
  static constexpr int V = C::vector;                           // columns of a lane
  static constexpr int spans = C::spans, bunches = C::bunches;  // warps side by side, and one above the other
  static constexpr int each = C::rows;                          // of a warp
  static constexpr int warps = spans * bunches, threads = warps * warp_size, resident = C::resident;
  static constexpr int span = V * warp_size, tile_width = spans * span, tile_height = bunches * each;
  static constexpr int parts = threads / tile_height;                           // threads that gather for one row
  static constexpr int column_warps = tile_width / warp_size;                   // with a thread for each column
  static constexpr int totals = order == HeldOrder::direct ? column_warps : 1;  // of a tile
  static_assert(threads % tile_height == 0 && tile_width <= threads);

  /// Bytes are counted four at a time, and scanned two rows at a time, as a row's sums within a warp fit 16 bits.
  static constexpr bool bytes = C::byte && V == 4;
  static constexpr int scans = bytes ? each / 2 : each;

  struct Shared {
    Vec<In, V> tile[each][threads];
    Vec<T, V> columns[bunches][spans * warp_size];  // column sums of a warp's rows, then of all rows above these
    Vec<T, V> above[spans * warp_size];
    T row[spans][tile_height];  // row sums of a span, then of all left of it
    T left[tile_height];
    T part[2][threads];  // what one of several threads has gathered for a row or a column
    T some[2][warps];    // a warp's part of the columns' sum down to here, and of the corner
    struct {
      std::int64_t image;
      int ty, tx;
      Tag tag;
    } ticket;
  };

  M m;
  Args a;
  Tag tag = 0;  // of a tile's or group's own sums in this launch; the next number is for those from the image's edge
  T before[scans] = {};  // of each of this thread's rows, what lies left of its columns in the warp's

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    if (m.thread() == 0) choose_tile(s);
    m.sync();
    tag = m.get(s.ticket.tag);
    const int ty = m.get(s.ticket.ty), tx = m.get(s.ticket.tx);
    choose_image(m.get(s.ticket.image));

    const Place place = place_of(ty, tx);
    if (a.in.alignment == Alignment::vectors)
      load<true>(s, place);
    else
      load<false>(s, place);
    m.template wait_copies<0>();
    sum(s);
    m.sync();
    publish(s, ty, tx);
    if constexpr (order == HeldOrder::direct)
      gather_directly(*this, s, ty, tx);
    else if constexpr (order == HeldOrder::diagonals)
      gather_along_diagonals(*this, s, ty, tx);
    else
      gather_by_rows(*this, s, ty, tx);
    if (a.edge) write_edge(ty, tx, place);
    const bool wide = static_cast<std::int64_t>(tx + 1) * tile_width <= a.width;
    if (wide && a.out.alignment == Alignment::vectors)
      write<Stores::vectors>(s, place);
    else if (wide && a.out.alignment == Alignment::elements && a.out.column == sizeof(T))
      write<Stores::shifted>(s, place);
    else
      write<Stores::elements>(s, place);
  }

  AREAL_DEVICE void choose_tile(Shared& s) {
    const Ticket ticket = take_ticket(m, a.ticket);
    const std::uint64_t tiles = static_cast<std::uint64_t>(a.tiles_x) * static_cast<std::uint64_t>(a.tiles_y);
    std::uint64_t at, tx;
    m.put(s.ticket.tag, static_cast<Tag>(ticket.launch));
    m.put(s.ticket.image, static_cast<std::int64_t>(divide(ticket.turn, tiles, at)));
    if constexpr (order == HeldOrder::diagonals) {
      int x, y;
      on_diagonal(static_cast<std::int64_t>(at), a.tiles_x, a.tiles_y, x, y);
      m.put(s.ticket.ty, y);
      m.put(s.ticket.tx, x);
    } else {
      m.put(s.ticket.ty, static_cast<int>(divide(at, static_cast<std::uint64_t>(a.tiles_x), tx)));
      m.put(s.ticket.tx, static_cast<int>(tx));
    }
  }

  /// From here on everything is about one image of the batch, and one channel.
  AREAL_DEVICE void choose_image(std::int64_t n) {
    if (n == 0) return;
    const std::int64_t tiles = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y;
    const std::int64_t batch = n / a.channels, channel = n % a.channels;
    a.image += batch * a.in.batch + channel * a.in.channel;
    a.table += batch * a.out.batch + channel * a.out.channel;
    if (a.valid.plane != nullptr) a.valid.plane += batch * a.valid.image;
    a.rows += n * tiles * tile_height;
    a.beside += n * a.groups * a.tiles_y * tile_height;
    a.columns += n * tiles * tile_width;
    a.totals += n * tiles * totals;
  }
  AREAL_DEVICE int span_of() const { return m.warp() % spans; }
  AREAL_DEVICE int bunch_of() const { return m.warp() / spans; }
  AREAL_DEVICE std::int64_t tile_at(int ty, int tx) const { return static_cast<std::int64_t>(ty) * a.tiles_x + tx; }

  /// Where this thread's part of a tile begins, and how many of its rows and columns lie in the image.
  struct Place {
    std::int64_t x, y;
    int columns, rows;
  };
  AREAL_DEVICE Place place_of(int ty, int tx) const {
    const std::int64_t x = static_cast<std::int64_t>(tx) * tile_width + span_of() * span + m.lane() * V;
    const std::int64_t y = static_cast<std::int64_t>(ty) * tile_height + bunch_of() * each;
    const std::int64_t right = a.width - x, down = a.height - y;
    return {x, y,
            static_cast<int>(right < 0   ? 0
                             : right < V ? right
                                         : V),
            static_cast<int>(down < 0      ? 0
                             : down < each ? down
                                           : each)};
  }

  // ---------------------------------------------------------------- load, sum

  /// Vectors where all of one lies in the image and begins at an aligned address, else elements.
  template <bool vectors>
  AREAL_DEVICE void load(Shared& s, const Place& at) {
    const char* from = a.image + at.y * a.in.row + at.x * a.in.column;
    if (vectors && at.columns == V) {
      AREAL_UNROLL
      for (int i = 0; i < each; ++i, from += a.in.row) {
        const auto* p = reinterpret_cast<const Vec<In, V>*>(from);
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
      for (int i = 0; i < each; ++i, from += a.in.row) {
        Vec<In, V> line;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          line.at[v] = In{};
          if (i < at.rows && v < at.columns && is_valid(m, a.valid, at.x + v, at.y + i))
            line.at[v] = load_element<M, In>(m, from + v * a.in.column, aligned);
        }
        m.put(s.tile[i][m.thread()], line);
      }
    }
  }

  AREAL_DEVICE void sum(Shared& s) {
    Vec<T, V> column{};
    T total[scans];
    AREAL_UNROLL
    for (int i = 0; i < each; ++i) {
      const Vec<In, V> line = m.get(s.tile[i][m.thread()]);
      if constexpr (bytes) {
        const auto word = word_of(line);
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) column.at[v] = m.dot4(word, 1u << (8 * v), column.at[v]);
        const std::uint32_t all = m.dot4(word, 0x01010101u, 0u);
        total[i / 2] = i % 2 == 0 ? all : total[i / 2] + (all << 16);
      } else {
        total[i] = 0;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          const T pixel = term_of(line.at[v]);
          column.at[v] += pixel;
          total[i] += pixel;
        }
      }
    }
    m.put(s.columns[bunch_of()][span_of() * warp_size + m.lane()], column);
    AREAL_UNROLL
    for (int i = 0; i < scans; ++i) {
      const T scan = warp_scan(m, total[i]);
      before[i] = before_in_scan(m, scan, total[i]);
      if (m.lane() == warp_size - 1) {
        T* const row = &s.row[span_of()][bunch_of() * each];
        if constexpr (bytes) {
          m.put(row[2 * i], scan & 0xffffu);
          m.put(row[2 * i + 1], scan >> 16);
        } else {
          m.put(row[i], scan);
        }
      }
    }
  }

  AREAL_DEVICE static T term_of(In pixel) {
    if constexpr (C::squares) return square<T>(pixel);
    return term<T>(pixel);
  }

  // ---------------------------------------------------------------- publish, and what all gathers share

  /// A column's sum in the bunch, as a cell of its own.
  AREAL_DEVICE T& cell(Vec<T, V>* line, int x) { return line[x / V].at[x % V]; }

  /// The row of the tile whose sums this thread hands over, if it is one.
  AREAL_DEVICE int row_of_thread() const {
    return order == HeldOrder::diagonals ? m.thread() - tile_width : m.thread();
  }

  AREAL_DEVICE T row_sum(Shared& s, int y) {
    T sum = 0;
    AREAL_UNROLL
    for (int p = 0; p < spans; ++p) sum += m.get(s.row[p][y]);
    return sum;
  }

  AREAL_DEVICE void publish(Shared& s, int ty, int tx) {
    const std::int64_t at = tile_at(ty, tx);
    const int y = row_of_thread(), x = m.thread();
    if (tx + 1 < a.tiles_x && y >= 0 && y < tile_height)
      m.post(a.rows + at * tile_height + y,
             Word{row_sum(s, y), static_cast<Tag>(tag + (order == HeldOrder::diagonals && tx == 0))});
    if (x >= tile_width) return;
    T sum = 0;
    AREAL_UNROLL
    for (int b = 0; b < bunches; ++b) {
      T& of_bunch = cell(s.columns[b], x);
      const T more = m.get(of_bunch);
      m.put(of_bunch, sum);
      sum += more;
    }
    if (ty + 1 < a.tiles_y)
      m.post(a.columns + at * tile_width + x,
             Word{sum, static_cast<Tag>(tag + (order != HeldOrder::direct && ty == 0))});
    m.put(cell(s.above, x), sum);
    if constexpr (order == HeldOrder::direct)
      if (tx + 1 < a.tiles_x && ty + 1 < a.tiles_y) {
        sum = warp_sum(m, sum);
        if (m.lane() == 0) m.post(a.totals + at * totals + m.warp(), Word{sum, tag});
      }
  }

  /// What lies left of a row of the tile, and of each of its spans.
  AREAL_DEVICE void put_left(Shared& s, int y, T left) {
    m.put(s.left[y], left);
    AREAL_UNROLL
    for (int p = 0; p < spans; ++p) {
      T& of_span = s.row[p][y];
      const T more = m.get(of_span);
      m.put(of_span, left);
      left += more;
    }
  }

  /// This warp's part of the corner: what lies both left of the tile and above it.
  AREAL_DEVICE void put_corner(Shared& s, T corner) {
    corner = warp_sum(m, corner);
    if (m.lane() == 0) m.put(s.some[1][m.warp()], corner);
  }

  /// The sum of the tile's columns from the top down to here, of which each thread brings its own, is put, and after a
  /// barrier posted.
  AREAL_DEVICE void put_total(Shared& s, T down) {
    down = warp_sum(m, down);
    if (m.lane() == 0) m.put(s.some[0][m.warp()], down);
  }
  AREAL_DEVICE void post_total(Shared& s, int ty, int tx) {
    if (m.thread() != 0 || ty + 1 == a.tiles_y) return;
    T down = 0;
    AREAL_UNROLL
    for (int w = 0; w < column_warps; ++w) down += m.get(s.some[0][w]);
    m.post(a.totals + tile_at(ty, tx), Word{down, tag});
  }

  /// The totals of the tiles above those to the left, asked for.
  AREAL_DEVICE auto ask_corner(int ty, int tx) {
    const Word* const from = a.totals + tile_at(ty - 1, 0);
    return gather<1>(m, tag, m.thread(), threads, ty > 0 ? tx : 0, [=](int n) { return from + n; });
  }

  /// The words of some tiles, from one upwards.
  struct Window {
    Word word[C::depth];
  };
  AREAL_DEVICE void look(Window& up, const Word* from, std::int64_t stride, int count) {
    AREAL_UNROLL
    for (int i = 0; i < C::depth; ++i) up.word[i] = i < count ? m.peek(from - i * stride) : Word{0, 0};
  }

  /// What the `count` words from `from` upwards stand for: the nearest that counts from the image's top, and what lies
  /// between. Added downwards, so that it does not matter how far up that was.
  AREAL_DEVICE T look_back(Window& up, const Word* from, std::int64_t stride, int count) {
    for (;;) {
      bool all = true, found = false;  // all nearer ones are there; the one from the top was among them
      T sum = 0;
      AREAL_UNROLL
      for (int i = 0; i < C::depth; ++i) {
        if (all && !found && up.word[i].tag == tag + 1) {
          found = true;
          sum = up.word[i].value;
          AREAL_UNROLL
          for (int j = i - 1; j >= 0; --j) sum += up.word[j].value;
        }
        all = all && up.word[i].tag == tag;
      }
      if (found) return sum;
      m.pause();
      look(up, from, stride, count);
    }
  }

  // ---------------------------------------------------------------- write

  /// How a row of a warp is stored: as it is, as vectors of neighbouring lanes' elements where it begins between two
  /// aligned addresses, or element by element.
  enum class Stores { vectors, shifted, elements };

  template <Stores stores>
  AREAL_DEVICE void write(Shared& s, const Place& place) {
    // The table's row above this warp's rows.
    T beside = 0;
    for (int y = m.lane(); y < bunch_of() * each; y += warp_size) beside += m.get(s.left[y]);
    Vec<T, V> sum = up_to(s, span_of());
    T run = 0;
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] = run += sum.at[v];
    T others = 0;
    for (int p = 0; p < span_of(); ++p) {
      const Vec<T, V> more = up_to(s, p);
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) others += more.at[v];
    }
    T corner = 0;
    AREAL_UNROLL
    for (int w = 0; w < warps; ++w) corner += m.get(s.some[1][w]);
    const T start = corner + warp_sum(m, static_cast<T>(beside + others)) + before_in_scan(m, warp_scan(m, run), run);
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] += start;

    const T* const row = &s.row[span_of()][bunch_of() * each];
    char* to = a.table + place.y * a.out.row + place.x * a.out.column;
    AREAL_UNROLL
    for (int i = 0; i < each; ++i, to += a.out.row) {
      const Vec<In, V> line = m.get(s.tile[i][m.thread()]);
      if constexpr (bytes) {
        const T base = m.get(row[i]) + (i % 2 == 0 ? before[i / 2] & 0xffffu : before[i / 2] >> 16);
        const auto word = word_of(line);
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) sum.at[v] += m.dot4(word, 0x01010101u >> (8 * (V - 1 - v)), base);
      } else {
        const T base = m.get(row[i]) + before[i];
        T across = 0;
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          across += term_of(line.at[v]);
          sum.at[v] += across + base;
        }
      }
      if (i >= place.rows) continue;
      if constexpr (stores == Stores::vectors)
        m.store_once(reinterpret_cast<Vec<T, V>*>(to), sum);
      else if constexpr (stores == Stores::shifted)
        store_shifted(to, sum);
      else
        store(to, sum, place.columns);
    }
  }

  /// Column sums of all above this warp's rows, in a span.
  AREAL_DEVICE Vec<T, V> up_to(Shared& s, int p) {
    Vec<T, V> sum = m.get(s.above[p * warp_size + m.lane()]);
    const Vec<T, V> more = m.get(s.columns[bunch_of()][p * warp_size + m.lane()]);
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) sum.at[v] += more.at[v];
    return sum;
  }

  /// A row of the warp from anywhere: each lane stores the aligned vector that ends within its own columns, the first
  /// and the last lane what is left at the ends.
  AREAL_DEVICE void store_shifted(char* to, const Vec<T, V>& line) {
    static_assert(V == 2 || V == 4);
    const int r = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % V);
    T s[2 * V - 1];  // the left neighbour's but its first, and this lane's
    AREAL_UNROLL
    for (int v = 1; v < V; ++v) s[v - 1] = m.shuffle_up(line.at[v], 1);
    AREAL_UNROLL
    for (int v = 0; v < V; ++v) s[V - 1 + v] = line.at[v];
    Vec<T, V> out;  // V of them, from V - 1 - r on
    if constexpr (V == 2) {
      out.at[0] = r == 0 ? s[1] : s[0];
      out.at[1] = r == 0 ? s[2] : s[1];
    } else {
      T half[5];
      AREAL_UNROLL
      for (int i = 0; i < 5; ++i) half[i] = r & 2 ? s[i] : s[i + 2];
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) out.at[v] = r & 1 ? half[v] : half[v + 1];
    }
    if (r == 0 || m.lane() > 0) m.store_once(reinterpret_cast<Vec<T, V>*>(to - r * sizeof(T)), out);
    if (r == 0) return;
    T* const elements = reinterpret_cast<T*>(to);
    if (m.lane() == 0) {
      AREAL_UNROLL
      for (int v = 0; v < V - 1; ++v)
        if (v < V - r) m.store_once(elements + v, line.at[v]);
    } else if (m.lane() == warp_size - 1) {
      AREAL_UNROLL
      for (int v = 1; v < V; ++v)
        if (v >= V - r) m.store_once(elements + v, line.at[v]);
    }
  }

  AREAL_DEVICE void store(char* to, const Vec<T, V>& line, int columns) {
    if (a.out.alignment == Alignment::vectors && columns == V) {
      m.store_once(reinterpret_cast<Vec<T, V>*>(to), line);
    } else {
      AREAL_UNROLL
      for (int v = 0; v < V; ++v)
        if (v < columns) put_sum(to + v * a.out.column, line.at[v]);
    }
  }
  AREAL_DEVICE void put_sum(char* to, T sum) { store_element(m, to, sum, a.out.alignment != Alignment::bytes); }

  /// The zeros left of and above the table's first tiles.
  AREAL_DEVICE void write_edge(int ty, int tx, const Place& place) {
    char* const at = a.table + place.y * a.out.row + place.x * a.out.column;
    if (tx == 0 && span_of() == 0 && m.lane() == 0)
      for (int i = 0; i < place.rows; ++i) put_sum(at + i * a.out.row - a.out.column, T(0));
    if (ty == 0 && bunch_of() == 0) {
      AREAL_UNROLL
      for (int v = 0; v < V; ++v)
        if (v < place.columns) put_sum(at - a.out.row + v * a.out.column, T(0));
      if (tx == 0 && m.thread() == 0) put_sum(at - a.out.row - a.out.column, T(0));
    }
  }
};

/// Lane and tuning, of one H200, 2026-11: see docs/notes/cuda-sat.md for what else was tried.
template <class In_, class T_, HeldOrder order_, bool squares_ = false>
struct HeldConfig {
  using In = In_;
  using T = T_;
  static constexpr HeldOrder order = order_;
  static constexpr bool diagonal = order == HeldOrder::diagonals, squares = squares_,
                        byte = std::is_same_v<In, std::uint8_t> && std::is_same_v<T, std::uint32_t> && !squares;
  static constexpr int vector = 16 / static_cast<int>(sizeof(T));
  static constexpr int spans = sizeof(T) == 8 || (byte && diagonal) ? 2 : 1;
  static constexpr int bunches = sizeof(T) == 8 ? 4 : 8;
  static constexpr int rows = byte && order == HeldOrder::rows ? 32 : 16;
  static constexpr int resident = byte && diagonal ? 2 : sizeof(In) < sizeof(T) ? 4 : 3;
  static constexpr int depth = diagonal ? 3 : 4;
  static constexpr int group = 16;  // tiles that are one group by themselves
};

/// The geometry and the workspace of one plan.
template <class C>
struct HeldPlan {
  using In = typename C::In;
  using T = typename C::T;
  using Kernel = Held<NoMachine, C>;

  explicit HeldPlan(const TableRequest& request, void* workspace = nullptr) {
    const Placed p = placed(request.image, request.border);
    args.width = p.width, args.height = p.height, args.edge = p.offset == 1;
    args.channels = static_cast<int>(request.image.channels);
    const std::int64_t images = request.image.batch * request.image.channels;
    args.tiles_x = static_cast<int>((p.width + Kernel::tile_width - 1) / Kernel::tile_width);
    args.tiles_y = static_cast<int>((p.height + Kernel::tile_height - 1) / Kernel::tile_height);
    // One group where a row of tiles is short, else about as many groups as tiles in each.
    args.group = args.tiles_x <= C::group ? std::max(1, args.tiles_x) : 1;
    while (args.tiles_x > C::group && static_cast<std::int64_t>(args.group) * args.group < args.tiles_x) ++args.group;
    args.groups = (args.tiles_x + args.group - 1) / args.group;
    blocks = static_cast<std::int64_t>(args.tiles_x) * args.tiles_y * images;
    Workspace from(workspace);
    from.take(args.ticket, 1);
    from.take(args.rows, blocks * Kernel::tile_height);
    from.take(args.beside, Kernel::order != HeldOrder::rows
                               ? 0
                               : args.groups * static_cast<std::int64_t>(args.tiles_y) * images * Kernel::tile_height);
    from.take(args.columns, blocks * Kernel::tile_width);
    from.take(args.totals, blocks * Kernel::totals);
    workspace_bytes = blocks == 0 ? 0 : from.bytes();
  }

  HeldArgs<In, T> args{};
  std::int64_t blocks = 0;
  std::size_t workspace_bytes = 0;
};

/// The schedule. The workspace was zeroed once.
template <class C, class Launcher>
void held(Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
          const View& table, void* workspace) {
  HeldPlan<C> plan(request, workspace);
  if (plan.blocks == 0) {  // no sums
    if (request.border != Border::none) edge<typename C::T>(launcher, table);
    return;
  }
  auto& a = plan.args;
  a.in = strides(image), a.out = strides(table);
  a.image = static_cast<const char*>(image.data);
  a.table = static_cast<char*>(table.data) + (a.edge ? a.out.row + a.out.column : 0);
  a.valid = valid;
  a.in.alignment = alignment_of(a.image, a.in, sizeof(typename C::In), sizeof(Vec<typename C::In, C::vector>));
  if (valid.plane != nullptr) a.in.alignment = std::min(a.in.alignment, Alignment::elements);  // one by one
  a.out.alignment = alignment_of(a.table, a.out, sizeof(typename C::T), sizeof(Vec<typename C::T, C::vector>));
  launcher.template launch<Held, C>(plan.blocks, a, false);
}

}  // namespace areal::kernels
