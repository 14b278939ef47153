#pragma once
// lookback for tunings with rescan (schedule.hpp: most tables of 64 bits), and with squares: the tile's sums and sums
// of squares from the same pixels, in two tables. Lanes hold adjacent pixels when they load and sum; each table is
// written by vectors of 16 bytes, which in a wider table need another arrangement of the warp's pixels. Rows are summed
// before publication and scanned after it: a sum of four rows takes six shuffles, a scan five a row, and no prefixes
// are kept in between.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"
#include "kernels/sat/lookback/store_row.hpp"
#include "kernels/sat/lookback/sum_pair.hpp"
#include "kernels/sat/mirror.hpp"

namespace areal::kernels {

template <bool squared, class S, class In>
AREAL_DEVICE S term_of(In pixel) {
  if constexpr (squared)
    return square<S>(pixel);
  else
    return term<S>(pixel);
}

/// Two bytes, and zeros, as the argument of the machine's dot4.
AREAL_DEVICE std::uint32_t word_of(const Vec<std::uint8_t, 2>& bytes) {
  return __builtin_bit_cast(std::uint16_t, bytes);
}
/// The factor by which dot4 turns a word of bytes into their sum, or the sum of their squares.
template <bool squared>
AREAL_DEVICE std::uint32_t factor_of(std::uint32_t word) {
  return squared ? word : 0x01010101u;
}

/// The running sums of a lane's pixels of a row, starting from `before`.
template <bool squared, class M, class S, class In, int N>
AREAL_DEVICE void add_up(const M& m, const Vec<In, N>& line, S before, S (&sums)[N]) {
  if constexpr (std::is_same_v<In, std::uint8_t>) {
    const std::uint32_t word = word_of(line);
    AREAL_UNROLL
    for (int v = 0; v < N; ++v)
      sums[v] = m.dot4(word, factor_of<squared>(word) & (0xffffffffu >> (24 - 8 * v)), before);
  } else {
    S across = 0;
    AREAL_UNROLL
    for (int v = 0; v < N; ++v) {
      across += term_of<squared, S>(line.at[v]);
      sums[v] = before + across;
    }
  }
}
/// Their sum; each is also added to its column's.
template <bool squared, class M, class S, class In, int N>
AREAL_DEVICE S add_to_columns(const M& m, const Vec<In, N>& line, S (&columns)[N]) {
  S across = 0;
  if constexpr (std::is_same_v<In, std::uint8_t>) {
    const std::uint32_t word = word_of(line), factor = factor_of<squared>(word);
    across = m.dot4(word, factor, 0u);
    AREAL_UNROLL
    for (int v = 0; v < N; ++v) columns[v] = m.dot4(word, factor & (0xffu << (8 * v)), columns[v]);
  } else {
    AREAL_UNROLL
    for (int v = 0; v < N; ++v) {
      const S pixel = term_of<squared, S>(line.at[v]);
      across += pixel;
      columns[v] += pixel;
    }
  }
  return across;
}

/// The sums of the tile's columns within each warp's rows, and of its rows within each warp's columns.
template <class K>
AREAL_DEVICE void sum_for_rescan(K& k, typename K::Shared& s) {
  using Cell = typename K::Cell;
  using T = typename K::T;
  static constexpr int V = K::V, at_once = 4;
  static_assert(K::rows_per_warp % at_once == 0);
  const auto& m = k.m;
  PartOf<0, Cell> columns[V] = {}, rows[at_once];
  [[maybe_unused]] PartOf<1, Cell> square_columns[V] = {}, square_rows[at_once];
  for (int first = 0; first < K::rows_per_warp; first += at_once) {
    AREAL_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const auto line = mirrored<K::reverse>(m.get(s.tile[first + i][m.thread()]));
      rows[i] = add_to_columns<false>(m, line, columns);
      if constexpr (K::both) square_rows[i] = add_to_columns<true>(m, line, square_columns);
    }
    Cell row = 0;
    if constexpr (K::both)
      row = Cell(warp_sums(m, rows), warp_sums(m, square_rows));
    else
      row = warp_sums(m, rows);
    static constexpr int lanes = warp_size / at_once;  // with the same row
    if (m.lane() % lanes == 0)
      m.put(s.row[k.warp_x()][k.warp_y() * K::rows_per_warp + first + m.lane() / lanes], static_cast<T>(row));
  }
  AREAL_UNROLL
  for (int v = 0; v < V; ++v) {
    auto& cell = k.cell(s.columns[k.warp_y()], k.warp_x() * K::warp_width + m.lane() * V + v);
    if constexpr (K::both)
      m.put(cell, Cell(columns[v], square_columns[v]));
    else
      m.put(cell, columns[v]);
  }
}

