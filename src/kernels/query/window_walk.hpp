#pragma once
// Sums and means of windows. A block walks down a strip of columns. 1 launch.
//
// Rows of the table come by asynchronous copies into a ring in shared memory, a chunk of 8 at a time, and stay there
// until the windows have left them. All four corners of a window are read there: a warp has 2 rows of 128 columns, a
// lane every 32nd column. Lines of the ring lie as the table's rows do to multiples of 16 bytes, so that vectors are
// copied whatever the rows' alignment; up to 3 elements at either end of a line are copied one by one.
//
// Windows that reach beyond edges which show no copies are included: lines repeat the table's last row and column, and
// have zeros before the first ones.
//
// Reads: of each strip and segment of `rows` windows, the elements of rows + height lines of columns + width that are
// in the table, each once (an odd `rows` counts as one more). Writes: each output once.

#include <algorithm>
#include "kernels/query/windows.hpp"

namespace areal::kernels {

struct WindowWalkArgs {
  WindowsArgs windows;  ///< `inner` is what is walked
  std::int64_t strips, segments, segment_rows;
  int line;    ///< elements from a line of the ring to the next
  int chunks;  ///< of the ring
};

/// A ring of `bytes` of elements read as T.
template <class T_, int bytes_, int resident_>
struct WindowRing {
  using T = T_;
  static constexpr int bytes = bytes_, resident = resident_;
};

template <class M, class C>
struct WindowWalk {
  using T = typename C::T;
  using D = Difference<T>;
  using Args = WindowWalkArgs;
  static constexpr int threads = 512, resident = C::resident, warps = threads / warp_size;
  static constexpr int chunk = 8, late = 2;             // lines; chunks that are on their way
  static constexpr int together = 2, lane_columns = 4;  // a lane's windows
  static constexpr int warp_columns = lane_columns * warp_size, across = warps * together / chunk;
  static constexpr int columns = across * warp_columns;
  static constexpr int V = 16 / static_cast<int>(sizeof(T));
  using Vector = Vec<T, V>;
  struct alignas(16) Shared {
    T ring[C::bytes / sizeof(T)];
  };

  M m;
  Args a;

  struct Place {
    OutputPlace first;  ///< window
    std::int64_t from;  ///< bytes from the table's data to the element at its upper left corner
    char* to;           ///< its output
    std::int64_t row;   ///< of the table at the first line: the rows of the image above it, may be negative
    int rows, columns;  ///< windows
    int begin, end;     ///< elements of a line that are in the table
    int lead, turn;     ///< elements from a multiple of 16 bytes to `from`, and from a row to the next; below V
  };
  AREAL_DEVICE Place place_of() const {
    const WindowsArgs& w = a.windows;
    const TilePlace strip = tile_place(m.block(), a.strips), segment = tile_place(strip.row, a.segments);
    const std::int64_t channel = segment.row % w.planes.channels, image = segment.row / w.planes.channels;
    Place at;
    at.first = {w.inner.left + strip.column * columns, w.inner.top + segment.column * a.segment_rows};
    const std::int64_t down = w.inner.bottom - at.first.y, right = w.inner.right - at.first.x;
    at.rows = static_cast<int>(down < a.segment_rows ? down : a.segment_rows);
    at.columns = static_cast<int>(right < columns ? right : columns);
    at.row = at.first.y - w.rows.before;
    const std::int64_t column = at.first.x - w.columns.before, last = w.columns.extent + 1 - column;
    const std::int64_t count = at.columns + w.columns.size, before = w.sum.shift - column;
    at.begin = static_cast<int>(before < 0 ? 0 : before);
    at.end = static_cast<int>(last < count ? last : count);
    at.from = image * w.sum.batch + channel * w.sum.channel + (at.row - w.sum.shift) * w.sum.row +
              (column - w.sum.shift) * static_cast<std::int64_t>(sizeof(T));
    at.to = output_at(w.out, at.first, image * w.out.batch + channel * w.out.channel);
    const auto elements = [](std::uint64_t bytes) { return static_cast<int>(bytes / sizeof(T) % V); };
    at.lead = elements(reinterpret_cast<std::uintptr_t>(w.sum.data) + static_cast<std::uint64_t>(at.from));
    at.turn = elements(static_cast<std::uint64_t>(w.sum.row));
    return at;
  }
  AREAL_DEVICE Windows<M, WindowsConfig<T, false>> plain() const { return {m, a.windows}; }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place at = place_of();
    const int width = static_cast<int>(a.windows.columns.size), height = static_cast<int>(a.windows.rows.size);
    const int ring = a.chunks * chunk * a.line;
    int fetched = 0, slot = 0;
    const auto fetch = [&] {
      copy_line(s, at, fetched * chunk, slot * chunk);
      m.commit_copies();
      ++fetched;
      if (++slot == a.chunks) slot = 0;
    };
    AREAL_NO_UNROLL
    while (fetched < a.chunks - 1) fetch();

