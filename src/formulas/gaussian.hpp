#pragma once
// Gaussians along one axis: sampled weights, and boxes that repeat.

#include <algorithm>
#include <areal/filter.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>
#include "formulas/window_axis.hpp"

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

/// What remains of ones inside the image, at positions [-reach, extent + reach) of all passes.
inline std::vector<double> boxes_of_ones(const ExtendedBox& box, int passes, std::int64_t extent) {
  const std::int64_t reach = passes * box.reach(), n = extent + 2 * reach;
  std::vector<double> values(static_cast<std::size_t>(n)), sums(static_cast<std::size_t>(n) + 1);
  std::fill_n(values.begin() + reach, extent, 1.0);
  const auto value = [&](std::int64_t i) { return i < 0 || i >= n ? 0.0 : values[static_cast<std::size_t>(i)]; };
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
    const auto sum_to = [&](std::int64_t i) {
      return sums[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, n))];
    };
    std::vector<double> next(values.size());
    for (std::int64_t i = 0; i < n; ++i)
      next[static_cast<std::size_t>(i)] = box.inner * (sum_to(i + box.inside + 1) - sum_to(i - box.inside)) +
                                          box.outer * (value(i - box.reach()) + value(i + box.reach()));
    values = std::move(next);
  }
  return values;
}

/// A Gaussian filter along one axis.
struct GaussianAxis {
  static constexpr double most_of_convolution = 8;
  static constexpr int usual_passes = 5;
  int passes = 0;  ///< of the box; 0: weights
  ExtendedBox box = {};
  std::int64_t reach = 0;

  /// `algorithm`: convolution or extended-boxes.
  GaussianAxis(const filter::Gaussian& filter, double sigma, std::string_view algorithm) {
    const bool direct =
        algorithm == "convolution" || sigma == 0 || (filter.passes == 0 && sigma <= most_of_convolution);
    if (direct) {
      reach = static_cast<std::int64_t>(std::floor(std::min(filter.truncate * sigma, 1e9) + 0.5));
    } else {
      passes = filter.passes == 0 ? usual_passes : filter.passes;
      box = ExtendedBox(sigma, passes);
      reach = passes * box.reach();
    }
  }
  std::int64_t size() const { return 2 * reach + 1; }
  /// Of a box, less its ends.
  std::int64_t window() const { return 2 * box.inside + 1; }
};

/// With edge `shrink`: 1 / the weights inside, by output. `weights` are those of an axis without boxes.
inline std::vector<double> gaussian_shares(const GaussianAxis& axis, const std::vector<double>& weights,
                                           const WindowAxis& window) {
  std::vector<double> shares(static_cast<std::size_t>(window.outputs), 1.0);
  const std::int64_t reach = axis.reach;
  const std::vector<double> ones =
      axis.passes == 0 ? std::vector<double>() : boxes_of_ones(axis.box, axis.passes, window.extent);
  for (std::int64_t i = 0; i < window.outputs; ++i) {
    if (i >= reach && i + reach < window.extent) continue;
    double share = 0;
    if (axis.passes > 0) {
      share = ones[static_cast<std::size_t>(i + reach)];
    } else {
      for (std::int64_t k = reach; k >= 0; --k) {
        const int inside = (i - k >= 0 ? 1 : 0) + (i + k < window.extent && k > 0 ? 1 : 0);
        share += inside * weights[static_cast<std::size_t>(k)];
      }
    }
    shares[static_cast<std::size_t>(i)] = 1 / share;
  }
  return shares;
}

}  // namespace areal::formulas
