#pragma once
// The table tilted by 45 degrees (areal): T(X, Y) sums the pixels with y < Y and |x - X + 1| <= Y - y - 1, as OpenCV's.
// 5 launches. Reads 4.8 (the image twice, each time along both diagonals, the second from the caches, with the tiles'
// halos; and 0.3 of sums), writes 1.2 per element. Workspace 0.1 sums per element. Floats have the same bits every run.
//
// These pixels are, without overlap, the V of two diagonals that rise from (X - 1, Y - 1), and the Vs from all pixels
// above it: T is the running sum along a column of the sums of diagonals. The image is cut into strips of rows:
//   TiltedTile     each strip's sums of diagonals, and of columns of Vs, as if nothing were above it
//   TiltedWalk     carries the diagonals' sums from strip to strip, a strip's height sideways at each
//   TiltedInflow   adds the sums of diagonals from above a strip to its columns' sums
//   TiltedWalk     carries the columns' sums from strip to strip
//   TiltedTile     the table: the first launch again, with everything above added
// A column's number is the table's: X, over pixel X - 1.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

template <class T>
struct TiltedArgs {
  const char* image;
  char* table;
  Strides in, out;
  Valid valid;
  std::int64_t width, height;  ///< of the image
  int channels;
  std::int64_t tiles, strips;  ///< tiles of a strip; strips with one below: all but the last
  bool last;                   ///< write the table, else the sums to carry
  // The workspace, for each image and channel:
  T* diagonals;  ///< [falling, rising][strips][width] up from the pixels of a strip's last row
  T* columns;    ///< [strips][width + 1]
};

/// Geometry of the strips: rows of one, and the columns of a tile.
struct TiltedShape {
  static constexpr int rows = 32, columns = 128;
  static constexpr int threads = rows + columns;  // one for each diagonal that crosses a tile
};

template <class M, class C>
struct TiltedTile {
  using In = typename C::In;
  using T = typename C::T;
  using Args = TiltedArgs<T>;
  static constexpr int rows = TiltedShape::rows, columns = TiltedShape::columns;
  static constexpr int threads = TiltedShape::threads, resident = 6;
  static constexpr int ahead = 8;  // pixels that are loaded at once

  struct Shared {
    T v[rows][columns];
  };

  M m;
  Args a;

  /// A tile: its image, its strip, its first column and row, and its number of rows.
  struct Place {
    std::int64_t n, strip, x, y;
    int rows;
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const Place at = place();
    falling(s, at);
    m.sync();
    rising(s, at);
    m.sync();
    const int i = m.thread();
    if (i >= columns || at.x + i > a.width) return;
    if (a.last)
      write_column(s, at, i);
    else
      hand_on_column(s, at, i);
  }

  AREAL_DEVICE Place place() {
    const std::int64_t strips = a.strips + a.last, tile = m.block() % a.tiles, line = m.block() / a.tiles;
    const std::int64_t strip = line % strips, n = line / strips, down = a.height - strip * rows;
    a.image += n / a.channels * a.in.batch + n % a.channels * a.in.channel;
    a.table += n / a.channels * a.out.batch + n % a.channels * a.out.channel;
    if (a.valid.plane != nullptr) a.valid.plane += n / a.channels * a.valid.image;
    return {n, strip, tile * columns, strip * rows, static_cast<int>(down < rows ? down : rows)};
  }

