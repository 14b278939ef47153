#pragma once
// Sums and means of windows. A block walks down a strip of columns. 1 launch.
//
// Rows of the table come by asynchronous copies into a ring in shared memory, a chunk of 8 at a time, and stay there
// until the windows have left them. All four corners of a window are read there: a warp has 2 rows of 128 columns, a
// lane every 32nd column. Lines of the ring lie as the table's rows do to multiples of 16 bytes, so that vectors are
// copied whatever the rows' alignment; up to 3 elements at either end of a line are copied one by one.
//
// It takes tables of 32-bit integers, and windows whose sums are finished alike: those inside, and those that have
// zeros or nothing beyond an edge. Lines repeat the table's last row and column, and have zeros before the first ones.
//
// Reads: of each strip and segment of `rows` windows, rows + height lines of columns + width elements (an odd number of
// rows counts as one more), each once, except for those zeros. Writes: each output once.

#include <algorithm>
#include <type_traits>
#include "kernels/query/windows.hpp"

namespace areal::kernels {

/// How windows with all pixels are finished, in fewer instructions than for any statistic and type.
enum class WindowFinish : std::uint8_t {
  any,
  bytes,          ///< contiguous outputs: means of an odd number of pixels, as unsigned integers, to 8u
  bytes_of_even,  ///< ties are rounded to even
  floats          ///< sums of unsigned integers to 32f
};
inline WindowFinish window_finish(const WindowsArgs& w) {
  if (w.out.column != static_cast<std::int64_t>(size_of(w.out.type))) return WindowFinish::any;
  if (w.sum.is_signed) return WindowFinish::any;
  if (w.statistic == Statistic::sum) return w.out.type == Type::f32 ? WindowFinish::floats : WindowFinish::any;
  const bool fixed_point = w.fixed_point_means && formulas::FixedPointMean::serves(w.inner_pixels);
  if (!w.rounded_means || fixed_point || w.inner_pixels == 1) return WindowFinish::any;
  return w.rounded.has_ties() ? WindowFinish::bytes_of_even : WindowFinish::bytes;
}

struct WindowWalkArgs {
  WindowsArgs windows;  ///< `inner` is what is walked
  WindowFinish finish;
  std::int64_t strips, segments, segment_rows;
  int line;    ///< elements from a line of the ring to the next
  int chunks;  ///< of the ring
};

/// The ring of a kernel, in bytes of shared memory, and the kernel's warps and resident blocks.
template <int bytes_, int warps_, int resident_>
struct WindowRing {
  static constexpr int bytes = bytes_, warps = warps_, resident = resident_;
};

template <class M, class C>
struct WindowWalk {
  using T = std::uint32_t;
  using Args = WindowWalkArgs;
  static constexpr int warps = C::warps, threads = warps * warp_size, resident = C::resident;
  static constexpr int chunk = 8, late = 2;             // lines; chunks that are on their way
  static constexpr int parts = warps / chunk;           // warps that copy a line of each chunk
  static constexpr int together = 2, lane_columns = 4;  // rows and columns of a lane's windows
  static constexpr int warp_columns = lane_columns * warp_size, across = warps * together / chunk;
  static constexpr int columns = across * warp_columns;
  static constexpr int V = 16 / static_cast<int>(sizeof(T));
  static constexpr std::int64_t element_bytes = sizeof(T);
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
    int rows, columns;  ///< windows
    int lines, count;   ///< of the table, and elements of a line
    int above, below;   ///< lines in [above, below) are in the table
    int left, right;    ///< elements of a line in [left, right) are in the table
  };
  /// The vectors and the element that a thread copies of lines, each `chunk` lines below the one before.
  struct Copies {
    int line, vector, vectors_end, single;
  };
  AREAL_DEVICE static int between(std::int64_t x, int least, int most) {
    return x < least ? least : x > most ? most : static_cast<int>(x);
  }
  AREAL_DEVICE int first_column() const { return m.warp() % across * warp_columns; }

