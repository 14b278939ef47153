#pragma once
// bands (areal). One launch a band and two more. Reads 2, writes 1 per element, 1 of the reads from L2.
// Floats are the same every run.
//
// The image is cut into tiles and, from top to bottom, into bands of some rows of tiles, a few megabytes each. Launch n
//   sums    the tiles of band n: their rows, their columns, and their total;
//   carries in band n - 1: these sums become the sums up to each tile's left edge and down to its upper edge;
//   writes  the tiles of band n - 2, read again while they are still in L2.
// The three are independent of each other, so no block ever waits for another: the order of launches is the only one.

#include <algorithm>
#include <cstdint>
#include "kernels/device/elements.hpp"
#include "kernels/device/machine.hpp"
#include "kernels/device/strides.hpp"
#include "kernels/device/warp.hpp"
#include "kernels/sat/edge.hpp"
#include "kernels/sat/request.hpp"

namespace areal::kernels {

template <class In, class T>
struct BandsArgs {
  const char* image;
  char* table;  ///< where the first sum goes
  Strides in, out;
  std::int64_t width, height;  ///< of what is summed
  int channels;
  bool edge;  ///< zeros belong left of and above the first sum
  int tiles_x, tiles_y;
  int band;           ///< rows of tiles
  int launch;         ///< n, from 0
  int column_blocks;  ///< that carry columns
  // The workspace; for each image and channel:
  T* rows;     ///< [tiles_y][tiles_x][tile height] row sums of the tile
  T* columns;  ///< [tiles_y][tiles_x][tile width] column sums of the tile
  T* totals;   ///< [tiles_y][tiles_x]
  T* left;     ///< [tiles_y][tiles_x][tile height] row sums of all tiles to the left
  T* above;    ///< [tiles_y + 1][tiles_x][tile width] column sums of all tiles above
  T* corner;   ///< [tiles_y][tiles_x] first the totals of all tiles above, then of all above and left
  T* run;      ///< [tiles_x] totals of all tiles above the next band
};

template <class M, class C>
struct Bands {
  using In = typename C::In;
  using T = typename C::T;
  using Args = BandsArgs<In, T>;
  static constexpr int V = C::vector, warps = C::warps, each = C::rows;  // columns of a lane, rows of a lane
  static constexpr int threads = warps * warp_size, resident = C::resident;
  static constexpr int tile_width = V * warp_size, tile_height = warps * each;
  static constexpr int lead = C::lead;  // blocks that sum before the first that must wait for the launch before
  static_assert(tile_height % warp_size == 0 && threads >= tile_width && threads % tile_height == 0);

  struct Shared {
    Vec<T, V> columns[warps][warp_size];  // column sums of each warp's rows
    Vec<T, V> above[warp_size];           // of what lies above the tile
    T left[tile_height];                  // row sums of the tile, or of what lies left of it
    T corner;
    T part[threads];
  };

  struct Tile {
    Vec<In, V> line[each];
  };

  M m;
  Args a;

  /// Blocks of one image in one launch, by task.
  struct Shares {
    std::int64_t sums, carries, writes;
  };
  static AREAL_BOTH int rows_of_band(const Args& a, int band) {
    const int first = band * a.band, last = first + a.band;
    return band < 0 || first >= a.tiles_y ? 0 : (last < a.tiles_y ? last : a.tiles_y) - first;
  }
  static AREAL_BOTH Shares shares(const Args& a) {
    const int carried = rows_of_band(a, a.launch - 1);
    return {static_cast<std::int64_t>(rows_of_band(a, a.launch)) * a.tiles_x,
            carried ? carried + 1 + a.column_blocks : 0,
            static_cast<std::int64_t>(rows_of_band(a, a.launch - 2)) * a.tiles_x};
  }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    m.release_launch();
    const Shares n = shares(a);
    const std::int64_t of_image = n.sums + n.carries + n.writes;
    choose_image(m.block() / of_image);
    std::int64_t i = m.block() % of_image;
    const std::int64_t ahead = n.sums < lead ? n.sums : lead;
    if (i < ahead) {
      sum(s, a.launch * a.band + static_cast<int>(i / a.tiles_x), static_cast<int>(i % a.tiles_x));
      return;
    }
    i -= ahead;
    if (i < n.carries) {
      m.await_launch();
      carry(s, static_cast<int>(i));
      return;
    }
    i -= n.carries;
    // The rest in turn, as long as there are both.
    const std::int64_t sums = n.sums - ahead, both = sums < n.writes ? sums : n.writes;
    const bool writes = i < 2 * both ? i % 2 == 0 : n.writes > both;
    const std::int64_t at = (i < 2 * both ? i / 2 : i - both) + (writes ? 0 : ahead);
    const int ty = (writes ? a.launch - 2 : a.launch) * a.band + static_cast<int>(at / a.tiles_x);
    const int tx = static_cast<int>(at % a.tiles_x);
    if (writes)
      write(s, ty, tx);
    else
      sum(s, ty, tx);
  }

