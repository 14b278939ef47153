#pragma once
// Sums, means, variances and standard deviations of dense windows. 1 launch. A window that lies inside reads 4 elements
// of each table, coalesced; one at the edge 4 for each of the rectangles that it covers: at most 9 rectangles if it
// reaches at most one image beyond each edge, else at most 25. Writes 1. Windows of the rim have a thread each. Those
// inside are processed in tiles, which compute shared values once and have a thread a column; the loads of four windows
// one below the other are independent. For sums and means of narrow windows a thread reads only the elements above and
// below its column, and gets its window's other side by a difference with another thread: tiles overlap by the width of
// a window, and a window reads 2 elements.

#include "formulas/rounded_mean.hpp"
#include "formulas/rounding.hpp"
#include "formulas/window_axis.hpp"
#include "kernels/query/corners.hpp"
#include "kernels/query/statistics.hpp"
#include "kernels/query/tiles.hpp"

namespace areal::kernels {

/// Windows [left, right) x [top, bottom).
struct WindowRange {
  std::int64_t left, right, top, bottom;
  AREAL_BOTH std::int64_t blocks(std::int64_t across, std::int64_t down) const {
    const bool none = left >= right || top >= bottom;
    return none ? 0 : ((right - left + across - 1) / across) * ((bottom - top + down - 1) / down);
  }
};
inline constexpr int rim_ranges = 4;
struct WindowsArgs {
  TableArgs sum, squares;
  formulas::WindowAxis columns, rows;
  Statistic statistic;
  OutputArgs out;
  formulas::CellBeyond beyond, squares_beyond;
  PlaneArgs planes;
  WindowRange rim[rim_ranges];
  std::int64_t rim_first[rim_ranges];  ///< blocks
  WindowRange inner;                   ///< those inside, with all elements, in strips; all others are the rim
  std::int64_t tile_rows, rim_blocks, plane_blocks;
  int overlap;  ///< columns that a tile shares with the next; 0 if a window's sides are read one by one
  bool fixed_point_means, reciprocal_means;  ///< OpenCV's rounding; the former where FixedPointMean supports it
  std::uint64_t inner_pixels;                ///< of such a window
  formulas::FixedPointMean of_bytes;         ///< their mean, if supported
  bool rounded_means;                        ///< to 8u, of integers: by `rounded`, for sums of up to `most`
  formulas::RoundedMean rounded;
  std::uint32_t most;  ///< all larger sums have the mean 255, too
};
inline constexpr int window_strip = 4;  ///< windows one below the other whose elements are loaded at once
/// A tile of inner windows is as wide as a block has threads. High tiles have more hits in L1, low ones give small
/// images more blocks.
inline constexpr int low_window_tile = 8, high_window_tile = 32;
inline constexpr std::int64_t least_of_high_window_tiles = 1024;
/// For sums and means, and for variances.
constexpr int window_threads(bool varies) { return varies ? 256 : 512; }
inline constexpr int most_overlap = 128;

/// T: the type that elements of the sums are read as; that of squares is distinguished at run time.
template <class T_, bool varies_>
struct WindowsConfig {
  using T = T_;
  static constexpr bool varies = varies_;  ///< variances and standard deviations, which need squares
};

template <class M, class C>
struct Windows {
  using T = typename C::T;
  using Args = WindowsArgs;
  static constexpr int threads = window_threads(C::varies), resident = C::varies ? 3 : 2;
  static constexpr int together = window_strip, rim_rows = threads / warp_size;
  /// For each column the sum between the top and the bottom of a strip's windows; double-buffered over strips.
  struct Columns {
    Difference<T> below[2][together][threads];
  };
  using Shared = std::conditional_t<C::varies, NoShared, Columns>;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const bool one = a.planes.count == 1;
    const std::int64_t plane = one ? 0 : m.block() / a.plane_blocks;
    const std::int64_t channel = one ? 0 : plane % a.planes.channels, image = one ? 0 : plane / a.planes.channels;
    const auto offset = [&](const auto& args) { return image * args.batch + channel * args.channel; };
    const std::int64_t block = m.block() - plane * a.plane_blocks;
    if (block < a.rim_blocks)
      rim(block, offset);
    else
      tile(block - a.rim_blocks, offset);
  }

