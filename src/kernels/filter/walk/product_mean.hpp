#pragma once
// Means of bytes by a product of 32 bits.

#include <algorithm>
#include <areal/window.hpp>
#include <cstdint>
#include "formulas/rounding.hpp"

namespace areal::kernels {

/// Factor and addend of a product of 32 bits that gives the mean of n pixels of 8 bits: (sum factor + add) / 2^24. A
/// factor of 0: there is none. It exists for some odd n, and for OpenCV's rounding wherever that is not the nearest.
struct ProductMean {
  std::uint32_t factor = 0, add = 0;

  ProductMean(std::uint32_t n, Rounding rounding) {
    if (rounding == Rounding::opencv && formulas::FixedPointMean::serves(n)) {
      const formulas::FixedPointMean mean(n);
      if ((std::uint64_t{255} * n + mean.delta) * mean.factor >> 31 != 0) return;  // a mean of 256, which saturates
      factor = 2 * mean.factor, add = mean.delta * factor;
      return;
    }
    if (n % 2 == 0 || n >= (1u << 24)) return;
    for (std::uint64_t f = (1u << 24) / n; f <= (1u << 24) / n + 1; ++f) {
      // Sums from q n - n / 2 on have the mean q, from 1 to 255: bounds of the addend, linear in q.
      const auto bound = [&](std::int64_t q) { return (q << 24) - (q * n - n / 2) * static_cast<std::int64_t>(f); };
      const std::int64_t least = std::max({std::int64_t{0}, bound(1), bound(255)});
      const std::int64_t most =
          std::min({(std::int64_t{1} << 32) - 1 - static_cast<std::int64_t>(f * n * 255),
                    bound(1) + static_cast<std::int64_t>(f) - 1, bound(255) + static_cast<std::int64_t>(f) - 1});
      if (least > most) continue;
      factor = static_cast<std::uint32_t>(f), add = static_cast<std::uint32_t>(least);
      return;
    }
  }
};

/// The same for squares n of up to 256 pixels: the mean is p / 2^24 for p = sum factor + add, after `tie` is added to a
/// p whose mean is odd. With an even n, quotients that end in 1/2 are less than `tie` below the next mean, and no
/// others are.
struct HalfEvenProduct {
  std::uint32_t factor = 0, add = 0, tie = 0;

  HalfEvenProduct(std::uint32_t n, Rounding rounding) {
    const ProductMean product(n, rounding);
    factor = product.factor, add = product.add;
    if (factor != 0 || n % 2 != 0) return;
    factor = (1u << 24) / n, tie = 1u << 15, add = (1u << 23) - tie / 2;
  }
};

}  // namespace areal::kernels