  /// From here on everything is about one image of the batch, and one channel.
  AREAL_DEVICE void choose_image(std::int64_t n) {
    const std::int64_t batch = n / a.channels, channel = n % a.channels;
    a.image += batch * a.in.batch + channel * a.in.channel;
    a.table += batch * a.out.batch + channel * a.out.channel;
    const std::int64_t tiles = static_cast<std::int64_t>(a.tiles_x) * a.tiles_y;
    a.rows += n * tiles * tile_height;
    a.left += n * tiles * tile_height;
    a.columns += n * tiles * tile_width;
    a.above += n * (tiles + a.tiles_x) * tile_width;
    a.totals += n * tiles;
    a.corner += n * tiles;
    a.run += n * a.tiles_x;
  }

  AREAL_DEVICE std::int64_t tile_at(int ty, int tx) const { return static_cast<std::int64_t>(ty) * a.tiles_x + tx; }

  /// Where this thread's part of a tile begins, and how many of its rows and columns lie in the image.
  struct Place {
    std::int64_t x, y;
    int columns, rows;
  };
  AREAL_DEVICE Place place_of(int ty, int tx) const {
    const std::int64_t x = static_cast<std::int64_t>(tx) * tile_width + m.lane() * V;
    const std::int64_t y = static_cast<std::int64_t>(ty) * tile_height + m.warp() * each;
    const std::int64_t right = a.width - x, down = a.height - y;
    return {x, y,
            static_cast<int>(right < 0   ? 0
                             : right < V ? right
                                         : V),
            static_cast<int>(down < 0      ? 0
                             : down < each ? down
                                           : each)};
  }

  AREAL_DEVICE Tile load(const Place& at) {
    const char* from = a.image + at.y * a.in.row + at.x * a.in.column;
    Tile tile;
    if (a.in.alignment == Alignment::vectors && at.columns == V) {
      AREAL_UNROLL
      for (int i = 0; i < each; ++i, from += a.in.row) {
        tile.line[i] = {};
        if (i < at.rows) tile.line[i] = m.load(reinterpret_cast<const Vec<In, V>*>(from));
      }
    } else {
      const bool aligned = a.in.alignment != Alignment::bytes;
      AREAL_UNROLL
      for (int i = 0; i < each; ++i, from += a.in.row) {
        AREAL_UNROLL
        for (int v = 0; v < V; ++v) {
          tile.line[i].at[v] = In{};
          if (i < at.rows && v < at.columns)
            tile.line[i].at[v] = load_element<M, In>(m, from + v * a.in.column, aligned);
        }
      }
    }
    return tile;
  }

  // ---------------------------------------------------------------- sum

