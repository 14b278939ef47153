#pragma once
// Numbers as pixels, for schedules: the value beyond an edge, and that of windows with too few pixels.

#include <areal/type.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace areal::kernels {

/// The bits of the pixel nearest to a number, half to even, saturated; NaN is 0 in integers. `Key` is the unsigned
/// integer of the type's size.
template <class Key>
Key element_of(Type type, double value) {
  const auto whole = [&]<class T>(T) {
    if (!(value == value)) return Key{0};
    const double nearest = std::nearbyint(value);
    // The largest values of 64 bits are no doubles.
    if (nearest >= static_cast<double>(std::numeric_limits<T>::max()))
      return static_cast<Key>(std::numeric_limits<T>::max());
    if (nearest <= static_cast<double>(std::numeric_limits<T>::min()))
      return static_cast<Key>(std::numeric_limits<T>::min());
    return static_cast<Key>(static_cast<T>(nearest));
  };
  switch (type) {
    case Type::u8:
      return whole(std::uint8_t{});
    case Type::s8:
      return whole(std::int8_t{});
    case Type::u16:
      return whole(std::uint16_t{});
    case Type::s16:
      return whole(std::int16_t{});
    case Type::u32:
      return whole(std::uint32_t{});
    case Type::s32:
      return whole(std::int32_t{});
    case Type::u64:
      return whole(std::uint64_t{});
    case Type::s64:
      return whole(std::int64_t{});
    case Type::f16:
      return static_cast<Key>(to_half(static_cast<float>(value)).bits);
    case Type::f32:
      return static_cast<Key>(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    default:
      return static_cast<Key>(std::bit_cast<std::uint64_t>(value));
  }
}

/// The pixel in every place of its size.
template <class Key>
std::uint64_t in_every_place(Key pixel) {
  constexpr std::uint64_t ones = sizeof(Key) == 1   ? 0x0101010101010101u
                                 : sizeof(Key) == 2 ? 0x0001000100010001u
                                 : sizeof(Key) == 4 ? 0x0000000100000001u
                                                    : 1;
  return ones * pixel;
}

}  // namespace areal::kernels
