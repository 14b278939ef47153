#pragma once
// Pixels as unsigned keys in the pixels' order, for ranks and extremes: -0 is below +0, and all NaN are one key, the
// first or the last.

#include <areal/type.hpp>
#include <cstdint>
#include <type_traits>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// The order of a type of pixels of the key's size.
template <class Key>
struct KeyOrder {
  static constexpr Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  static constexpr Key all = static_cast<Key>(~Key{0});
  static constexpr Key infinity = sizeof(Key) == 2   ? static_cast<Key>(0x7c00)
                                  : sizeof(Key) == 4 ? static_cast<Key>(0x7f800000)
                                                     : static_cast<Key>(0x7ff0000000000000ull);
  static constexpr Key quiet = static_cast<Key>(infinity | infinity >> 1);
  Key flip = 0;       ///< the bits in which key and pixel differ; of floats, those of a reversed order
  Key nan = all;      ///< 0 or `all`
  bool real = false;  ///< floats

  KeyOrder() = default;
  /// From the least to the most pixel, then NaN.
  explicit KeyOrder(Type type) : flip(is_signed_integer(type) ? sign : Key{0}), real(is_float(type)) {}
  /// NaN, then from the least to the most pixel, or from the most to the least.
  static KeyOrder after_nan(Type type, bool from_least) {
    KeyOrder order(type);
    order.nan = 0;
    if (!from_least) order.flip = static_cast<Key>(~order.flip);
    return order;
  }

  AREAL_BOTH Key key(Key pixel) const {
    if (!real) return static_cast<Key>(pixel ^ flip);
    if (static_cast<Key>(pixel & static_cast<Key>(~sign)) > infinity) return nan;
    return static_cast<Key>(((pixel & sign) != 0 ? ~pixel : pixel | sign) ^ flip);
  }
  AREAL_BOTH Key pixel(Key key) const {
    if (key == nan && real) return quiet;
    key = static_cast<Key>(key ^ flip);
    if (!real) return key;
    return static_cast<Key>((key & sign) != 0 ? key ^ sign : ~key);
  }
};

/// f<Key>() for the unsigned integer of the type's size.
template <class F>
void with_key(Type type, const F& f) {
  switch (size_of(type)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

}  // namespace areal::kernels