  template <class Offset>
  AREAL_DEVICE void rim(std::int64_t block, const Offset& offset) {
    WindowRange range = a.rim[0];
    std::int64_t first = 0;
    AREAL_UNROLL
    for (int i = 1; i < rim_ranges; ++i) {
      if (block >= a.rim_first[i]) {
        range = a.rim[i];
        first = a.rim_first[i];
      }
    }
    const TilePlace tile = tile_place(block - first, (range.right - range.left + warp_size - 1) / warp_size);
    const OutputPlace at{range.left + tile.column * warp_size + m.lane(), range.top + tile.row * rim_rows + m.warp()};
    if (at.x < range.right && at.y < range.bottom) any_window(at, offset);
  }
  template <class Offset>
  AREAL_DEVICE void tile(std::int64_t block, const Offset& offset) {
    const int across = threads - a.overlap;
    const TilePlace tile = tile_place(block, (a.inner.right - a.inner.left + across - 1) / across);
    const OutputPlace at{a.inner.left + tile.column * across + m.thread(), a.inner.top + tile.row * a.tile_rows};
    const std::int64_t below = a.inner.bottom - at.y, count = (below < a.tile_rows ? below : a.tile_rows) / together;
    if constexpr (!C::varies)
      if (a.overlap > 0) return sides_shared(at, count, offset);
    if (at.x < a.inner.right) strips(at, count, offset);
  }

  /// As `strips`, by all threads of the block. The last threads have columns but no windows.
  template <class Offset>
  AREAL_DEVICE void sides_shared(const OutputPlace& at, std::int64_t count, const Offset& offset) {
    Columns& s = m.template shared<Columns>();
    const int right = m.thread() + static_cast<int>(a.columns.size);
    const bool here = at.x < a.inner.right + a.columns.size;
    const bool mine = m.thread() < threads - a.overlap && at.x < a.inner.right;
    const char* from = first_of(a.sum, at, offset(a.sum));
    const std::int64_t down = a.rows.size * a.sum.row;
    char* to = output_at(a.out, at, offset(a.out));
    T top[together] = {}, bottom[together] = {};
    const auto load = [&] {
      if (!here) return;
      AREAL_UNROLL
      for (int r = 0; r < together; ++r, from += a.sum.row) {
        top[r] = m.load(reinterpret_cast<const T*>(from));
        bottom[r] = m.load(reinterpret_cast<const T*>(from + down));
      }
    };
    load();
    AREAL_NO_UNROLL
    for (int turn = 0; count > 0; --count, turn ^= 1) {
      using D = Difference<T>;
      D own[together];
      AREAL_UNROLL
      for (int r = 0; r < together; ++r) {
        own[r] = static_cast<D>(static_cast<D>(bottom[r]) - static_cast<D>(top[r]));
        m.put(s.below[turn][r][m.thread()], own[r]);
      }
      if (count > 1) load();
      m.sync();
      if (mine) {
        AREAL_UNROLL
        for (int r = 0; r < together; ++r) own[r] = static_cast<D>(m.get(s.below[turn][r][right]) - own[r]);
        finish(own, to);
      }
      to += together * a.out.row;
    }
  }

