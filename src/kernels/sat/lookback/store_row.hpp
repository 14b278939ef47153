#pragma once
// How the look-back kernel stores a row of a warp, in any table: directly; as vectors of adjacent lanes' elements if it
// begins between two aligned addresses; or element by element. Also the border next to the first sums.

#include <cstdint>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/sat/lookback/carry.hpp"
#include "kernels/sat/mirror.hpp"

namespace areal::kernels {

enum class StoreMode { vectors, shifted, elements };

/// A row of the warp that begins `r` elements after an aligned address, in memory order: each lane stores the aligned
/// vector that ends within its own columns; the lanes of the lowest and the highest address also store the remainders.
template <int r, bool reverse, class M, class T, int V>
AREAL_DEVICE void store_shifted_by(const M& m, char* to, const Vec<T, V>& line) {
  constexpr int lowest = reverse ? warp_size - 1 : 0, highest = warp_size - 1 - lowest;
  Vec<T, V> out;
  AREAL_UNROLL
  for (int v = 0; v < V; ++v) {
    if constexpr (reverse)
      out.at[v] = v < r ? m.shuffle_down(line.at[v < r ? V - r + v : 0], 1) : line.at[v < r ? 0 : v - r];
    else
      out.at[v] = v < r ? m.shuffle_up(line.at[v < r ? V - r + v : 0], 1) : line.at[v < r ? 0 : v - r];
  }
  if (r == 0 || (reverse ? m.lane() < lowest : m.lane() > lowest))
    m.store_streaming(reinterpret_cast<Vec<T, V>*>(to - r * sizeof(T)), out);
  if constexpr (r > 0) {
    AREAL_UNROLL
    for (int v = 0; v < V; ++v)
      if (m.lane() == (v < V - r ? lowest : highest)) m.store_streaming(reinterpret_cast<T*>(to) + v, line.at[v]);
  }
}
/// From any address, at the same distance from an aligned one in all lanes.
template <bool reverse, class M, class T, int V>
AREAL_DEVICE void store_shifted(const M& m, char* to, const Vec<T, V>& line) {
  static_assert(V == 2 || V == 4);
  const int r = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % V);
  if (r == 0) return store_shifted_by<0, reverse>(m, to, line);
  if (r == 1) return store_shifted_by<1, reverse>(m, to, line);
  if constexpr (V == 4) {
    if (r == 2) return store_shifted_by<2, reverse>(m, to, line);
    store_shifted_by<3, reverse>(m, to, line);
  }
}

/// The first `columns` elements of a lane, at any addresses.
template <StoreMode mode, bool reverse, class M, class T, int V>
AREAL_DEVICE void store_line(const M& m, const Strides& out, char* to, const Vec<T, V>& line, int columns) {
  if constexpr (mode == StoreMode::shifted) {
    store_shifted<reverse>(m, vector_at<reverse, T, V>(to), mirrored<reverse>(line));
  } else if (mode == StoreMode::vectors || (out.alignment == Alignment::vectors && columns == V)) {
    m.store_streaming(reinterpret_cast<Vec<T, V>*>(vector_at<reverse, T, V>(to)), mirrored<reverse>(line));
  } else {
    AREAL_UNROLL
    for (int v = 0; v < V; ++v)
      if (v < columns) store_element(m, to + v * out.column, line.at[v], out.alignment != Alignment::bytes);
  }
}

/// The zeros, or the carry, left of and above a table's first tiles.
template <int which, class T, class K>
AREAL_DEVICE void write_edge(K& k, typename K::Shared& s, char* table, const Strides& out, int ty, int tx,
                             const typename K::Place& place) {
  const auto& m = k.m;
  char* const at = table + place.y * out.row + place.x * out.column;
  if (!k.a.carry[which].empty()) return write_carried_edge<which, T>(k, s, at, out, ty, tx, place);
  const auto zero = [&](char* to) { store_element(m, to, T(0), out.alignment != Alignment::bytes); };
  if (tx == 0 && k.warp_x() == 0 && m.lane() == 0)
    for (int i = 0; i < place.rows; ++i) zero(at + i * out.row - out.column);
  if (ty == 0 && k.warp_y() == 0) {
    AREAL_UNROLL
    for (int v = 0; v < K::V; ++v)
      if (v < place.columns) zero(at - out.row + v * out.column);
    if (tx == 0 && m.thread() == 0) zero(at - out.row - out.column);
  }
}

}  // namespace areal::kernels
