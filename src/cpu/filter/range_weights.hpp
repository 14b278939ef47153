#pragma once
// The weights of a bilateral filter of 8-bit pixels, by the difference of levels.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>
#include "formulas/range_weight.hpp"

namespace areal::cpu {

class RangeWeights {
 public:
  RangeWeights() = default;
  explicit RangeWeights(double sigma) : weights_(size), moments_(size), reach_(formulas::range_reach(sigma)) {
    for (int d = 0; d < 256; ++d) {
      const formulas::RangeWeight one = formulas::range_weight(d, sigma);
      const auto at = static_cast<std::size_t>(d);
      weights_[zero + at] = weights_[zero - at] = one.weight;
      moments_[zero + at] = one.moment, moments_[zero - at] = -one.moment;
    }
  }
  /// r(b - p) and (b - p) r(b - p) at [b].
  const double* weights(std::uint8_t p) const { return weights_.data() + (zero - p); }
  const double* moments(std::uint8_t p) const { return moments_.data() + (zero - p); }
  /// One bit for each group of 16 levels: whether any of them has a weight.
  std::uint32_t groups(std::uint8_t p) const {
    const int first = std::max(0, p - reach_) / 16, last = std::min(255, p + reach_) / 16;
    return (2U << last) - (1U << first);
  }

 private:
  static constexpr std::size_t zero = 256, size = 512;
  std::vector<double> weights_, moments_;
  int reach_ = 0;  ///< the greatest difference with a weight
};

}  // namespace areal::cpu
