#pragma once
// Sums of a lane's columns, which a row enters and another leaves. They lie in words, which lanes exchange.
//   Part                      a lane's columns of one row
//   enter, move               a row enters; one enters and one leaves
//   to_words(word)            the sums
//   running(m, own, left, start, sum)     sum[i]: start, plus the columns 0 to i of `own`, minus those of `left`, plus
//                             (i + 1) bias
//   words_back, aligned       words of the columns some distance to the left

#include <cstdint>
#include <type_traits>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// 16 columns of bytes, two in a word, in windows of up to 257 rows; `low`: up to 128, for which differences of
/// columns, plus a bias, have 16 bits, too.
template <bool low>
struct ByteColumns {
  static constexpr int columns = 16, words = 8;
  static constexpr std::uint32_t bias = low ? 0x7fff : 0;
  static constexpr int most_rows = (low ? 0x7fff : 0xffff) / 255;
  using In = std::uint8_t;
  using Window = std::uint32_t;
  using Part = Vec<std::uint32_t, 4>;
  std::uint32_t word[words] = {};  // columns 2 i and 2 i + 1

  template <class M>
  AREAL_DEVICE static std::uint32_t pair(const M& m, const Part& row, int i) {
    return m.permute(row.at[i / 2], 0, i % 2 == 0 ? 0x4140 : 0x4342);
  }
  template <class M>
  AREAL_DEVICE void enter(const M& m, const Part& row) {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) word[i] += pair(m, row, i);
  }
  template <class M>
  AREAL_DEVICE void move(const M& m, const Part& enters, const Part& leaves) {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) word[i] += pair(m, enters, i) - pair(m, leaves, i);
  }
  AREAL_DEVICE void to_words(std::uint32_t (&to)[words]) const {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) to[i] = word[i];
  }
  template <class M>
  AREAL_DEVICE static void running(const M& m, const std::uint32_t (&own)[words], const std::uint32_t (&left)[words],
                                   Window start, Window (&sum)[columns]) {
    if constexpr (low) {
      AREAL_UNROLL
      for (int i = 0; i < words; ++i) {
        const std::uint32_t difference = own[i] - left[i] + 0x10001 * bias;
        sum[2 * i] = m.dot2(difference, 0x0001, start);
        start = sum[2 * i + 1] = m.dot2(difference, 0x0101, start);
      }
    } else {
      Window before = 0;
      AREAL_UNROLL
      for (int i = 0; i < words; ++i) {
        sum[2 * i] = m.dot2(own[i], 0x0001, start) - m.dot2(left[i], 0x0001, before);
        start = m.dot2(own[i], 0x0101, start), before = m.dot2(left[i], 0x0101, before);
        sum[2 * i + 1] = start - before;
      }
    }
  }
  /// Words of the columns `distance` to the left of a lane's begin this many words before the lane's own..
  AREAL_BOTH static int words_back(int distance) { return (distance + 1) / 2; }
  /// .. and are made of one more than `words`, as columns begin in the middle of a word if the distance is odd.
  template <class M>
  AREAL_DEVICE static void aligned(const M& m, int distance, const std::uint32_t (&from)[words + 1],
                                   std::uint32_t (&to)[words]) {
    const std::uint32_t selector = distance % 2 == 0 ? 0x3210 : 0x5432;
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) to[i] = m.permute(from[i], from[i + 1], selector);
  }
};

/// Of the same columns the sums of p (p - 128), modulo 2^32, so that a row that enters and one that leaves are a
/// product of 16 bits each: e (e - 128) + l (128 - l).
struct ByteSquares {
  static constexpr int columns = 16, words = 16;
  using Window = std::uint32_t;
  using Part = Vec<std::uint32_t, 4>;
  std::uint32_t word[words] = {};