  /// Down to the right: the diagonal at column thread - (rows - 1) of the tile in the strip's first row.
  AREAL_DEVICE void falling(Shared& s, const Place& at) {
    const int first = m.thread() - (rows - 1);
    const std::int64_t x = at.x + first - 1;
    T sum = above(at, 0, x - 1);
    const Line line{at.y * a.in.row + x * a.in.column,
                    a.in.row + a.in.column,
                    at.y * a.valid.row + x,
                    a.valid.row + 1,
                    within(-x, at.rows),
                    within(a.width - x, columns - first < at.rows ? columns - first : at.rows)};
    for (int k = 0; k < at.rows; k += ahead) {
      T pixels[ahead];
      AREAL_UNROLL
      for (int j = 0; j < ahead; ++j) pixels[j] = pixel(line, k + j);
      AREAL_UNROLL
      for (int j = 0; j < ahead; ++j) {
        sum += pixels[j];
        if (first + k + j >= 0 && first + k + j < columns) m.put(s.v[k + j][first + k + j], sum);
      }
    }
    hand_on_diagonal(at, 0, x + rows - 1, first + rows - 1, sum);
  }

  /// Down to the left, without the column's own pixel, which the falling diagonal has: the diagonal at column `thread`
  /// of the tile in the strip's first row.
  AREAL_DEVICE void rising(Shared& s, const Place& at) {
    const int first = m.thread();
    const std::int64_t x = at.x + first - 1;
    T sum = above(at, 1, x + 1);
    const Line line{at.y * a.in.row + x * a.in.column,
                    a.in.row - a.in.column,
                    at.y * a.valid.row + x,
                    a.valid.row - 1,
                    within(x - a.width + 1, at.rows),
                    within(x + 1, first + 1 < at.rows ? first + 1 : at.rows)};
    for (int k = 0; k < at.rows; k += ahead) {
      T pixels[ahead];
      AREAL_UNROLL
      for (int j = 0; j < ahead; ++j) pixels[j] = pixel(line, k + j);
      AREAL_UNROLL
      for (int j = 0; j < ahead; ++j) {
        if (first - k - j >= 0 && first - k - j < columns) {
          T& v = s.v[k + j][first - k - j];
          m.put(v, m.get(v) + sum);
        }
        sum += pixels[j];
      }
    }
    hand_on_diagonal(at, 1, x - (rows - 1), first - (rows - 1), sum);
  }

  /// A diagonal of the strip: byte offsets of its pixel in the first row and from row to row, the same for the marks of
  /// valid pixels, and the range of rows where it lies in the image and before the tile's end.
  struct Line {
    std::int64_t pixel, step, valid, valid_step;
    int from, to;
  };
  /// A number of rows, limited to 0 .. `most`.
  AREAL_DEVICE static int within(std::int64_t count, int most) {
    return count < 0 || most < 0 ? 0 : count < most ? static_cast<int>(count) : most;
  }
  AREAL_DEVICE T pixel(const Line& line, int k) {
    if (k < line.from || k >= line.to) return T(0);
    if (a.valid.plane != nullptr && m.load(a.valid.plane + (line.valid + k * line.valid_step)) == 0) return T(0);
    return term<T>(load_element<M, In>(m, a.image + (line.pixel + k * line.step), a.in.alignment != Alignment::bytes));
  }

  AREAL_DEVICE T* diagonal(const Place& at, int rises, std::int64_t strip, std::int64_t x) const {
    return a.diagonals + ((2 * at.n + rises) * a.strips + strip) * a.width + x;
  }
  /// The sum up from (x, the row above the strip).
  AREAL_DEVICE T above(const Place& at, int rises, std::int64_t x) {
    return a.last && at.strip > 0 && x >= 0 && x < a.width ? m.load(diagonal(at, rises, at.strip - 1, x)) : T(0);
  }
  /// Saves the sum up from (x, the strip's last row), at a column of this tile or of another one.
  AREAL_DEVICE void hand_on_diagonal(const Place& at, int rises, std::int64_t x, int column, T sum) {
    if (!a.last && column >= 0 && column < columns && x >= 0 && x < a.width)
      m.store(diagonal(at, rises, at.strip, x), sum);
  }

