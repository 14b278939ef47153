#pragma once
// Equalize, Otsu, Entropy, Modal and Bilateral by their definitions, from the pixels of a window, one after another.

#include <areal/filter.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <variant>
#include "filter_oracle.hpp"

namespace oracle {

inline bool is_of_levels(const areal::Filter& filter) {
  namespace f = areal::filter;
  return std::holds_alternative<f::Equalize>(filter) || std::holds_alternative<f::Otsu>(filter) ||
         std::holds_alternative<f::Entropy>(filter) || std::holds_alternative<f::Modal>(filter) ||
         std::holds_alternative<f::Bilateral>(filter);
}

inline std::map<std::int64_t, std::int64_t> counts(const Seen& seen) {
  std::map<std::int64_t, std::int64_t> counted;
  for (const double p : seen.pixels) ++counted[static_cast<std::int64_t>(p)];
  return counted;
}

inline long double entropy(const Seen& seen) {
  long double sum = 0;
  for (const auto& [value, count] : counts(seen)) {
    const long double share = static_cast<long double>(count) / static_cast<long double>(seen.n);
    sum -= share * std::log2(share);
  }
  return sum;
}

/// None if no pixel has a weight.
inline std::optional<long double> bilateral(const Seen& seen, double sigma) {
  long double sum = 0, weights = 0;
  for (const double b : seen.pixels) {
    const long double d = static_cast<long double>(b) - seen.centre;
    const long double weight = std::exp(-d * d / (2 * static_cast<long double>(sigma) * sigma));
    if (weight < 0x1p-60L) continue;
    sum += weight * b, weights += weight;
  }
  if (weights == 0) return std::nullopt;
  return sum / weights;
}

/// The variance between the pixels up to t and the others, times n^2: a fraction. Of windows of up to 10^4 pixels.
struct Between {
  Int128 numerator = 0, denominator = 1;
  friend bool operator>(const Between& a, const Between& b) {
    return a.numerator * b.denominator > b.numerator * a.denominator;
  }
};
inline Between between(const Seen& seen, std::int64_t t) {
  Int128 up_to = 0, sum = 0;
  for (const double p : seen.pixels)
    if (p <= static_cast<double>(t)) ++up_to, sum += static_cast<Int128>(p);
  if (up_to == 0 || up_to == seen.n) return {};
  const Int128 apart = seen.n * sum - up_to * seen.sum;
  return {apart * apart, up_to * (seen.n - up_to)};
}

/// The value of a window of integers with some pixels; not of Entropy and Bilateral.
inline double of_levels(const areal::Filter& filter, const Seen& seen, double bins) {
  const auto counted = counts(seen);
  if (std::holds_alternative<areal::filter::Equalize>(filter)) {
    std::int64_t up_to = 0;
    for (const double p : seen.pixels) up_to += p <= seen.centre ? 1 : 0;
    const std::int64_t level = static_cast<std::int64_t>(bins - 1) * up_to / seen.n;
    return static_cast<double>(level);
  }
  std::int64_t best = 0;
  if (const auto* const otsu = std::get_if<areal::filter::Otsu>(&filter)) {
    Between most;
    // The variance changes at pixels alone, so that the least t is 0 or one of them.
    for (const auto& [t, count] : counted) {
      if (t == 0 && !otsu->zeros_alone) continue;
      const Between here = between(seen, t);
      if (here > most) most = here, best = t;
    }
    return static_cast<double>(best);
  }
  std::int64_t most = 0;
  for (const auto& [value, count] : counted)
    if (count > most) most = count, best = value;
  return static_cast<double>(best);
}

}  // namespace oracle
