#pragma once
// Statistics of a window's counts by level, in integers: entropies in fixed point, Otsu's thresholds, ranks of levels.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include "formulas/variance.hpp"

namespace areal::formulas {

__extension__ using Signed128 = __int128;

/// Fractional bits of logarithms, and of terms c log2(c). Terms of fewer than 2^16 pixels add up to at most 2^62.
inline constexpr int log2_bits = 58, term_bits = 42;

/// log2(1 + i / 256), to the nearest: squaring a number doubles its logarithm, whose whole part is the next bit.
inline constexpr auto log2_table = [] {
  std::array<std::uint64_t, 256> table{};
  for (std::uint64_t i = 0; i < 256; ++i) {
    std::uint64_t x = (256 + i) << 55, bits = 0;  // 63 fractional bits
    for (int bit = 0; bit < log2_bits + 1; ++bit) {
      const Wide128 square = static_cast<Wide128>(x) * x;
      const bool is_two = (square >> 127) != 0;
      bits = 2 * bits + (is_two ? 1 : 0);
      x = static_cast<std::uint64_t>(square >> (is_two ? 64 : 63));
    }
    table[static_cast<std::size_t>(i)] = (bits + 1) / 2;
  }
  return table;
}();

/// log2(c) of 0 < c < 2^32 with `log2_bits` fractional bits; its error is below 2^-56. Exact for powers of 2.
constexpr std::uint64_t log2_of(std::uint64_t c) noexcept {
  const int exponent = 63 - std::countl_zero(c);
  const std::uint64_t x = c << (63 - exponent), i = (x >> 55) & 255, near = (256 + i) << 55;
  // x = near (1 + r), r < 1/256, and the series of ln(1 + r) to r^8; 63 fractional bits.
  const auto r = static_cast<std::uint64_t>((static_cast<Wide128>(x - near) << 63) / near);
  std::uint64_t sum = 0;
  for (std::uint64_t k = 8; k > 0; --k)
    sum = (std::uint64_t{1} << 63) / k - static_cast<std::uint64_t>((static_cast<Wide128>(r) * sum) >> 63);
  const auto ln = static_cast<std::uint64_t>((static_cast<Wide128>(r) * sum) >> 63);
  constexpr std::uint64_t log2_e = 0xb8aa3b295c17f0bc;  // 63 fractional bits
  const auto rest = static_cast<std::uint64_t>((static_cast<Wide128>(ln) * log2_e) >> (126 - log2_bits));
  return (static_cast<std::uint64_t>(exponent) << log2_bits) + log2_table[static_cast<std::size_t>(i)] + rest;
}

/// c log2(c) with `term_bits` fractional bits, within c 2^-56 and one more rounding. c < 2^32.
constexpr Wide128 entropy_term(std::uint64_t c) noexcept {
  if (c == 0) return 0;
  constexpr int drop = log2_bits - term_bits;
  return (static_cast<Wide128>(c) * log2_of(c) + (1 << (drop - 1))) >> drop;
}

/// The entropy of n > 0 pixels, in bits, from `difference`: entropy_term(n) less the terms of all counts, negative at
/// most by rounding. Its error is below 2^-41: the terms of n pixels are at most n.
template <class Sum>
constexpr double entropy_of(Sum difference, std::uint64_t n) noexcept {
  if (difference <= 0) return 0;
  return static_cast<double>(difference) / static_cast<double>(n) / static_cast<double>(std::uint64_t{1} << term_bits);
}

/// floor((bins - 1) k / n) of the k pixels of n > 0 that are at most p.
constexpr std::uint64_t equalized(std::uint64_t most, std::uint64_t k, std::uint64_t n) noexcept {
  return most * k / n;
}

/// The threshold that parts pixels best, of those offered in ascending order. Of n < 2^32 pixels below 2^16 in all,
/// of sum S1, k of sum s are up to t.
class BestSplit {
 public:
  constexpr BestSplit(std::uint64_t n, std::uint64_t sum) : n_(n), sum_(sum) {}

