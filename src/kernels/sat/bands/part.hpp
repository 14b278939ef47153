#pragma once
// A warp's layout of a step's columns of pixels, and their sums.

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A lane has vectors of 16 bytes of sums; 32 adjacent ones are a strip, and a step has `strips` of these.
template <class In_, class T_, int columns, int rows_of_band>
struct BandsPart {
  using In = In_;
  using T = T_;
  /// Sums within a step of a band fit 32 bits for every table type.
  static constexpr bool by_rows = std::is_integral_v<In> && sizeof(In) <= 2;
  using Small = std::conditional_t<std::is_signed_v<In>, std::int32_t, std::uint32_t>;
  using Local = std::conditional_t<by_rows, Small, T>;
  static constexpr bool short_cells = sizeof(In) == 1 && rows_of_band <= 256;
  /// Of columns, in shared memory.
  using Cell =
      std::conditional_t<short_cells, std::conditional_t<std::is_signed_v<In>, std::int16_t, std::uint16_t>, Local>;
  static constexpr int V = 16 / static_cast<int>(sizeof(T));
  static constexpr int strip = V * warp_size, strips = columns / strip, vectors = columns / V;
  static_assert(columns % strip == 0);
  /// Row sums of two strips are scanned in the halves of one word.
  static constexpr bool packed = std::is_same_v<In, std::uint8_t> && strips % 2 == 0;
  static_assert(!packed || strip * 255 < 65536);
  using Line = Vec<In, V>;
};

template <class P>
AREAL_DEVICE typename P::Local part_term(typename P::In pixel) {
  return term<typename P::Local>(pixel);
}

/// Two or four bytes as the argument of the machine's dot4.
template <int N>
AREAL_DEVICE std::uint32_t bytes_of(const Vec<std::uint8_t, N>& line) {
  if constexpr (N == 4)
    return __builtin_bit_cast(std::uint32_t, line);
  else
    return __builtin_bit_cast(std::uint16_t, line);
}

/// Each pixel added to its column.
template <class P, class M>
AREAL_DEVICE void add_columns(const M& m, Vec<typename P::Local, P::V>& columns, const typename P::Line& line) {
  if constexpr (std::is_same_v<typename P::In, std::uint8_t>) {
    const std::uint32_t word = bytes_of(line);
    AREAL_UNROLL
    for (int v = 0; v < P::V; ++v) columns.at[v] = m.dot4(word, 0x01u << (8 * v), columns.at[v]);
  } else {
    AREAL_UNROLL
    for (int v = 0; v < P::V; ++v) columns.at[v] += part_term<P>(line.at[v]);
  }
}
/// The running sums of a lane's pixels, starting from `before`.
template <class P, class M>
AREAL_DEVICE Vec<typename P::Local, P::V> prefixes_of(const M& m, const typename P::Line& line,
                                                      typename P::Local before) {
  Vec<typename P::Local, P::V> sums;
  if constexpr (std::is_same_v<typename P::In, std::uint8_t>) {
    const std::uint32_t word = bytes_of(line);
    AREAL_UNROLL
    for (int v = 0; v < P::V; ++v) sums.at[v] = m.dot4(word, 0x01010101u >> (24 - 8 * v), before);
  } else {
    AREAL_UNROLL
    for (int v = 0; v < P::V; ++v) sums.at[v] = before += part_term<P>(line.at[v]);
  }
  return sums;
}
template <class P, class M>
AREAL_DEVICE typename P::Local sum_of(const M& m, const typename P::Line& line) {
  if constexpr (std::is_same_v<typename P::In, std::uint8_t>) {
    const std::uint32_t word = bytes_of(line);
    return m.dot4(word, 0x01010101u, 0u);
  } else {
    typename P::Local sum = 0;
    AREAL_UNROLL
    for (int v = 0; v < P::V; ++v) sum += part_term<P>(line.at[v]);
    return sum;
  }
}

template <class A, class B, int N>
AREAL_DEVICE void add(Vec<A, N>& sum, const Vec<B, N>& more) {
  AREAL_UNROLL
  for (int v = 0; v < N; ++v) sum.at[v] += static_cast<A>(more.at[v]);
}

}  // namespace areal::kernels
