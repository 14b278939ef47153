#pragma once
// Doubles of integers below 2^52 without conversion instructions, of which a multiprocessor executes few per cycle.

#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

AREAL_DEVICE double as_double(std::uint32_t n) {
  return __builtin_bit_cast(double, 0x4330000000000000u | std::uint64_t{n}) - 0x1p52;
}
/// n a - b c; it fits 52 bits.
template <class M>
AREAL_DEVICE double difference_of_products(const M& m, std::uint32_t n, std::uint32_t a, std::uint32_t b,
                                           std::uint32_t c) {
  constexpr std::int64_t zero = 0x4338000000000000;  // 1.5 2^52
  const std::int64_t sum = m.multiply_wide(static_cast<std::int32_t>(n), static_cast<std::int32_t>(a), zero);
  return __builtin_bit_cast(double, m.multiply_wide(-static_cast<std::int32_t>(b), static_cast<std::int32_t>(c), sum)) -
         0x1.8p52;
}

}  // namespace areal::kernels