  AREAL_DEVICE Place place_of() const {
    const WindowsArgs& w = a.windows;
    const TilePlace strip = tile_place(m.block(), a.strips), segment = tile_place(strip.row, a.segments);
    const std::int64_t channel = segment.row % w.planes.channels, image = segment.row / w.planes.channels;
    Place at;
    at.first = {w.inner.left + strip.column * columns, w.inner.top + segment.column * a.segment_rows};
    at.rows = between(w.inner.bottom - at.first.y, 0, static_cast<int>(a.segment_rows));
    at.columns = between(w.inner.right - at.first.x, 0, columns);
    at.lines = (at.rows + together - 1) / together * together + static_cast<int>(w.rows.size);
    at.count = at.columns + static_cast<int>(w.columns.size);
    const std::int64_t row = at.first.y - w.rows.before, column = at.first.x - w.columns.before;
    at.above = between(w.sum.shift - row, 0, at.lines), at.below = between(w.rows.extent + 1 - row, 0, at.lines);
    at.left = between(w.sum.shift - column, 0, at.count),
    at.right = between(w.columns.extent + 1 - column, 0, at.count);
    at.from = image * w.sum.batch + channel * w.sum.channel + (row - w.sum.shift) * w.sum.row +
              (column - w.sum.shift) * static_cast<std::int64_t>(sizeof(T));
    at.to = output_at(w.out, at.first, image * w.out.batch + channel * w.out.channel);
    return at;
  }
  AREAL_DEVICE Windows<M, WindowsConfig<T, false>> plain() const { return {m, a.windows}; }

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place at = place_of();
    const int height = static_cast<int>(a.windows.rows.size);
    const int ring = a.chunks * chunk * a.line, lead = lead_of(at);
    const Copies copies = copies_of(at, lead);
    int line = copies.line, slot = lead + copies.line * a.line;
    const auto fetch = [&] {
      copy_line(s.ring + slot, at, copies, line);
      m.commit_copies();
      line += chunk;
      if ((slot += chunk * a.line) >= ring) slot -= ring;
    };
    AREAL_NO_UNROLL
    for (int i = 1; i < a.chunks; ++i) fetch();

