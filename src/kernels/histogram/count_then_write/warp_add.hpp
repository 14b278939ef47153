#pragma once
// count-then-write: the sum of a warp's 32-bit words.

#include <cstdint>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/warp/warp.hpp"

namespace areal::kernels {

/// The sum of all 32 lanes' values, in every lane: one instruction on machines with a warp reduction, else 5 shuffles.
template <class M>
AREAL_DEVICE std::uint32_t warp_add(const M& m, std::uint32_t value, Site site = AREAL_HERE) {
  if constexpr (requires { m.warp_add(value); })
    return m.warp_add(value);
  else
    return warp_sum(m, value, site);
}

}  // namespace areal::kernels
