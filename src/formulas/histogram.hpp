#pragma once
// The contribution of one bin to a histogram's statistics: shared by the host and the kernels, which walk a histogram's
// bins in order.

#include <cmath>
#include <cstdint>
#include "formulas/variance.hpp"

namespace areal::formulas {

/// The entry. Values below zero, from rounding in weighted tensors, become zero; NaN stays.
constexpr double mass(double entry) noexcept { return entry < 0 ? 0 : entry; }

/// A bin's share of the normalised histogram.
constexpr double share(double entry, double total) noexcept { return total == 0 ? 0 : mass(entry) / total; }

/// The entropy is minus the sum of these, at least 0.
constexpr double entropy_term(double entry, double total) noexcept {
  if (entry <= 0) return 0;
  const double part = entry / total;
  return part * std::log2(part);
}

/// The mean is the sum of these, for a total above zero. `lo` and `hi` are the bin's edges.
constexpr double mean_term(double entry, double total, double lo, double hi) noexcept {
  return mass(entry) / total * (lo / 2 + hi / 2);
}

/// Walks to the value with a given share of the mass below it. The total is above zero.
struct PercentileWalk {
  double wanted;  ///< mass below the value: percent / 100 * total
  double below = 0;
  double value = not_a_number();

  /// True if the value lies in this bin, of edges lo and hi.
  constexpr bool ends_in(double entry, double lo, double hi) noexcept {
    const double inside = mass(entry);
    if (inside == 0) return false;
    if (below + inside >= wanted) {
      value = lo + (wanted - below) / inside * (hi - lo);
      return true;
    }
    below += inside;
    value = hi;  // the end of the mass, if rounding puts `wanted` beyond it
    return false;
  }
};

/// Walks to the fullest bin, the first of equal ones.
struct ModeWalk {
  std::int64_t fullest = -1;
  double most = 0;

  constexpr void take(std::int64_t bin, double entry) noexcept {
    if (!(entry > most)) return;
    most = entry;
    fullest = bin;
  }
};

}  // namespace areal::formulas
