#pragma once
// Scores of template matching, from the sums over a window and those of the template.

#include <algorithm>
#include <areal/match.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace areal::formulas {

__extension__ using Signed128 = __int128;

constexpr bool is_of_deviations(MatchMethod method) {
  return method == MatchMethod::ccoeff || method == MatchMethod::ccoeff_normed;
}
constexpr bool is_normed(MatchMethod method) { return static_cast<int>(method) % 2 == 1; }

/// sqrt(a b) for numbers >= 0, exact for a = b, and also where a b does not fit.
inline double root_of_product(double a, double b) {
  const double product = a * b;
  if (product >= std::numeric_limits<double>::min() && product <= std::numeric_limits<double>::max())
    return std::sqrt(product);
  return std::sqrt(a) * std::sqrt(b);
}

/// The quotient within its bounds, from which rounding errors and large differences would take it.
inline double normed(MatchMethod method, double top, double root) {
  if (root == 0) return method == MatchMethod::sqdiff_normed && top != 0 ? 1 : 0;
  return std::clamp(top / root, -1.0, 1.0);
}

/// Sums of integers less `offset`, of all channels. `cross` is the sum over channels of S1 T1, `squared_sums` of S1^2.
struct IntegerSums {
  std::int64_t sum = 0, squares = 0;
  Signed128 squared_sums = 0;
};

inline double match_score(MatchMethod method, std::int64_t product, const IntegerSums& window, Signed128 cross,
                          const IntegerSums& templ, std::int64_t pixels, std::int64_t channels, std::int64_t offset) {
  if (is_of_deviations(method)) {
    const Signed128 top = static_cast<Signed128>(pixels) * product - cross;
    if (!is_normed(method)) return static_cast<double>(top) / static_cast<double>(pixels);
    const auto deviations = [&](const IntegerSums& of) {
      return static_cast<double>(static_cast<Signed128>(pixels) * of.squares - of.squared_sums);
    };
    return normed(method, static_cast<double>(top), root_of_product(deviations(window), deviations(templ)));
  }
  const std::int64_t constant = pixels * channels * offset * offset;
  const bool differences = method == MatchMethod::sqdiff || method == MatchMethod::sqdiff_normed;
  const std::int64_t top = differences ? window.squares - 2 * product + templ.squares
                                       : product + offset * (window.sum + templ.sum) + constant;
  if (!is_normed(method)) return static_cast<double>(top);
  const auto squares = [&](const IntegerSums& of) {
    return static_cast<double>(of.squares + 2 * offset * of.sum + constant);
  };
  return normed(method, static_cast<double>(top), root_of_product(squares(window), squares(templ)));
}

/// Sums of floats, of all channels. m and t are the means of a channel in the window and in the template.
struct FloatSums {
  double coefficient = 0;  ///< sum (I - m) (T - t)
  double deviations = 0;   ///< sum (I - m)^2
  double squares = 0;      ///< sum I^2
  double means = 0;        ///< sum m t
  double apart = 0;        ///< sum (m - t)^2
};

inline double match_score(MatchMethod method, const FloatSums& window, double deviations_of_template,
                          double squares_of_template) {
  switch (method) {
    case MatchMethod::ccoeff:
      return window.coefficient;
    case MatchMethod::ccoeff_normed:
      return normed(method, window.coefficient, root_of_product(window.deviations, deviations_of_template));
    case MatchMethod::ccorr:
    case MatchMethod::ccorr_normed: {
      const double top = window.coefficient + window.means;
      return method == MatchMethod::ccorr ? top
                                          : normed(method, top, root_of_product(window.squares, squares_of_template));
    }
    default: {
      const double top =
          std::max(0.0, window.deviations + deviations_of_template - 2 * window.coefficient + window.apart);
      return method == MatchMethod::sqdiff ? top
                                           : normed(method, top, root_of_product(window.squares, squares_of_template));
    }
  }
}

}  // namespace areal::formulas