  /// The upper left corner of an inner window.
  AREAL_DEVICE const char* first_of(const TableArgs& table, const OutputPlace& at, std::int64_t plane) const {
    return table.data + plane + (at.y - a.rows.before - table.shift) * table.row +
           (at.x - a.columns.before - table.shift) * table.column;
  }
  /// Inner windows one below the other, `together` in each of the strips.
  template <class Offset>
  AREAL_DEVICE void strips(const OutputPlace& at, std::int64_t count, const Offset& offset) {
    const char* sums = first_of(a.sum, at, offset(a.sum));
    const char* squares = C::varies ? first_of(a.squares, at, offset(a.squares)) : nullptr;
    char* to = output_at(a.out, at, offset(a.out));
    AREAL_NO_UNROLL
    for (; count > 0; --count) {
      strip(sums, squares, to);
      sums += together * a.sum.row;
      if constexpr (C::varies) squares += together * a.squares.row;
      to += together * a.out.row;
    }
  }
  AREAL_DEVICE void strip(const char* sums, const char* squares, char* to) {
    Difference<T> sum[together];
    differences<T>(a.sum, sums, sum);
    if constexpr (C::varies) {
      double value[together];
      AnySum square[together];
      with_element(a.squares, [&](auto element) {
        using E = decltype(element);
        Difference<E> found[together];
        differences<E>(a.squares, squares, found);
        AREAL_UNROLL
        for (int r = 0; r < together; ++r) square[r] = as_any_sum(wide_difference(found[r], a.squares), a.squares);
      });
      const Pixels n{a.inner_pixels, static_cast<double>(a.inner_pixels)};
      AREAL_UNROLL
      for (int r = 0; r < together; ++r)
        value[r] =
            variance_of(a.statistic, a.sum, as_any_sum(wide_difference(sum[r], a.sum), a.sum), a.squares, square[r], n);
      write_outputs(m, a.out, to, value);
    } else {
      finish(sum, to);
    }
  }
  /// Sums or means of inner windows, from their sums.
  template <int N>
  AREAL_DEVICE void finish(const Difference<T> (&sum)[N], char* to) {
    if constexpr (std::is_integral_v<T>) {
      if (a.fixed_point_means && formulas::FixedPointMean::serves(a.inner_pixels)) {
        AREAL_UNROLL
        for (int r = 0; r < N; ++r)
          store_element(m, to + r * a.out.row, fixed_point_mean(wide_difference(sum[r], a.sum), a.of_bytes), true);
        return;
      }
      if (a.rounded_means) {
        AREAL_UNROLL
        for (int r = 0; r < N; ++r) store_element(m, to + r * a.out.row, rounded_mean(sum[r]), true);
        return;
      }
    }
    double value[N];
    real_sums(sum, value);
    const auto n = static_cast<double>(a.inner_pixels);
    if (a.reciprocal_means) {
      AREAL_UNROLL
      for (int r = 0; r < N; ++r) value[r] *= 1 / n;
    } else if (a.statistic == Statistic::mean) {
      AREAL_UNROLL
      for (int r = 0; r < N; ++r) value[r] /= n;
    }
    write_outputs(m, a.out, to, value);
  }
  template <class E>
  AREAL_DEVICE void differences(const TableArgs& table, const char* from, Difference<E> (&difference)[together]) {
    using D = Difference<E>;
    const std::int64_t across = a.columns.size * table.column;
    const char* below = from + a.rows.size * table.row;
    const auto load = [&](const char* at) { return static_cast<D>(m.load(reinterpret_cast<const E*>(at))); };
    Corners<E> corner[together];
    AREAL_UNROLL
    for (int r = 0; r < together; ++r) {
      corner[r] = {load(from), load(from + across), load(below), load(below + across)};
      from += table.row;
      below += table.row;
    }
    AREAL_UNROLL
    for (int r = 0; r < together; ++r) difference[r] = corner[r].by_columns();
  }
  /// As real_sum, but from their own width, as 64-bit conversions take longer; one test of signedness for all.
  template <int N>
  AREAL_DEVICE void real_sums(const Difference<T> (&sum)[N], double (&value)[N]) {
    if constexpr (std::is_integral_v<T>)
      if (a.sum.is_signed) {
        AREAL_UNROLL
        for (int r = 0; r < N; ++r) value[r] = static_cast<double>(static_cast<std::make_signed_t<T>>(sum[r]));
        return;
      }
    AREAL_UNROLL
    for (int r = 0; r < N; ++r) value[r] = static_cast<double>(sum[r]);
  }
  /// The nearest byte, half to even, as the quotient of doubles rounds to.
  AREAL_DEVICE std::uint8_t rounded_mean(Difference<T> sum) const {
    const bool negative = a.sum.is_signed && static_cast<std::make_signed_t<T>>(sum) < 0;
    const auto held = static_cast<std::uint32_t>(sum < a.most ? sum : a.most);
    return static_cast<std::uint8_t>(a.rounded(negative ? 0 : held));
  }
  AREAL_DEVICE std::uint8_t fixed_point_mean(std::uint64_t sum, const formulas::FixedPointMean& mean) {
    return mean(a.sum.is_signed && static_cast<std::int64_t>(sum) < 0 ? 0 : sum);
  }