/// Writes one of the tile's tables, once the sums left of it and above it have arrived.
template <int which, StoreMode mode, class K>
AREAL_DEVICE void write_one(K& k, typename K::Shared& s, char* to, const Strides& out, int tx,
                            const typename K::Place& place) {
  using T = std::remove_reference_t<decltype(one_of<which>(s.left[0]))>;
  using Local = std::remove_reference_t<decltype(one_of<which>(k.cell(s.columns[0], 0)))>;
  static constexpr bool squared = which == 1;
  static constexpr int N = 16 / static_cast<int>(sizeof(T)), strip = N * warp_size, strips = K::warp_width / strip;
  static_assert(K::warp_width % strip == 0);
  using Line = Vec<typename K::In, N>;
  const auto& m = k.m;
  // Lanes keep their pixels in memory order; for a reversed table their vectors are swapped.
  static constexpr int swap = K::reverse ? K::V / N - 1 : 0;
  static_assert(K::V % N == 0);
  const int begin = k.warp_x() * K::warp_width, top = k.warp_y() * K::rows_per_warp;
  // The table's row above this warp's rows.
  const auto above = [&](int x) {
    return m.get(one_of<which>(k.cell(s.above, x))) +
           static_cast<T>(m.get(one_of<which>(k.cell(s.columns[k.warp_y()], x))));
  };
  T start = 0;
  for (int y = m.lane(); y < top; y += warp_size) start += m.get(one_of<which>(s.left[y]));
  for (int x = m.lane(); x < begin; x += warp_size) start += above(x);
  start = warp_sum(m, start);
  AREAL_UNROLL
  for (int w = 0; w < K::warps; ++w) start += m.get(one_of<which>(s.warp_sums[1][w]));
  Vec<T, N> sum[strips];
  int columns[strips];
  AREAL_UNROLL
  for (int p = 0; p < strips; ++p) {
    const int x = begin + p * strip + m.lane() * N;
    T run = 0;
    AREAL_UNROLL
    for (int v = 0; v < N; ++v) sum[p].at[v] = run += above(x + v);
    const T scan = warp_scan(m, run), before = start + before_in_scan(m, scan, run);
    AREAL_UNROLL
    for (int v = 0; v < N; ++v) sum[p].at[v] += before;
    start += m.shuffle(scan, warp_size - 1);
    const std::int64_t right = k.a.width - (static_cast<std::int64_t>(tx) * K::tile_width + x);
    columns[p] = static_cast<int>(right < 0 ? 0 : right < N ? right : N);
  }

  to += place.y * out.row + (static_cast<std::int64_t>(tx) * K::tile_width + begin + m.lane() * N) * out.column;
  static constexpr int at_once = 4;
  static_assert(K::rows_per_warp % at_once == 0);
  for (int first = 0; first < K::rows_per_warp; first += at_once) {
    AREAL_UNROLL
    for (int i = 0; i < at_once; ++i, to += out.row) {
      const T left = m.get(one_of<which>(s.row[k.warp_x()][top + first + i]));
      const Line* const row = reinterpret_cast<const Line*>(&s.tile[first + i][m.warp() * warp_size]);
      Local beyond = 0;  // sum of the row's strips before
      AREAL_UNROLL
      for (int p = 0; p < strips; ++p) {
        const Line line = mirrored<K::reverse>(m.get(row[(p * warp_size + m.lane()) ^ swap]));
        Local sums[N];
        add_up<squared>(m, line, Local(0), sums);
        const Local own = sums[N - 1], scan = warp_scan(m, own);
        add_up<squared>(m, line, static_cast<Local>(beyond + before_in_scan(m, scan, own)), sums);
        if (p + 1 < strips) beyond += m.shuffle(scan, warp_size - 1);
        AREAL_UNROLL
        for (int v = 0; v < N; ++v) sum[p].at[v] += left + static_cast<T>(sums[v]);
        if (first + i < place.rows)
          store_line<mode, K::reverse>(m, out, to + p * strip * out.column, sum[p], columns[p]);
      }
    }
  }
}

template <int which, class K>
AREAL_DEVICE void write_table(K& k, typename K::Shared& s, char* table, const Strides& out, int ty, int tx,
                              const typename K::Place& place) {
  using T = std::remove_reference_t<decltype(one_of<which>(s.left[0]))>;
  if (k.a.edge) write_edge<which, T>(k, s, table, out, ty, tx, place);
  const bool wide = k.is_wide(tx);
  if (wide && out.alignment == Alignment::vectors)
    write_one<which, StoreMode::vectors>(k, s, table, out, tx, place);
  else if (wide && out.alignment == Alignment::elements && out.column == K::direction * static_cast<int>(sizeof(T)))
    write_one<which, StoreMode::shifted>(k, s, table, out, tx, place);
  else
    write_one<which, StoreMode::elements>(k, s, table, out, tx, place);
}

/// Recomputes the tile's position: kept through the gather, it would cost registers that the gather needs.
template <class K>
AREAL_DEVICE void rescan_and_write(K& k, typename K::Shared& s) {
  const auto& a = k.a;
  const int ty = k.m.get(s.ticket.ty), tx = k.m.get(s.ticket.tx);
  const std::int64_t batch = k.m.get(s.ticket.batch), channel = k.m.get(s.ticket.channel);
  const auto place = k.place_of(ty, tx);
  const auto first = [&](char* table, const Strides& out) { return table + batch * out.batch + channel * out.channel; };
  write_table<0>(k, s, first(a.table, a.out), a.out, ty, tx, place);
  if constexpr (K::both) write_table<1>(k, s, first(a.squares, a.squares_out), a.squares_out, ty, tx, place);
}

}  // namespace areal::kernels