    const int group = m.warp() / across * together, column = m.warp() % across * warp_columns + m.lane();
    const bool any_column = quick_columns(at, column - m.lane());
    int top = group * a.line, bottom = (group + height) * a.line;
    char* to = at.to + group * a.windows.out.row + column * a.windows.out.column;
    AREAL_NO_UNROLL
    for (int y = group; y - group < at.rows; y += chunk) {
      m.template wait_copies<late - 1>();
      m.sync();
      fetch();
      if (y < at.rows) {
        D sum[lane_columns][together];
        int below = bottom;
        AREAL_UNROLL
        for (int r = 0; r < together; ++r) {
          const T* const above = s.ring + at.lead + column + top + r * a.line;
          const T* const under = s.ring + at.lead + column + below;
          AREAL_UNROLL
          for (int i = 0; i < lane_columns; ++i) {
            const auto get = [&](const T* cell) { return static_cast<D>(m.get(cell[i * warp_size])); };
            Corners<T> corner;
            if (column + i * warp_size < at.columns)
              corner = {get(above), get(above + width), get(under), get(under + width)};
            sum[i][r] = corner.by_columns();
          }
          if ((below += a.line) >= ring) below -= ring;
        }
        if (any_column && quick_rows(at, y)) {
          AREAL_UNROLL
          for (int i = 0; i < lane_columns; ++i)
            if (column + i * warp_size < at.columns) plain().finish(sum[i], to + i * warp_size * a.windows.out.column);
        } else {
          finish_at_edge(at, column, y, sum, to);
        }
      }
      to += chunk * a.windows.out.row;
      if ((top += chunk * a.line) >= ring) top -= ring;
      if ((bottom += chunk * a.line) >= ring) bottom -= ring;
    }
  }

  /// Whether windows have the same pixels as those inside, or zeros in their places.
  AREAL_DEVICE bool all_alike() const {
    const Edge edge = a.windows.columns.edge;
    return std::is_integral_v<T> &&
           (edge == Edge::zero || (edge == Edge::shrink && a.windows.statistic == Statistic::sum));
  }
  AREAL_DEVICE bool quick_columns(const Place& at, int column) const {
    const formulas::WindowAxis& axis = a.windows.columns;
    const std::int64_t x = at.first.x + column,
                       last = at.columns - column < warp_columns ? at.columns - column : warp_columns;
    return all_alike() || (axis.lies_inside(x) && axis.lies_inside(x + last - 1));
  }
  AREAL_DEVICE bool quick_rows(const Place& at, int y) const {
    const formulas::WindowAxis& axis = a.windows.rows;
    const std::int64_t row = at.first.y + y;
    return y + together <= at.rows && (all_alike() || (axis.lies_inside(row) && axis.lies_inside(row + together - 1)));
  }
  AREAL_DEVICE void finish_at_edge(const Place& at, int column, int y, const D (&sum)[lane_columns][together],
                                   char* to) const {
    AREAL_UNROLL
    for (int i = 0; i < lane_columns; ++i) {
      AREAL_UNROLL
      for (int r = 0; r < together; ++r) {
        const int x = column + i * warp_size;
        if (x < at.columns && y + r < at.rows)
          plain().finish_any({at.first.x + x, at.first.y + y + r}, sum[i][r],
                             to + r * a.windows.out.row + i * warp_size * a.windows.out.column);
      }
    }
  }

