#pragma once
// The term that one bin adds to a distance, and the distance from all terms: shared by pairs of histograms, maps and
// kernels. The terms are zero for equal histograms, so the distance of a histogram to itself is exactly 0.

#include <areal/histogram_measures.hpp>
#include <cmath>

namespace areal::formulas {

/// True for measures of the cumulative histograms, to which the last bin adds nothing.
constexpr bool is_cumulative(Distance measure) {
  return measure == Distance::emd || measure == Distance::kolmogorov_smirnov;
}

/// sum + the term of a bin with shares p and q; for cumulative measures `step` is the sum of p - q so far.
template <Distance measure>
constexpr double with_bin(double sum, double p, double q, double step) {
  const double d = p - q;
  if constexpr (measure == Distance::l1 || measure == Distance::intersection) return sum + std::fabs(d);
  if constexpr (measure == Distance::l2) return sum + d * d;
  if constexpr (measure == Distance::chi_square) return sum + (p + q > 0 ? d * d / (p + q) : 0);
  if constexpr (measure == Distance::hellinger) {
    const double r = std::sqrt(p) - std::sqrt(q);
    return sum + r * r;
  }
  if constexpr (measure == Distance::emd) return sum + std::fabs(step);
  if constexpr (measure == Distance::kolmogorov_smirnov) return sum < std::fabs(step) ? std::fabs(step) : sum;
}

/// 1 - sum min(p, q) is half of L1, and 1 - sum sqrt(p q) half of the sum of (sqrt p - sqrt q)^2, as shares sum to 1.
/// These forms lose no digits for nearly equal histograms.
template <Distance measure>
constexpr double finished(double sum) {
  if constexpr (measure == Distance::l2) return std::sqrt(sum);
  if constexpr (measure == Distance::intersection) return sum / 2;
  if constexpr (measure == Distance::hellinger) return std::sqrt(sum / 2);
  return sum;
}

/// The distance between an empty histogram and a non-empty one.
constexpr double largest_distance(Distance measure, std::int64_t bins) {
  switch (measure) {
    case Distance::l1:
    case Distance::chi_square:
      return 2;
    case Distance::l2:
      return 1.4142135623730951;  // sqrt 2
    case Distance::emd:
      return static_cast<double>(bins - 1);
    default:
      return 1;
  }
}

/// Calls f.template operator()<measure>() for the run-time measure.
template <class F>
constexpr auto with_measure(Distance measure, const F& f) {
  switch (measure) {
    case Distance::l1:
      return f.template operator()<Distance::l1>();
    case Distance::l2:
      return f.template operator()<Distance::l2>();
    case Distance::chi_square:
      return f.template operator()<Distance::chi_square>();
    case Distance::hellinger:
      return f.template operator()<Distance::hellinger>();
    case Distance::intersection:
      return f.template operator()<Distance::intersection>();
    case Distance::emd:
      return f.template operator()<Distance::emd>();
    default:
      return f.template operator()<Distance::kolmogorov_smirnov>();
  }
}

// The same for a run-time measure.

struct BinTerm {
  double sum, p, q, step;
  template <Distance measure>
  constexpr double operator()() const {
    return with_bin<measure>(sum, p, q, step);
  }
};
constexpr double with_bin(Distance measure, double sum, double p, double q, double step) {
  return with_measure(measure, BinTerm{sum, p, q, step});
}

struct AllBins {
  double sum;
  template <Distance measure>
  constexpr double operator()() const {
    return finished<measure>(sum);
  }
};
constexpr double finished(Distance measure, double sum) { return with_measure(measure, AllBins{sum}); }

}  // namespace areal::formulas
