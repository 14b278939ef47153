#pragma once
// Gaussians along one axis: sampled weights, and boxes that repeat.

#include <cmath>
#include <cstdint>
#include <vector>

namespace areal::formulas {

/// The sum of n numbers by eights and halves: NumPy's order.
inline double pairwise_sum(const double* values, std::int64_t n) {
  if (n < 8) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += values[i];
    return sum;
  }
  if (n > 128) {
    const std::int64_t half = n / 2 - n / 2 % 8;
    return pairwise_sum(values, half) + pairwise_sum(values + half, n - half);
  }
  double part[8];
  std::int64_t i = 8;
  for (int k = 0; k < 8; ++k) part[k] = values[k];
  for (; i < n - n % 8; i += 8)
    for (int k = 0; k < 8; ++k) part[k] += values[i + k];
  double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  for (; i < n; ++i) sum += values[i];
  return sum;
}

/// Weights of the pixels 0, 1, .. `reach` away; those of both sides add up to 1. They are SciPy's but for the last bits
/// of the exponentials, which matters where results are cut to integers.
inline std::vector<double> gaussian_weights(double sigma, std::int64_t reach) {
  if (!(sigma > 0)) return {1.0};
  std::vector<double> all(static_cast<std::size_t>(2 * reach) + 1);
  const double factor = -0.5 / (sigma * sigma);
  for (std::int64_t k = -reach; k <= reach; ++k)
    all[static_cast<std::size_t>(k + reach)] = std::exp(factor * static_cast<double>(k * k));
  const double sum = pairwise_sum(all.data(), 2 * reach + 1);
  std::vector<double> weights(all.begin() + reach, all.end());
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// A box of 2 inside + 1 pixels of weight `inner`, and one more at each end of weight `outer`. It sums up to 1, and
/// `passes` of them have the variance sigma^2 (Gwosdek et al. 2011).
struct ExtendedBox {
  std::int64_t inside = 0;
  double inner = 1, outer = 0;

  ExtendedBox() = default;
  ExtendedBox(double sigma, int passes) {
    const double variance = sigma * sigma / passes;
    inside = static_cast<std::int64_t>(std::floor((std::sqrt(12 * variance + 1) - 1) / 2));
    const double l = static_cast<double>(inside), size = 2 * l + 1;
    const double end = size * (3 * variance - l * (l + 1)) / (6 * ((l + 1) * (l + 1) - variance));
    inner = 1 / (size + 2 * end), outer = end * inner;
  }
  std::int64_t reach() const { return inside + 1; }
};

}  // namespace areal::formulas