  /// Half of a line of the chunk of lines from `number` on, which begins at line `place` of the ring, by each warp, if
  /// a window needs it.
  AREAL_DEVICE void copy_line(Shared& s, const Place& at, int number, int place) const {
    const WindowsArgs& w = a.windows;
    static constexpr int parts = warps / chunk;
    const int part = m.warp() % parts, line = m.warp() / parts, count = at.columns + static_cast<int>(w.columns.size);
    number += line;
    if (number >= (at.rows + together - 1) / together * together + static_cast<int>(w.rows.size)) return;
    T* const to = s.ring + at.lead + (place + line) * a.line;
    const std::int64_t row = at.row + number, last_row = w.rows.extent;
    if (row < w.sum.shift) return put_zeros(to, 0, count, part);
    const std::int64_t moved = row > last_row ? last_row - row : 0;  // to the row that the line repeats
    const std::int64_t from = at.from + (number + moved) * w.sum.row;
    const auto element = [&](int x) {
      return reinterpret_cast<const T*>(w.sum.data + (from + x * static_cast<int>(sizeof(T))));
    };
    const int over = (at.lead + number * at.turn) & (V - 1);
    int first = at.begin + (-(over + at.begin) & (V - 1)), last = ((over + at.end) & -V) - over;  // of vectors
    if (first > last || (moved * at.turn & (V - 1)) != 0) first = last = at.end;
    AREAL_NO_UNROLL
    for (int x = first + V * (m.lane() + part * warp_size); x < last; x += V * warp_size * parts)
      m.copy_async(reinterpret_cast<Vector&>(to[x]), reinterpret_cast<const Vector*>(element(x)));
    if (part > 0) return;
    for (int x = at.begin + m.lane(); x < first; x += warp_size) m.copy_async(to[x], element(x));
    for (int x = last + m.lane(); x < at.end; x += warp_size) m.copy_async(to[x], element(x));
    if (at.begin > 0) put_zeros(to, 0, at.begin, 0);
    for (int x = at.end + m.lane(); x < count; x += warp_size) m.copy_async(to[x], element(at.end - 1));
  }
  AREAL_DEVICE void put_zeros(T* to, int begin, int end, int part) const {
    if (part > 0) return;
    AREAL_NO_UNROLL
    for (int x = begin + m.lane(); x < end; x += warp_size) m.put(to[x], T{0});
  }
};

/// The walk of w.inner by blocks with a ring of C; false, without a launch, if their rows do not fit it, or the device
/// has less shared memory.
template <class C, class Launcher>
bool launch_window_walk(Launcher& launcher, const WindowsArgs& w) {
  using T = typename C::T;
  using Kernel = WindowWalk<NoMachine, C>;
  constexpr std::int64_t entries = C::bytes / static_cast<int>(sizeof(T)) - Kernel::V;
  const std::int64_t chunks = (w.rows.size + Kernel::chunk - 1) / Kernel::chunk + 1 + Kernel::late;
  if (w.columns.size > entries || w.rows.size > entries) return false;
  const std::int64_t copied = Kernel::columns + w.columns.size;
  const std::int64_t turn = w.sum.row / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t line = copied + ((turn - copied) & (Kernel::V - 1));
  if (chunks * Kernel::chunk * line > entries) return false;
  const std::int64_t held = launcher.template most_together<WindowWalk, C>();
  if (held == 0) return false;
  const std::int64_t strips = (w.inner.right - w.inner.left + Kernel::columns - 1) / Kernel::columns;
  const std::int64_t rows = w.inner.bottom - w.inner.top, across = strips * w.planes.count;
  const std::int64_t each = (rows - 1) / std::max<std::int64_t>(1, held / across) + 1;
  const std::int64_t segment_rows = (each + Kernel::chunk - 1) / Kernel::chunk * Kernel::chunk;
  const std::int64_t segments = (rows - 1) / segment_rows + 1;
  launcher.template launch<WindowWalk, C>(
      across * segments, {w, strips, segments, segment_rows, static_cast<int>(line), static_cast<int>(chunks)}, false);
  return true;
}

}  // namespace areal::kernels