  AREAL_DEVICE void sum(Shared& s, int ty, int tx) {
    const Tile tile = load(place_of(ty, tx));
    const std::int64_t at = tile_at(ty, tx);
    Vec<T, V> column{};
    T row[each];
    AREAL_UNROLL
    for (int i = 0; i < each; ++i) {
      row[i] = 0;
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) {
        const T pixel = term<T>(tile.line[i].at[v]);
        column.at[v] += pixel;
        row[i] += pixel;
      }
    }
    m.put(s.columns[m.warp()][m.lane()], column);
    const T mine = warp_sums(m, row);
    if (m.lane() % (warp_size / each) == 0) {
      const int y = m.warp() * each + m.lane() / (warp_size / each);
      m.store(a.rows + at * tile_height + y, mine);
      m.put(s.left[y], mine);
    }
    m.sync();
    if (m.thread() < tile_width) {
      T below = 0;
      AREAL_UNROLL
      for (int w = 0; w < warps; ++w) below += m.get(s.columns[w][m.thread() / V].at[m.thread() % V]);
      m.store(a.columns + at * tile_width + m.thread(), below);
    }
    if (m.warp() == warps - 1) {
      T all = 0;
      AREAL_UNROLL
      for (int i = 0; i < tile_height; i += warp_size) all += m.get(s.left[i + m.lane()]);
      all = warp_sum(m, all);
      if (m.lane() == 0) m.store(a.totals + at, all);
    }
  }

  // ---------------------------------------------------------------- carry

  AREAL_DEVICE void carry(Shared& s, int which) {
    const int first = (a.launch - 1) * a.band, rows = rows_of_band(a, a.launch - 1);
    if (which == 0)
      carry_corners(first, rows);
    else if (which <= rows)
      carry_rows(s, first + which - 1);
    else
      carry_columns(first, rows, which - rows - 1);
  }

  /// A row of tiles: several threads a row of the image, each for a share of the tiles.
  AREAL_DEVICE void carry_rows(Shared& s, int ty) {
    static constexpr int parts = threads / tile_height, batch = 16;
    const int y = m.thread() % tile_height, part = m.thread() / tile_height;
    const int share = (a.tiles_x + parts - 1) / parts;
    const int from = part * share < a.tiles_x ? part * share : a.tiles_x;
    const int to = from + share < a.tiles_x ? from + share : a.tiles_x;
    const T* const rows = a.rows + tile_at(ty, 0) * tile_height + y;
    T* const left = a.left + tile_at(ty, 0) * tile_height + y;
    T some[batch], sum = 0;
    for (int i = from; i < to; i += batch) {
      AREAL_UNROLL
      for (int j = 0; j < batch; ++j)
        some[j] = i + j < to ? m.load(rows + static_cast<std::int64_t>(i + j) * tile_height) : T(0);
      AREAL_UNROLL
      for (int j = 0; j < batch; ++j) sum += some[j];
    }
    m.put(s.part[m.thread()], sum);
    m.sync();
    sum = 0;
    for (int i = 0; i < part; ++i) sum += m.get(s.part[i * tile_height + y]);
    for (int i = from; i < to; i += batch) {
      if (share > batch) {
        AREAL_UNROLL
        for (int j = 0; j < batch; ++j)
          some[j] = i + j < to ? m.load(rows + static_cast<std::int64_t>(i + j) * tile_height) : T(0);
      }
      AREAL_UNROLL
      for (int j = 0; j < batch; ++j)
        if (i + j < to) {
          m.store(left + static_cast<std::int64_t>(i + j) * tile_height, sum);
          sum += some[j];
        }
    }
  }

  /// A thread a column, down the band.
  AREAL_DEVICE void carry_columns(int first, int rows, int which) {
    static constexpr int batch = 8;
    const std::int64_t width = static_cast<std::int64_t>(a.tiles_x) * tile_width;
    const std::int64_t x = static_cast<std::int64_t>(which) * threads + m.thread();
    if (x >= width) return;
    const T* from = a.columns + first * width + x;
    T* to = a.above + first * width + x;
    T sum = 0;
    if (first > 0)
      sum = m.load(to);
    else
      m.store(to, sum);
    for (int i = 0; i < rows; i += batch) {
      T some[batch];
      AREAL_UNROLL
      for (int j = 0; j < batch; ++j) some[j] = i + j < rows ? m.load(from + (i + j) * width) : T(0);
      AREAL_UNROLL
      for (int j = 0; j < batch; ++j)
        if (i + j < rows) m.store(to += width, sum += some[j]);
    }
  }

  /// One block: totals down the band, a thread a column of tiles, then from left to right, a warp a row of tiles.
  AREAL_DEVICE void carry_corners(int first, int rows) {
    for (int x = m.thread(); x < a.tiles_x; x += threads) {
      T sum = first > 0 ? m.load(a.run + x) : T(0);
      for (int y = first; y < first + rows; ++y) {
        m.store(a.corner + tile_at(y, x), sum);
        sum += m.load(a.totals + tile_at(y, x));
      }
      m.store(a.run + x, sum);
    }
    m.sync();
    for (int y = first + m.warp(); y < first + rows; y += warps) {
      T begun = 0;
      for (int from = 0; from < a.tiles_x; from += warp_size) {
        const int x = from + m.lane();
        const T own = x < a.tiles_x ? m.load(a.corner + tile_at(y, x)) : T(0);
        const T sum = warp_scan(m, own), before = before_in_scan(m, sum, own);
        if (x < a.tiles_x) m.store(a.corner + tile_at(y, x), static_cast<T>(begun + before));
        begun += m.shuffle(sum, warp_size - 1);
      }
    }
  }

  // ---------------------------------------------------------------- write

  AREAL_DEVICE void write(Shared& s, int ty, int tx) {
    const Place place = place_of(ty, tx);
    const Tile tile = load(place);
    m.await_launch();
    const std::int64_t at = tile_at(ty, tx);
    if (m.thread() < tile_width)
      m.put(s.above[m.thread() / V].at[m.thread() % V], m.load(a.above + at * tile_width + m.thread()));
    if (m.thread() >= threads - tile_height) {
      const int y = m.thread() - (threads - tile_height);
      m.put(s.left[y], m.load(a.left + at * tile_height + y));
    }
    if (m.thread() == 0) m.put(s.corner, m.load(a.corner + at));
    Vec<T, V> down[each];
    AREAL_UNROLL
    for (int i = 0; i < each; ++i) {
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) down[i].at[v] = term<T>(tile.line[i].at[v]) + (i > 0 ? down[i - 1].at[v] : T(0));
    }
    m.put(s.columns[m.warp()][m.lane()], down[each - 1]);
    m.sync();
    Vec<T, V> start = m.get(s.above[m.lane()]);
    for (int w = 0; w < m.warp(); ++w) {
      const Vec<T, V> more = m.get(s.columns[w][m.lane()]);
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) start.at[v] += more.at[v];
    }
    T beside = 0;  // what lies left of the tile, down to this warp's rows
    for (int y = m.lane(); y < m.warp() * each; y += warp_size) beside += m.get(s.left[y]);
    beside = m.get(s.corner) + warp_sum(m, beside);

    if (a.edge) write_edge(ty, tx, place);
    char* to = a.table + place.y * a.out.row + place.x * a.out.column;
    AREAL_UNROLL
    for (int i = 0; i < each; ++i, to += a.out.row) {
      Vec<T, V> line;
      T run = 0;
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) line.at[v] = run += start.at[v] + down[i].at[v];
      beside += m.get(s.left[m.warp() * each + i]);
      const T before = before_in_scan(m, warp_scan(m, run), run) + beside;
      AREAL_UNROLL
      for (int v = 0; v < V; ++v) line.at[v] += before;
      if (i < place.rows) store(to, line, place.columns);
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
    if (tx == 0 && m.lane() == 0)
      for (int i = 0; i < place.rows; ++i) put_sum(at + i * a.out.row - a.out.column, T(0));
    if (ty == 0 && m.warp() == 0) {
      AREAL_UNROLL
      for (int v = 0; v < V; ++v)
        if (v < place.columns) put_sum(at - a.out.row + v * a.out.column, T(0));
      if (tx == 0 && m.lane() == 0) put_sum(at - a.out.row - a.out.column, T(0));
    }
  }
};

