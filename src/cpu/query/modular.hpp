#pragma once
// Arithmetic of a table's elements: integers modulo 2^k in the table's own width, then widened, so that a region's sum
// is exact whenever it fits, even if the table wrapped; floats in double.

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace areal::cpu {

template <class T>
T load(const void* address) noexcept {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T, bool = std::is_integral_v<T>>
struct Modular {
  using Difference = std::make_unsigned_t<T>;
  /// Modulo 2^64; two's complement for a signed table.
  using Wide = std::uint64_t;
  static Wide widen(Difference d) noexcept {
    if constexpr (std::is_signed_v<T>)
      return static_cast<Wide>(static_cast<std::int64_t>(static_cast<T>(d)));
    else
      return d;
  }
};

template <class T>
struct Modular<T, false> {
  using Difference = double;
  using Wide = double;
  static Wide widen(Difference d) noexcept { return d; }
};

template <class T>
typename Modular<T>::Difference element(const void* address) noexcept {
  return static_cast<typename Modular<T>::Difference>(load<T>(address));
}

// Combines two halves, each exact, with one rounding at the end: 2^84 + high 2^32 and 2^52 + low. A signed value is
// first shifted up by 2^63. Vectorises on machines without the conversion.
template <bool is_signed>
double real_of(std::uint64_t value) noexcept {
  const std::uint64_t shifted = is_signed ? value ^ (std::uint64_t{1} << 63) : value;
  const std::uint64_t high_bits = shifted >> 32 | 0x4530000000000000u;
  const std::uint64_t low_bits = (shifted & 0xffffffffu) | 0x4330000000000000u;
  const auto high = load<double>(&high_bits), low = load<double>(&low_bits);
  return (high - (is_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52)) + low;
}

}  // namespace areal::cpu
