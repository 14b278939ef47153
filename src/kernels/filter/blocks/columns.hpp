#pragma once
// What blocks adds up of a pixel: `count` doubles, which merge in the order of formulas/block_order.hpp.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>
#include "formulas/block_order.hpp"
#include "kernels/primitives/elements.hpp"
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

enum class BlockTerms : std::uint8_t {
  sums,     ///< p
  squares,  ///< p, p^2
  counts,   ///< p, p^2, 1: of pixels that count
  moments   ///< formulas::Moments and p: of pixels that count
};

template <class In_, BlockTerms terms_>
struct BlockOf {
  using In = In_;
  static constexpr BlockTerms terms = terms_;
  static constexpr bool moments = terms == BlockTerms::moments, counts = moments || terms == BlockTerms::counts;
  static constexpr int count = moments ? 4 : counts ? 3 : terms == BlockTerms::squares ? 2 : 1;
  static constexpr int sum = moments ? 3 : 0;  ///< where p is; squares and counts follow

  static constexpr int threads = 128, near_ring = count > 2 ? 0 : 3;
  static constexpr int ahead = sizeof(In) * count > 4 ? 2 : 3, together = sizeof(In) * count > 8 ? 2 : 4;
  static constexpr bool keeps = false;

  /// Four pixels as they lie in memory; of 16f their bits, as arrays of Half call a constructor in unoptimized builds.
  using Bits = std::conditional_t<std::is_same_v<In, Half>, std::uint16_t, In>;
  struct Raw {
    Bits pixel[4];
    std::uint32_t marks;  // a byte each: 0 does not count
  };
  struct Term {  // without a constructor, which unoptimized device code calls for each element, on a stack too small
    double at[count];
  };

  AREAL_DEVICE static Term of(double p) {
    if constexpr (moments)
      return {{1, p, p - p, p}};
    else if constexpr (counts)
      return {{p, p * p, 1}};
    else if constexpr (count == 2)
      return {{p, p * p}};
    else
      return {{p}};
  }
  AREAL_DEVICE static Term merged(const Term& a, const Term& b) {
    Term both;
    if constexpr (moments) {
      const auto all = formulas::merged({a.at[0], a.at[1], a.at[2]}, {b.at[0], b.at[1], b.at[2]});
      both = {{all.n, all.mean, all.differences, a.at[3] + b.at[3]}};
    } else {
      AREAL_UNROLL
      for (int i = 0; i < count; ++i) both.at[i] = a.at[i] + b.at[i];
    }
    return both;
  }
};

}  // namespace areal::kernels