  template <class M>
  AREAL_DEVICE void enter(const M& m, const Part& row) {
    move(m, row, Part{});
  }
  template <class M>
  AREAL_DEVICE void move(const M& m, const Part& enters, const Part& leaves) {
    static constexpr std::uint32_t top = 0x80808080;
    AREAL_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t e = enters.at[i], l = leaves.at[i];
      // Bytes with a sign: e - 128, and 128 - l, or -128 for l = 0, whose product is 0.
      const std::uint32_t plus = e ^ top, minus = (top - (l & ~top)) ^ (l & top);
      const std::uint32_t low = m.permute(e, l, 0x5140), high = m.permute(e, l, 0x7362);
      std::uint32_t* const to = word + 4 * i;
      to[0] = m.template dot2_signed<false>(m.permute_signs(plus, minus, 0xc480), low, to[0]);
      to[1] = m.template dot2_signed<true>(m.permute_signs(plus, minus, 0xd591), low, to[1]);
      to[2] = m.template dot2_signed<false>(m.permute_signs(plus, minus, 0xe6a2), high, to[2]);
      to[3] = m.template dot2_signed<true>(m.permute_signs(plus, minus, 0xf7b3), high, to[3]);
    }
  }
  /// The sum of the squares of a window's pixels, whose sum is given.
  AREAL_BOTH static std::uint32_t squares(std::uint32_t window, std::uint32_t sum) { return window + (sum << 7); }
};

/// Four columns of any integers, or of their squares. A column's sum fits Cell, a window's 64 bits.
template <class In_, class Cell_, bool square>
struct CellColumns {
  using In = In_;
  using Cell = Cell_;
  static constexpr int columns = 4, words = columns * static_cast<int>(sizeof(Cell)) / 4;
  static constexpr std::uint32_t bias = 0;
  static constexpr bool is_signed = std::is_signed_v<In> && !square;
  using Window = std::uint64_t;  // of signed pixels in two's complement
  using Part = Vec<In, columns>;
  Cell cell[columns] = {};

  AREAL_DEVICE static Cell term(In pixel) {
    const auto value = static_cast<Cell>(pixel);  // modulo its size
    return square ? value * value : value;
  }
  template <class M>
  AREAL_DEVICE void enter(const M&, const Part& row) {
    AREAL_UNROLL
    for (int i = 0; i < columns; ++i) cell[i] += term(row.at[i]);
  }
  template <class M>
  AREAL_DEVICE void move(const M&, const Part& enters, const Part& leaves) {
    AREAL_UNROLL
    for (int i = 0; i < columns; ++i) cell[i] += term(enters.at[i]) - term(leaves.at[i]);
  }
  AREAL_DEVICE void to_words(std::uint32_t (&word)[words]) const {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i)
      word[i] = sizeof(Cell) == 4 ? static_cast<std::uint32_t>(cell[i])
                                  : static_cast<std::uint32_t>(cell[i / 2] >> (i % 2 * 16) >> (i % 2 * 16));
  }
  /// The sum of column i.
  AREAL_DEVICE static Window column(const std::uint32_t (&word)[words], int i) {
    if constexpr (sizeof(Cell) == 8)
      return std::uint64_t{word[2 * i + 1]} << 32 | word[2 * i];
    else if constexpr (is_signed)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word[i])));
    else
      return word[i];
  }
  template <class M>
  AREAL_DEVICE static void running(const M&, const std::uint32_t (&own)[words], const std::uint32_t (&left)[words],
                                   Window start, Window (&sum)[columns]) {
    AREAL_UNROLL
    for (int i = 0; i < columns; ++i) sum[i] = start += column(own, i) - column(left, i);
  }
  AREAL_BOTH static int words_back(int distance) { return distance * (words / columns); }
  template <class M>
  AREAL_DEVICE static void aligned(const M&, int, const std::uint32_t (&from)[words + 1], std::uint32_t (&to)[words]) {
    AREAL_UNROLL
    for (int i = 0; i < words; ++i) to[i] = from[i];
  }
};

}  // namespace areal::kernels