/// Lane and tuning.
template <class In_, class T_>
struct BandsConfig {
  using In = In_;
  using T = T_;
  static constexpr int vector = 16 / static_cast<int>(sizeof(T)), warps = 8, rows = 8;
  static constexpr int resident = 4, lead = 264;  // one H200, 2026-11: more rows a lane, or fewer blocks, were slower
  static constexpr std::int64_t band_bytes = 4 << 20;
};

/// The geometry and the workspace of one plan.
template <class C>
struct BandsPlan {
  using In = typename C::In;
  using T = typename C::T;
  using Kernel = Bands<NoMachine, C>;

  explicit BandsPlan(const SatRequest& request) {
    const Placed p = placed(request.image, request.border);
    args.width = p.width, args.height = p.height, args.edge = p.offset == 1;
    args.channels = static_cast<int>(request.image.channels);
    images = request.image.batch * request.image.channels;
    args.tiles_x = static_cast<int>((p.width + Kernel::tile_width - 1) / Kernel::tile_width);
    args.tiles_y = static_cast<int>((p.height + Kernel::tile_height - 1) / Kernel::tile_height);
    const std::int64_t tiles = static_cast<std::int64_t>(args.tiles_x) * args.tiles_y;
    const std::int64_t bytes =
        std::max<std::int64_t>(1, tiles * Kernel::tile_width * Kernel::tile_height * images * sizeof(In));
    bands = static_cast<int>(std::clamp<std::int64_t>(bytes / C::band_bytes, 1, std::max(1, args.tiles_y)));
    args.band = std::max(1, (args.tiles_y + bands - 1) / bands);
    bands = (args.tiles_y + args.band - 1) / args.band;
    args.column_blocks = (args.tiles_x * Kernel::tile_width + Kernel::threads - 1) / Kernel::threads;
    place(nullptr);
  }