  AREAL_DEVICE T* column(const Place& at, std::int64_t strip, int i) const {
    return a.columns + (at.n * a.strips + strip) * (a.width + 1) + at.x + i;
  }
  AREAL_DEVICE void hand_on_column(Shared& s, const Place& at, int i) {
    T sum = 0;
    AREAL_UNROLL
    for (int k = 0; k < rows; ++k) sum += m.get(s.v[k][i]);
    m.store(column(at, at.strip, i), sum);
  }
  AREAL_DEVICE void write_column(Shared& s, const Place& at, int i) {
    const bool aligned = a.out.alignment != Alignment::bytes;
    char* to = a.table + at.y * a.out.row + (at.x + i) * a.out.column;
    if (at.strip == 0) store_element(m, to, T(0), aligned);
    T sum = at.strip > 0 ? m.load(column(at, at.strip - 1, i)) : T(0);
    for (int k = 0; k < at.rows; ++k) {
      to += a.out.row;
      sum += m.get(s.v[k][i]);
      store_element(m, to, sum, aligned);
    }
  }
};

template <class T>
struct TiltedWalkArgs {
  T* sums;  ///< [planes][strips][width]
  std::int64_t width, strips;
  std::int64_t step;    ///< columns to the right from strip to strip; to the left in planes of odd numbers
  std::int64_t chains;  ///< of a plane: width + step * (strips - 1)
  std::int64_t blocks_a_plane;
};

/// Running sums from strip to strip, in place. A thread for each chain of sums.
template <class M, class C>
struct TiltedWalk {
  using T = typename C::T;
  using Args = TiltedWalkArgs<T>;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  static constexpr int ahead = 8;  // sums that are loaded at once
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t plane = m.block() / a.blocks_a_plane;
    const std::int64_t chain = m.block() % a.blocks_a_plane * threads + m.thread();
    if (chain >= a.chains) return;
    // The chain's column in strip 0, which may lie outside, and the strips where it is inside.
    const bool left = plane % 2 == 1;
    const std::int64_t step = left ? -a.step : a.step, begin = left ? chain : chain - (a.chains - a.width);
    const std::int64_t out = left ? begin - a.width + 1 : -begin;
    std::int64_t strip = out > 0 ? (out + a.step - 1) / a.step : 0;
    T sum = 0;
    for (bool more = true; more; strip += ahead) {
      T own[ahead];
      T* at[ahead];
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        const std::int64_t x = begin + (strip + k) * step;
        at[k] = strip + k < a.strips && x >= 0 && x < a.width ? a.sums + (plane * a.strips + strip + k) * a.width + x
                                                              : nullptr;
        own[k] = at[k] != nullptr ? m.load(at[k]) : T(0);
      }
      AREAL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        sum += own[k];
        if (at[k] != nullptr) m.store(at[k], sum);
      }
      more = at[ahead - 1] != nullptr;
    }
  }
};

/// Adds to the sums of a strip's columns, from the second strip on, the sums of the diagonals that reach its first row.
template <class M, class C>
struct TiltedInflow {
  using T = typename C::T;
  using Args = TiltedArgs<T>;
  static constexpr int rows = TiltedShape::rows, columns = TiltedShape::columns;
  static constexpr int threads = TiltedShape::threads, resident = 1;
  M m;
  Args a;

  struct Shared {
    T falling[threads], rising[threads];  // from column x - 1 - rows, and from column x on
  };

  AREAL_DEVICE void operator()() {
    Shared& s = m.template shared<Shared>();
    const std::int64_t x = m.block() % a.tiles * columns, line = m.block() / a.tiles;
    const std::int64_t strip = line % (a.strips - 1), n = line / (a.strips - 1);  // of the strip above
    const T* const falling = a.diagonals + (2 * n * a.strips + strip) * a.width;
    const T* const rising = falling + a.strips * a.width;
    const int i = m.thread();
    m.put(s.falling[i], sum_at(falling, x - 1 - rows + i));
    m.put(s.rising[i], sum_at(rising, x + i));
    m.sync();
    if (i >= columns || x + i > a.width) return;
    T sum = 0;
    AREAL_UNROLL
    for (int k = 0; k < rows; ++k) sum += m.get(s.falling[i + rows - 1 - k]) + m.get(s.rising[i + k]);
    T* const column = a.columns + (n * a.strips + strip + 1) * (a.width + 1) + x + i;
    m.store(column, m.load(column) + sum);
  }

