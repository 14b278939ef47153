#pragma once
// Pixels as unsigned keys in the pixels' order, so that all types are sorted alike: -0 is below +0. NaN have no place
// in the order.

#include <areal/type.hpp>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace areal::cpu {

template <std::size_t bytes>
using KeyOfSize = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// T is a number or Half.
template <class T>
struct RankKeys {
  using Key = KeyOfSize<sizeof(T)>;
  static constexpr Key sign = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  static constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

  static Key bits(T pixel) { return std::bit_cast<Key>(pixel); }
  static Key key(T pixel) {
    const Key b = bits(pixel);
    if constexpr (is_real) return static_cast<Key>((b & sign) != 0 ? ~b : b | sign);
    if constexpr (std::is_signed_v<T>) return static_cast<Key>(b ^ sign);
    return b;
  }
  static T pixel(Key key) {
    Key b = key;
    if constexpr (is_real)
      b = static_cast<Key>((key & sign) != 0 ? key ^ sign : ~key);
    else if constexpr (std::is_signed_v<T>)
      b = static_cast<Key>(key ^ sign);
    return std::bit_cast<T>(b);
  }
  static bool is_nan(T pixel) {
    if constexpr (!is_real) return false;
    constexpr Key infinity = sizeof(T) == 2   ? static_cast<Key>(0x7c00)
                             : sizeof(T) == 4 ? static_cast<Key>(0x7f800000)
                                              : static_cast<Key>(0x7ff0000000000000);
    return static_cast<Key>(bits(pixel) & static_cast<Key>(~sign)) > infinity;
  }
};

}  // namespace areal::cpu
