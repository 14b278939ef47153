#pragma once
// The weights of bilateral filters, r(d) = exp(-d^2 / (2 sigma^2)), with few significant bits, so that products with
// counts are exact and sums in a fixed order have the same bits everywhere. Integers compute them: exponentials of
// libraries differ in their last bits.

#include <bit>
#include <cmath>
#include <cstdint>
#include "formulas/variance.hpp"

namespace areal::formulas {

/// Significant bits: a product with a count below 2^16 fits the 53 of a double.
inline constexpr int range_weight_bits = 37;
/// r below 2^-60 counts as 0.
inline constexpr double least_range_exponent = 60;

/// 2^-f with 62 fractional bits, of f < 1 with 62 fractional bits.
constexpr std::uint64_t power_of_half(std::uint64_t f) noexcept {
  constexpr std::uint64_t one = std::uint64_t{1} << 62, ln_2 = 0xb17217f7d1cf79ab;  // 64 fractional bits
  const auto x = static_cast<std::uint64_t>((static_cast<Wide128>(f) * ln_2) >> 64);
  std::uint64_t sum = one;  // 1 - x / 1 (1 - x / 2 (1 - x / 3 ..)), the series of exp(-x) to x^20
  for (std::uint64_t k = 20; k > 0; --k)
    sum = one - static_cast<std::uint64_t>((static_cast<Wide128>(x) * sum) >> 62) / k;
  return sum;
}

/// To the nearest number of `range_weight_bits` significant bits.
constexpr std::uint64_t shortened(std::uint64_t value) noexcept {
  const int drop = static_cast<int>(std::bit_width(value)) - range_weight_bits;
  if (drop <= 0) return value;
  return (value + (std::uint64_t{1} << (drop - 1))) >> drop << drop;
}

/// r(d), and d r(d), each within 2^-37 of it.
struct RangeWeight {
  double weight = 0, moment = 0;
};
/// -log2 r(d); without sums, so that no compiler fuses operations.
constexpr double range_exponent(int d, double sigma) noexcept {
  return d == 0 ? 0 : static_cast<double>(d * d) / (sigma * sigma * 1.3862943611198906);  // 2 ln 2
}
/// The greatest difference d < 256 with a weight.
constexpr int range_reach(double sigma) noexcept {
  int d = 0;
  while (d < 255 && range_exponent(d + 1, sigma) <= least_range_exponent) ++d;
  return d;
}
/// Of 0 <= d < 256 and a sigma above 0.
inline RangeWeight range_weight(int d, double sigma) {
  const double exponent = range_exponent(d, sigma);
  if (!(exponent <= least_range_exponent)) return {};
  const double whole = std::floor(exponent);
  const std::uint64_t power = power_of_half(static_cast<std::uint64_t>((exponent - whole) * 0x1p62));
  const int scale = -static_cast<int>(whole);
  return {std::ldexp(static_cast<double>(shortened(power)), scale - 62),
          std::ldexp(static_cast<double>(shortened((power >> 8) * static_cast<std::uint64_t>(d))), scale - 54)};
}

}  // namespace areal::formulas