  AREAL_DEVICE T sum_at(const T* sums, std::int64_t x) { return x >= 0 && x < a.width ? m.load(sums + x) : T(0); }
};

template <class In_, class T_>
struct TiltedConfig {
  using In = In_;
  using T = T_;
};
/// For kernels that read only sums.
template <class T_>
struct TiltedSums {
  using T = T_;
};

/// The geometry and the workspace of one plan.
template <class T>
struct TiltedPlan {
  explicit TiltedPlan(const Shape& image) {
    args.width = image.width, args.height = image.height;
    args.channels = static_cast<int>(image.channels);
    args.tiles = (image.width + TiltedShape::columns) / TiltedShape::columns;
    args.strips = std::max<std::int64_t>(0, (image.height + TiltedShape::rows - 1) / TiltedShape::rows - 1);
    images = image.batch * image.channels;
    const std::int64_t sums = images * args.strips * (2 * args.width + args.width + 1);
    workspace_bytes = sums == 0 ? 0 : static_cast<std::size_t>(sums) * sizeof(T) + sizeof(T) - 1;
  }
  void place(void* workspace) {
    if (workspace_bytes == 0) return;
    const auto misfit = reinterpret_cast<std::uintptr_t>(workspace) % sizeof(T);
    args.diagonals = reinterpret_cast<T*>(static_cast<char*>(workspace) + (misfit ? sizeof(T) - misfit : 0));
    args.columns = args.diagonals + images * 2 * args.strips * args.width;
  }

  TiltedArgs<T> args{};
  std::int64_t images = 0;
  std::size_t workspace_bytes = 0;
};

/// The schedule. The workspace needs no initialisation.
template <class In, class T, class Launcher>
void tilted(Launcher& launcher, const TableRequest& request, const ConstView& image, const Valid& valid,
            const TableViews& tables, void* workspace) {
  const View& table = tables.sum;
  if (image.shape.empty()) return fill_border<T>(launcher, table);
  using Config = TiltedConfig<In, T>;
  using Sums = TiltedSums<T>;
  TiltedPlan<T> plan(request.image);
  auto& a = plan.args;
  a.image = static_cast<const char*>(image.data);
  a.table = static_cast<char*>(table.data);
  a.in = strides(image), a.out = strides(table);
  a.in.alignment = alignment_of(a.image, a.in, sizeof(In), sizeof(In));
  a.out.alignment = alignment_of(a.table, a.out, sizeof(T), sizeof(T));
  a.valid = valid;
  plan.place(workspace);
  const auto walk = [&](T* sums, std::int64_t planes, std::int64_t width, std::int64_t step) {
    static constexpr std::int64_t threads = TiltedWalk<NoMachine, Sums>::threads;
    const std::int64_t chains = width + step * (a.strips - 1), blocks = (chains + threads - 1) / threads;
    launcher.template launch<TiltedWalk, Sums>(blocks * planes, {sums, width, a.strips, step, chains, blocks}, false);
  };
  if (a.strips > 0) launcher.template launch<TiltedTile, Config>(a.tiles * a.strips * plan.images, a, false);
  if (a.strips > 1) {
    walk(a.diagonals, 2 * plan.images, a.width, TiltedShape::rows);
    launcher.template launch<TiltedInflow, Sums>(a.tiles * (a.strips - 1) * plan.images, a, false);
    walk(a.columns, plan.images, a.width + 1, 0);
  }
  a.last = true;
  launcher.template launch<TiltedTile, Config>(a.tiles * (a.strips + 1) * plan.images, a, false);
}

}  // namespace areal::kernels
