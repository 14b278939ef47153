#pragma once
// How held stores a row of a warp, of any table: as it is, as vectors of neighbouring lanes' elements where it begins
// between two aligned addresses, or element by element; and the zeros beside the first sums.

#include <cstdint>
#include "kernels/device/elements.hpp"
#include "kernels/device/machine.hpp"
#include "kernels/device/strides.hpp"

namespace areal::kernels {

enum class Stores { vectors, shifted, elements };

/// A row of the warp from anywhere: each lane stores the aligned vector that ends within its own columns, the first
/// and the last lane what is left at the ends.
template <class M, class T, int V>
AREAL_DEVICE void store_shifted(const M& m, char* to, const Vec<T, V>& line) {
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

/// The first `columns` elements of a lane, wherever they go.
template <Stores stores, class M, class T, int V>
AREAL_DEVICE void store_line(const M& m, const Strides& out, char* to, const Vec<T, V>& line, int columns) {
  if constexpr (stores == Stores::shifted) {
    store_shifted(m, to, line);
  } else if (stores == Stores::vectors || (out.alignment == Alignment::vectors && columns == V)) {
    m.store_once(reinterpret_cast<Vec<T, V>*>(to), line);
  } else {
    AREAL_UNROLL
    for (int v = 0; v < V; ++v)
      if (v < columns) store_element(m, to + v * out.column, line.at[v], out.alignment != Alignment::bytes);
  }
}

/// The zeros left of and above a table's first tiles.
template <class T, class K>
AREAL_DEVICE void write_edge(const K& k, char* table, const Strides& out, int ty, int tx,
                             const typename K::Place& place) {
  const auto& m = k.m;
  char* const at = table + place.y * out.row + place.x * out.column;
  const auto zero = [&](char* to) { store_element(m, to, T(0), out.alignment != Alignment::bytes); };
  if (tx == 0 && k.span_of() == 0 && m.lane() == 0)
    for (int i = 0; i < place.rows; ++i) zero(at + i * out.row - out.column);
  if (ty == 0 && k.bunch_of() == 0) {
    AREAL_UNROLL
    for (int v = 0; v < K::V; ++v)
      if (v < place.columns) zero(at - out.row + v * out.column);
    if (tx == 0 && m.thread() == 0) zero(at - out.row - out.column);
  }
}

}  // namespace areal::kernels