    const int group = m.warp() / across * together, column = first_column() + m.lane();
    unsigned lanes = 0;  // bit i: the lane's column i is an output
    AREAL_UNROLL
    for (int i = 0; i < lane_columns; ++i)
      if (column + i * warp_size < at.columns) lanes |= 1u << i;
    int top = lead + group * a.line, bottom = lead + (group + height) * a.line;
    char* to = at.to + group * a.windows.out.row + column * a.windows.out.column;
    AREAL_NO_UNROLL
    for (int y = group; y - group < at.rows; y += chunk) {
      m.template wait_copies<late - 1>();
      m.sync();
      fetch();
      if (y < at.rows) {
        T sum[together][lane_columns];
        int below = bottom;
        AREAL_UNROLL
        for (int r = 0; r < together; ++r) {
          find(s, lanes, top + r * a.line + column, below + column, sum[r]);
          if ((below += a.line) >= ring) below -= ring;
        }
        finish(lanes, at.rows - y, sum, to);
      }
      to += chunk * a.windows.out.row;
      if ((top += chunk * a.line) >= ring) top -= ring;
      if ((bottom += chunk * a.line) >= ring) bottom -= ring;
    }
  }

  /// The sums of a lane's windows of a row, in the columns of `lanes`.
  AREAL_DEVICE void find(const Shared& s, unsigned lanes, int above, int below, T (&sum)[lane_columns]) const {
    const int width = static_cast<int>(a.windows.columns.size);
    AREAL_UNROLL
    for (int i = 0; i < lane_columns; ++i) {
      const auto get = [&](int cell) { return m.get(s.ring[cell + i * warp_size]); };
      Corners<T> corner;
      if ((lanes >> i & 1) != 0) corner = {get(above), get(above + width), get(below), get(below + width)};
      sum[i] = corner.by_columns();
    }
  }
  AREAL_DEVICE void finish(unsigned lanes, int rows, const T (&sum)[together][lane_columns], char* to) const {
    const WindowsArgs& w = a.windows;
    const auto each = [&](const auto& one) {
      AREAL_UNROLL
      for (int r = 0; r < together; ++r) {
        AREAL_UNROLL
        for (int i = 0; i < lane_columns; ++i)
          if (r < rows && (lanes >> i & 1) != 0) one(sum[r][i], to + r * w.out.row, i * warp_size);
      }
    };
    const auto store_each = [&](const auto& value) {
      each([&](T one, char* row, int x) {
        m.store_streaming(reinterpret_cast<decltype(value(one))*>(row) + x, value(one));
      });
    };
    const auto held = [&](T one) { return one < w.most ? one : w.most; };
    switch (a.finish) {
      case WindowFinish::bytes:
        return store_each([&](T one) { return static_cast<std::uint8_t>(w.rounded.up(held(one))); });
      case WindowFinish::bytes_of_even:
        return store_each([&](T one) { return static_cast<std::uint8_t>(w.rounded(held(one))); });
      case WindowFinish::floats:
        return store_each([](T one) { return static_cast<float>(one); });
      default:
        each([&](T one, char* row, int x) {
          const T sums[] = {one};
          plain().finish(sums, row + x * w.out.column);
        });
    }
  }

  // ---------------------------------------------------------------- lines

  AREAL_DEVICE static int elements_of(std::uint64_t bytes) { return static_cast<int>(bytes / sizeof(T) % V); }
  /// Elements from a multiple of 16 bytes to the first line.
  AREAL_DEVICE int lead_of(const Place& at) const {
    return elements_of(reinterpret_cast<std::uintptr_t>(a.windows.sum.data) + static_cast<std::uint64_t>(at.from));
  }
  /// Alignment of a thread's lines is the same in all chunks, as V divides their number of lines.
  AREAL_DEVICE Copies copies_of(const Place& at, int lead) const {
    static_assert(chunk % V == 0);
    const int part = m.warp() % parts, line = m.warp() / parts;
    if (line >= chunk) return {at.lines + chunk, at.right, at.right, at.right};  // the warp copies none
    const int over = (lead + line * elements_of(static_cast<std::uint64_t>(a.windows.sum.row))) & (V - 1);
    int first = at.left + (-(over + at.left) & (V - 1)), last = ((over + at.right) & -V) - over;
    if (first > last) first = last = at.right;
    Copies copies{line, first + V * (m.lane() + part * warp_size), last, at.right};
    if (part == 0) {
      if (m.lane() < V) copies.single = at.left + m.lane() < first ? at.left + m.lane() : at.right;
      if (m.lane() >= V && m.lane() < 2 * V) copies.single = last + m.lane() - V;
    }
    return copies;
  }
  AREAL_DEVICE void copy_line(T* to, const Place& at, const Copies& copies, int line) const {
    if (line >= at.lines) return;
    if (line < at.above || line >= at.below) return copy_outer(to, at, line);
    const char* const from = a.windows.sum.data + (at.from + line * a.windows.sum.row);
    AREAL_NO_UNROLL
    for (int x = copies.vector; x < copies.vectors_end; x += parts * V * warp_size)
      m.copy_async(reinterpret_cast<Vector&>(to[x]), reinterpret_cast<const Vector*>(from + x * element_bytes));
    if (copies.single < at.right) copy(to, from, copies.single);
    if (at.left == 0 && at.right == at.count) return;
    if (m.warp() % parts == parts - 1) fill(to, from, at);
  }
  AREAL_DEVICE void copy(T* to, const char* from, int x) const {
    m.copy_async(to[x], reinterpret_cast<const T*>(from + x * element_bytes));
  }
  /// The elements of a line that are not in the table.
  AREAL_DEVICE void fill(T* to, const char* from, const Place& at) const {
    AREAL_NO_UNROLL
    for (int x = m.lane(); x < at.left; x += warp_size) m.put(to[x], T{0});
    AREAL_NO_UNROLL
    for (int x = at.right + m.lane(); x < at.count; x += warp_size)
      m.copy_async(to[x], reinterpret_cast<const T*>(from + (at.right - 1) * element_bytes));
  }
  /// A line that is not in the table.
  AREAL_DEVICE void copy_outer(T* to, const Place& at, int line) const {
    if (m.warp() % parts > 0) return;
    const bool zeros = line < at.above;
    const char* const from = a.windows.sum.data + (at.from + (at.below - 1) * a.windows.sum.row);
    AREAL_NO_UNROLL
    for (int x = m.lane(); x < at.right; x += warp_size) {
      if (zeros)
        m.put(to[x], T{0});
      else if (x >= at.left)
        copy(to, from, x);
    }
    if (!zeros) return fill(to, from, at);
    AREAL_NO_UNROLL
    for (int x = at.right + m.lane(); x < at.count; x += warp_size) m.put(to[x], T{0});
  }
};

/// The walk of w.inner by blocks with a ring of C; false, without a launch, if their rows do not fit it, or the device
/// has less shared memory.
template <class C, class Launcher>
bool launch_window_walk(Launcher& launcher, const WindowsArgs& w) {
  using Kernel = WindowWalk<NoMachine, C>;
  using T = typename Kernel::T;
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
      across * segments,
      {w, window_finish(w), strips, segments, segment_rows, static_cast<int>(line), static_cast<int>(chunks)}, false);
  return true;
}

}  // namespace areal::kernels
