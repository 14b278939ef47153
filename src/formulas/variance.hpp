#pragma once
// A variance from n, the sum and the sum of squares. Never negative; NaN only for n = 0 or a NaN in the input.

#include <cstdint>
#include <limits>
#include "formulas/rounding.hpp"

namespace areal::formulas {

__extension__ using Wide128 = unsigned __int128;

constexpr double not_a_number() noexcept { return std::numeric_limits<double>::quiet_NaN(); }

/// (n S2 - S1^2) / n^2, exact up to one conversion to double on either side and the division. `sum` is |S1|. n < 2^63,
/// so neither product exceeds 128 bits. A sum of squares that did not fit its table may give a negative numerator,
/// which counts as 0.
constexpr double variance(std::uint64_t sum, std::uint64_t squares, std::uint64_t n) noexcept {
  if (n == 0) return not_a_number();
  const Wide128 left = static_cast<Wide128>(n) * squares, right = static_cast<Wide128>(sum) * sum;
  if (left <= right) return 0;
  return static_cast<double>(left - right) / static_cast<double>(static_cast<Wide128>(n) * n);
}

/// S2/n - (S1/n)^2, at least 0. Absolute error below 4 eps (|S2| + e2)/n, where e2 is the error of S2 from the table.
constexpr double variance(double sum, double squares, double n) noexcept {
  if (n == 0) return not_a_number();
  const double mean = sum / n;
  const double value = squares / n - mean * mean;
  return value < 0 ? 0 : value;
}

/// Integer sums with squares in floating point: the squares are integers too, and exact below 2^53.
constexpr double variance(std::uint64_t sum, double squares, std::uint64_t n) noexcept {
  if (squares >= 0 && squares < 0x1p63) return variance(sum, nearest(squares), n);
  // Rounding in the table gave a negative value.
  if (squares < 0) return n == 0 ? not_a_number() : 0;
  return variance(static_cast<double>(sum), squares, static_cast<double>(n));
}

}  // namespace areal::formulas
