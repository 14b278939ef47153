#pragma once
// Quantiles of sorted values, as numpy.quantile defines them.

#include <areal/region_quantile.hpp>
#include <cmath>
#include <cstdint>

namespace areal::formulas {

/// A quantile lies between two values of the sorted ones, at `weight` of the way from the lower to the upper one.
struct QuantilePlace {
  std::uint64_t lower = 0, upper = 0;
  double weight = 0;
};

/// Of n values, at least one; q is in [0, 1]. NumPy's arithmetic, operation by operation.
constexpr QuantilePlace quantile_place(QuantileMethod method, double q, std::uint64_t n) {
  const auto count = static_cast<double>(n);
  const auto at = [&](double index) {
    return index <= 0 ? 0 : index >= count - 1 ? n - 1 : static_cast<std::uint64_t>(index);
  };
  const auto one = [&](double index) { return QuantilePlace{at(index), at(index), 0}; };
  const auto between = [&](double index) {
    if (index < 0 || index >= count - 1) return one(index);
    const double lower = std::floor(index);
    return QuantilePlace{at(lower), at(lower + 1), index - lower};
  };
  const auto with_plotting = [&](double alpha, double beta) {
    return between(count * q + (alpha + q * (1 - alpha - beta)) - 1);
  };
  switch (method) {
    case QuantileMethod::inverted_cdf: {
      const double index = count * q - 1;
      return one(std::ceil(index));
    }
    case QuantileMethod::averaged_inverted_cdf: {
      QuantilePlace place = between(count * q - 1);
      place.weight = place.weight == 0 ? 0.5 : 1;
      return place;
    }
    case QuantileMethod::closest_observation: {
      const double index = count * q - 1 - 0.5, lower = std::floor(index);
      // The place from 1 on is even: from 0 on it is odd.
      const bool at_lower = index == lower && std::fmod(lower, 2) != 0;
      return one(at_lower ? lower : lower + 1);
    }
    case QuantileMethod::interpolated_inverted_cdf:
      return with_plotting(0, 1);
    case QuantileMethod::hazen:
      return with_plotting(0.5, 0.5);
    case QuantileMethod::weibull:
      return with_plotting(0, 0);
    case QuantileMethod::median_unbiased:
      return with_plotting(1 / 3.0, 1 / 3.0);
    case QuantileMethod::normal_unbiased:
      return with_plotting(3 / 8.0, 3 / 8.0);
    case QuantileMethod::lower:
      return one(std::floor((count - 1) * q));
    case QuantileMethod::higher:
      return one(std::ceil((count - 1) * q));
    case QuantileMethod::midpoint: {
      const double index = (count - 1) * q;
      return {at(std::floor(index)), at(std::ceil(index)), std::floor(index) == std::ceil(index) ? 0 : 0.5};
    }
    case QuantileMethod::nearest:
      return one(std::nearbyint((count - 1) * q));  // of two the even one
    case QuantileMethod::linear:
      break;
  }
  return between((count - 1) * q);
}

/// The quantile. Without rounding if it is one of the two. NumPy's arithmetic gives NaN between an infinity and another
/// value, and for differences that overflow: then the weighted mean.
constexpr double quantile_of(const QuantilePlace& place, double lower, double upper) {
  if (lower == upper || place.weight == 0) return lower;
  if (place.weight == 1) return upper;
  const double difference = upper - lower;
  if (!std::isfinite(difference)) return lower * (1 - place.weight) + upper * place.weight;
  return place.weight >= 0.5 ? upper - difference * (1 - place.weight) : lower + difference * place.weight;
}

/// The rank of a percentile among n values, at least one: filter::Percentile's.
constexpr std::uint64_t percentile_rank(double percent, std::uint64_t n) {
  const double rank = std::floor(percent * static_cast<double>(n) / 100);
  return rank >= static_cast<double>(n) ? n - 1 : static_cast<std::uint64_t>(rank);
}

}  // namespace areal::formulas
