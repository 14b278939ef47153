#pragma once
// A number as an element of a type.

#include <areal/type.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace areal::cpu {

/// To the nearest value of the type, half to even; NaN becomes 0 in integers.
template <class T>
T converted(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  if (!(value == value)) return 0;
  const double whole = std::nearbyint(value);
  // The largest values of 64 bits are no doubles.
  if (whole >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  if (whole <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  return static_cast<T>(whole);
}

/// f(T()) for the C++ type of an element; float for 16f.
template <class F>
void with_element(Type type, const F& f) {
  switch (type) {
    case Type::u8:
      return f(std::uint8_t{});
    case Type::s8:
      return f(std::int8_t{});
    case Type::u16:
      return f(std::uint16_t{});
    case Type::s16:
      return f(std::int16_t{});
    case Type::u32:
      return f(std::uint32_t{});
    case Type::s32:
      return f(std::int32_t{});
    case Type::u64:
      return f(std::uint64_t{});
    case Type::s64:
      return f(std::int64_t{});
    case Type::f64:
      return f(double{});
    default:
      return f(float{});
  }
}

/// Writes the nearest element.
inline void put_element(Type type, double value, void* to) {
  with_element(type, [&](auto zero) {
    const auto element = converted<decltype(zero)>(value);
    if (type == Type::f16) {
      const Half half = to_half(static_cast<float>(value));
      std::memcpy(to, &half, sizeof(half));
    } else {
      std::memcpy(to, &element, sizeof(element));
    }
  });
}

}  // namespace areal::cpu