  constexpr void offer(std::uint32_t t, std::uint64_t k, std::uint64_t s) noexcept {
    const Split split{difference(k, s), k * (n_ - k)};
    const double square = static_cast<double>(split.difference) * static_cast<double>(split.difference);
    const double pairs = static_cast<double>(split.pairs);
    // Products of 4 rounded numbers, in 3 multiplications: 7 units of 2^-53.
    const double left = square * pairs_, right = square_ * pairs;
    if (left <= right * (1 - 0x1p-49)) return;
    if (left < right * (1 + 0x1p-49) && !is_more(split, best_)) return;
    best_ = split;
    square_ = square, pairs_ = pairs;
    level_ = t;
  }
  constexpr std::uint32_t level() const noexcept { return level_; }

 private:
  struct Split {
    Wide128 difference = 0;   ///< |n s - k S1| < 2^80
    std::uint64_t pairs = 1;  ///< k (n - k) < 2^62
  };
  constexpr Wide128 difference(std::uint64_t k, std::uint64_t s) const noexcept {
    const Wide128 a = static_cast<Wide128>(n_) * s, b = static_cast<Wide128>(k) * sum_;
    return a < b ? b - a : a - b;
  }

  using Words = std::array<std::uint64_t, 4>;  // the highest first, as arrays compare
  static constexpr Words times(const Words& words, std::uint64_t factor) noexcept {
    Words product{};
    std::uint64_t carry = 0;
    for (std::size_t i = 4; i-- > 0;) {
      const Wide128 one = static_cast<Wide128>(words[i]) * factor + carry;
      product[i] = static_cast<std::uint64_t>(one), carry = static_cast<std::uint64_t>(one >> 64);
    }
    return product;
  }
  static constexpr Words square_times(Wide128 difference, std::uint64_t factor) noexcept {
    const auto high = static_cast<std::uint64_t>(difference >> 64), low = static_cast<std::uint64_t>(difference);
    const Words once{0, 0, high, low};
    const Words by_low = times(once, low), by_high = times({0, high, low, 0}, high);
    Words sum{};
    std::uint64_t carry = 0;
    for (std::size_t i = 4; i-- > 0;) {
      const Wide128 one = static_cast<Wide128>(by_low[i]) + by_high[i] + carry;
      sum[i] = static_cast<std::uint64_t>(one), carry = static_cast<std::uint64_t>(one >> 64);
    }
    return times(sum, factor);
  }
  static constexpr bool is_more(const Split& a, const Split& b) noexcept {
    if (((a.difference | b.difference) >> 48) == 0 && ((a.pairs | b.pairs) >> 32) == 0)
      return a.difference * a.difference * b.pairs > b.difference * b.difference * a.pairs;
    return square_times(a.difference, b.pairs) > square_times(b.difference, a.pairs);
  }

  std::uint64_t n_, sum_;
  Split best_;
  double square_ = 0, pairs_ = 1;
  std::uint32_t level_ = 0;
};

/// BestSplit of n < 2^16 pixels below 2^8: products of three such numbers fit a double, and those of all 128 bits.
class BestSplitOfBytes {
 public:
  constexpr BestSplitOfBytes(std::uint32_t n, std::uint32_t sum) : n_(n), sum_(sum) {}

  constexpr void offer(std::uint32_t t, double k, double s) noexcept {
    const double difference = n_ * s - k * sum_, square = difference * difference, pairs = k * (n_ - k);
    // Products of 3 exact numbers and a rounded one.
    const double left = square * pairs_, right = square_ * pairs;
    if (left <= right * (1 - 0x1p-49)) return;
    if (left < right * (1 + 0x1p-49) && !is_more(difference, pairs)) return;
    difference_ = difference, square_ = square, pairs_ = pairs;
    level_ = t;
  }
  constexpr std::uint32_t level() const noexcept { return level_; }

 private:
  static constexpr Wide128 square_times(double difference, double pairs) noexcept {
    const Wide128 size = static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
    return size * size * static_cast<std::uint64_t>(pairs);
  }
  constexpr bool is_more(double difference, double pairs) const noexcept {
    return square_times(difference, pairs_) > square_times(difference_, pairs);
  }

  double n_, sum_;
  double difference_ = 0, square_ = 0, pairs_ = 1;  ///< the best: |n s - k S1| < 2^40, and k (n - k) < 2^30
  std::uint32_t level_ = 0;
};

}  // namespace areal::formulas