  /// Any window.
  template <class Offset>
  AREAL_DEVICE void any_window(const OutputPlace& at, const Offset& offset) {
    const std::uint64_t across = a.columns.pixels(at.x), down = a.rows.pixels(at.y);
    std::uint64_t cells_beyond = 0;
    if (a.columns.edge == Edge::constant) cells_beyond = across * down - a.columns.inside(at.x) * a.rows.inside(at.y);
    const bool inside = a.columns.lies_inside(at.x) && a.rows.lies_inside(at.y);
    const auto seen = [&](auto element, const TableArgs& table, const formulas::CellBeyond& beyond) {
      using E = decltype(element);
      return as_any_sum(inside ? seen_inside<E>(table, offset(table), at)
                               : seen_beyond<E>(table, offset(table), at, cells_beyond, beyond),
                        table);
    };
    const AnySum sum = seen(T{}, a.sum, a.beyond);
    AnySum squares;
    if constexpr (C::varies)
      squares = with_element(a.squares, [&](auto element) { return seen(element, a.squares, a.squares_beyond); });
    const Pixels n{across * down, static_cast<double>(across) * static_cast<double>(down)};
    write_output(m, a.out, at, answer(sum, squares, n), offset(a.out));
  }
  AREAL_DEVICE double answer(const AnySum& sum, const AnySum& squares, const Pixels& n) {
    if constexpr (C::varies) return variance_of(a.statistic, a.sum, sum, a.squares, squares, n);
    if (a.fixed_point_means && formulas::FixedPointMean::serves(n.whole))
      return fixed_point_mean(sum.integer, formulas::FixedPointMean(static_cast<std::uint32_t>(n.whole)));
    if (a.reciprocal_means) return sum.real * (1 / n.real);
    return a.statistic == Statistic::sum ? sum.real : mean_of(sum, n);
  }

  /// A window that lies inside: one rectangle, without pieces, whose arrays would be in local memory.
  template <class E>
  AREAL_DEVICE auto seen_inside(const TableArgs& table, std::int64_t plane, const OutputPlace& at) {
    return rectangle<E>(table, plane, a.columns.whole(at.x), a.rows.whole(at.y));
  }
  /// Any other window: all rectangles that it covers, added in the CPU's order.
  template <class E>
  AREAL_DEVICE auto seen_beyond(const TableArgs& table, std::int64_t plane, const OutputPlace& at,
                                std::uint64_t cells_beyond, const formulas::CellBeyond& beyond) {
    const formulas::Pieces columns = a.columns.pieces(at.x), rows = a.rows.pieces(at.y);
    using Wide = std::conditional_t<std::is_integral_v<E>, std::uint64_t, double>;
    Wide all = 0;
    for (int r = 0; r < rows.count; ++r) {
      Wide across = 0;
      for (int c = 0; c < columns.count; ++c)
        across +=
            static_cast<Wide>(columns.piece[c].times) * rectangle<E>(table, plane, columns.piece[c], rows.piece[r]);
      all += static_cast<Wide>(rows.piece[r].times) * across;
    }
    if (cells_beyond > 0) {
      if constexpr (std::is_integral_v<E>)
        all += cells_beyond * beyond.integer;
      else
        all += static_cast<double>(cells_beyond) * beyond.real;
    }
    return all;
  }
  template <class E>
  AREAL_DEVICE auto rectangle(const TableArgs& table, std::int64_t plane, const formulas::Piece& column,
                              const formulas::Piece& row) {
    const Region region{column.begin, row.begin, column.end - column.begin, row.end - row.begin};
    return wide_difference(corners<E>(m, table, region, plane).by_columns(), table);
  }
};

/// The windows that lie inside, in whole strips, starting at a column that is a multiple of a warp.
inline WindowRange inner_windows(const WindowsArgs& a, bool varies) {
  const int shift = std::max(a.sum.shift, varies ? a.squares.shift : 0);
  const bool aligned = a.sum.aligned && (a.squares.aligned || !varies) && a.out.aligned;
  const std::int64_t left = (a.columns.inner_begin() + shift + warp_size - 1) / warp_size * warp_size;
  const std::int64_t top = a.rows.inner_begin() + shift, right = a.columns.inner_end();
  const std::int64_t strips = (a.rows.inner_end() - top) / window_strip;
  if (!aligned || left >= right || strips <= 0) return {0, 0, 0, 0};
  return {left, right, top, top + strips * window_strip};
}

}  // namespace areal::kernels
