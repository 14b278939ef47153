#pragma once
// Pixels and sums: conversions of a lane's elements, and moves at any alignment.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>
#include "kernels/primitives/machine.hpp"
#include "kernels/primitives/strides.hpp"

namespace areal::kernels {

/// The type that sums are computed in: unsigned for a table of signed integers, which has the same bits.
template <class T, bool = std::is_integral_v<T>>
struct SumOf {
  using type = T;
};
template <class T>
struct SumOf<T, true> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
using Sum = typename SumOf<T>::type;

/// The float of a binary16's bits; exact.
AREAL_DEVICE float float_of(Half h) {
  const std::uint32_t magnitude = (h.bits & 0x7fffu) << 13, sign = (h.bits & 0x8000u) << 16;
  // As bits of a float, exponent and fraction are 2^112 times too small, subnormals included.
  const std::uint32_t value = magnitude >= 0x0f800000u  // infinity or not a number
                                  ? magnitude | 0x7f800000u
                                  : __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) * 0x1p112f);
  return __builtin_bit_cast(float, value | sign);
}

/// A pixel as a term of the sum.
template <class T, class In>
AREAL_DEVICE T term(In pixel) {
  if constexpr (std::is_same_v<In, Half>)
    return static_cast<T>(float_of(pixel));
  else
    return static_cast<T>(pixel);
}

/// Its square, rounded to the type of the sum.
template <class T, class In>
AREAL_DEVICE T square(In pixel) {
  const T value = term<T>(pixel);
  return value * value;
}

/// Four bytes as the argument of the machine's dot4.
AREAL_DEVICE std::uint32_t word_of(const Vec<std::uint8_t, 4>& bytes) {
  return __builtin_bit_cast(std::uint32_t, bytes);
}

/// An element at any address.
template <class M, class T>
AREAL_DEVICE T load_element(const M& m, const char* from, bool aligned, Site site = AREAL_HERE) {
  if constexpr (sizeof(T) == 1) return m.load(reinterpret_cast<const T*>(from), site);
  if (aligned) return m.load(reinterpret_cast<const T*>(from), site);
  Vec<unsigned char, sizeof(T)> bytes;
  AREAL_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i)
    bytes.at[i] = m.load(reinterpret_cast<const unsigned char*>(from) + i, site);
  return __builtin_bit_cast(T, bytes);
}
template <class M, class T>
AREAL_DEVICE void store_element(const M& m, char* to, T value, bool aligned, Site site = AREAL_HERE) {
  if (sizeof(T) == 1 || aligned) {
    m.store_streaming(reinterpret_cast<T*>(to), value, site);
    return;
  }
  const auto bytes = __builtin_bit_cast(Vec<unsigned char, sizeof(T)>, value);
  AREAL_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i)
    m.store_streaming(reinterpret_cast<unsigned char*>(to) + i, bytes.at[i], site);
}

}  // namespace areal::kernels