  /// Hands out the workspace, from wherever it begins.
  void place(void* workspace) {
    const std::int64_t tiles = static_cast<std::int64_t>(args.tiles_x) * args.tiles_y * images;
    char* const begin = static_cast<char*>(workspace) + (-reinterpret_cast<std::uintptr_t>(workspace) & 255);
    std::int64_t at = 0;
    const auto take = [&](T*& array, std::int64_t count) {
      array = reinterpret_cast<T*>(begin + at);
      at += (count * static_cast<std::int64_t>(sizeof(T)) + 255) / 256 * 256;
    };
    take(args.rows, tiles * Kernel::tile_height);
    take(args.left, tiles * Kernel::tile_height);
    take(args.columns, tiles * Kernel::tile_width);
    take(args.above, (tiles + args.tiles_x * images) * Kernel::tile_width);
    take(args.totals, tiles);
    take(args.corner, tiles);
    take(args.run, args.tiles_x * images);
    workspace_bytes = tiles == 0 ? 0 : static_cast<std::size_t>(at) + 255;
  }

  BandsArgs<In, T> args{};
  std::int64_t images = 0;
  int bands = 0;
  std::size_t workspace_bytes = 0;
};

/// The schedule.
template <class C, class Launcher>
void bands(Launcher& launcher, const SatRequest& request, const ConstView& image, const View& table, void* workspace) {
  using Kernel = Bands<NoMachine, C>;
  BandsPlan<C> plan(request);
  if (plan.workspace_bytes == 0) {  // no sums
    if (request.border != Border::none) edge<typename C::T>(launcher, table);
    return;
  }
  auto& a = plan.args;
  a.in = strides(image), a.out = strides(table);
  a.image = static_cast<const char*>(image.data);
  a.table = static_cast<char*>(table.data) + (a.edge ? a.out.row + a.out.column : 0);
  a.in.alignment = alignment_of(a.image, a.in, sizeof(typename C::In), sizeof(Vec<typename C::In, C::vector>));
  a.out.alignment = alignment_of(a.table, a.out, sizeof(typename C::T), sizeof(Vec<typename C::T, C::vector>));
  plan.place(workspace);
  for (a.launch = 0; a.launch < plan.bands + 2; ++a.launch) {
    const auto n = Kernel::shares(a);
    launcher.template launch<Bands, C>((n.sums + n.carries + n.writes) * plan.images, a, a.launch > 0);
  }
}

}  // namespace areal::kernels
