#pragma once
// Entries of tables of sums: integers modulo a power of 2, so that differences are exact, and floats as pairs of
// doubles, whose errors stay far below the last bit of a window next to pixels that are not much larger than all
// others.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include "formulas/variance.hpp"

namespace areal::cpu {

/// What a window says.
struct TableTerms {
  double count, sum, squares, numerator;  ///< numerator: count * squares - sum^2, at least 0
};

/// Sums of squares of 8 and 16 bits fit 64 bits in planes of fewer than 2^32 pixels, those of 32 bits 128.
template <class T, bool has_squares, bool has_count>
struct IntegerCell {
  using Sum = std::uint64_t;
  using Square = std::conditional_t<sizeof(T) < 4, std::uint64_t, formulas::Wide128>;
  struct None {};

  Sum sum = 0;
  [[no_unique_address]] std::conditional_t<has_squares, Square, None> squares{};
  [[no_unique_address]] std::conditional_t<has_count, std::uint64_t, std::integral_constant<int, 0>> count{};

  void take(T pixel, bool is_valid) {
    if constexpr (has_count) {
      if (!is_valid) return;
      ++count;
    }
    const std::int64_t value = std::int64_t{1} * pixel;  // a conversion of signed char alone looks like a mistake
    sum += static_cast<Sum>(value);
    if constexpr (has_squares) {
      const auto size = static_cast<std::uint64_t>(value < 0 ? -value : value);
      squares += static_cast<Square>(size) * size;
    }
  }
  void add(const IntegerCell& other) {
    sum += other.sum;
    if constexpr (has_squares) squares += other.squares;
    if constexpr (has_count) count += other.count;
  }
  void subtract(const IntegerCell& other) {
    sum -= other.sum;
    if constexpr (has_squares) squares -= other.squares;
    if constexpr (has_count) count -= other.count;
  }
  TableTerms terms(std::uint64_t pixels, double /*scale*/) const {
    std::uint64_t n = pixels;
    if constexpr (has_count) n = count;
    const auto total = static_cast<std::int64_t>(sum);
    TableTerms terms{static_cast<double>(n), static_cast<double>(total), 0, 0};
    if constexpr (has_squares) {
      const auto size = static_cast<std::uint64_t>(total < 0 ? -total : total);
      terms.squares = static_cast<double>(squares);
      terms.numerator = static_cast<double>(static_cast<formulas::Wide128>(n) * squares -
                                            static_cast<formulas::Wide128>(size) * size);
    }
    return terms;
  }
};

/// A sum high + low of two doubles, |low| at most half a unit of high's last place. Dekker 1971, Knuth 1969.
struct DoublePair {
  double high = 0, low = 0;

  static DoublePair sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
  }
  static DoublePair ordered_sum(double larger, double smaller) {
    const double s = larger + smaller;
    return {s, smaller - (s - larger)};
  }
  /// Exact for |a| and |b| below 2^480; the parts of 26 bits have exact products, fused or not.
  static DoublePair product(double a, double b) {
    const auto split = [](double x) {
      const double shifted = x * 134217729.0, upper = shifted - (shifted - x);  // 2^27 + 1
      return DoublePair{upper, x - upper};
    };
    const DoublePair x = split(a), y = split(b);
    const double p = a * b;
    return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
  }
  DoublePair operator-() const { return {-high, -low}; }
  friend DoublePair operator+(const DoublePair& a, const DoublePair& b) {
    const DoublePair s = sum(a.high, b.high);
    return ordered_sum(s.high, s.low + (a.low + b.low));
  }
  friend DoublePair operator-(const DoublePair& a, const DoublePair& b) { return a + -b; }
  friend DoublePair operator*(const DoublePair& a, const DoublePair& b) {
    const DoublePair p = product(a.high, b.high);
    return ordered_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
  }
};

/// Pixels that are not finite are counted, modulo 2^32.
template <bool has_squares, bool omits_nan>
struct FloatCell {
  struct None {};
  DoublePair sum;
  [[no_unique_address]] std::conditional_t<has_squares, DoublePair, None> squares{};
  std::uint32_t count = 0, nan = 0, above = 0, below = 0;

  void take(double pixel, bool is_valid) {
    if (!is_valid || (omits_nan && std::isnan(pixel))) return;
    ++count;
    if (!std::isfinite(pixel)) {
      ++(std::isnan(pixel) ? nan : pixel > 0 ? above : below);
      return;
    }
    sum = sum + DoublePair{pixel, 0};
    if constexpr (has_squares) squares = squares + DoublePair::product(pixel, pixel);
  }
  void add(const FloatCell& other) {
    sum = sum + other.sum;
    if constexpr (has_squares) squares = squares + other.squares;
    count += other.count, nan += other.nan, above += other.above, below += other.below;
  }
  void subtract(const FloatCell& other) {
    sum = sum - other.sum;
    if constexpr (has_squares) squares = squares - other.squares;
    count -= other.count, nan -= other.nan, above -= other.above, below -= other.below;
  }
  /// Of pixels that were multiplied by 1 / scale, a power of 2.
  TableTerms terms(std::uint64_t /*pixels*/, double scale) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN(), most = std::numeric_limits<double>::infinity();
    const double n = count;
    if (count == 0) return {};  // sums of which a difference leaves the rounding
    if (nan + above + below > 0) {
      const double total = nan > 0 || (above > 0 && below > 0) ? none : above > 0 ? most : -most;
      return {n, total, total * total, none};
    }
    TableTerms terms{n, (sum.high + sum.low) * scale, 0, 0};
    if constexpr (has_squares) {
      const DoublePair numerator = DoublePair{n, 0} * squares - sum * sum;
      terms.squares = (squares.high + squares.low) * scale * scale;
      terms.numerator = numerator.high > 0 ? numerator.high * scale * scale : 0;
    }
    return terms;
  }
};

}  // namespace areal::cpu
