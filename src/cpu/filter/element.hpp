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
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (!(value == value)) return 0;
    const double whole = std::nearbyint(value);
    // The largest values of 64 bits are no doubles.
    if (whole >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (whole <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    return static_cast<T>(whole);
  }
}

/// f(T()) for the type of a pixel in memory.
template <class F>
void with_pixel(Type type, const F& f) {
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
    case Type::f16:
      return f(Half{});
    default:
      return f(float{});
  }
}
/// The same for what pixels are computed with: float for 16f.
template <class F>
void with_element(Type type, const F& f) {
  with_pixel(type, [&]<class T>(T) { f(std::conditional_t<std::is_same_v<T, Half>, float, T>{}); });
}

/// Writes the nearest pixel.
inline void put_element(Type type, double value, void* to) {
  with_pixel(type, [&]<class T>(T) {
    const T element = converted<T>(value);
    std::memcpy(to, &element, sizeof(element));
  });
}

/// Copies n elements of 1, 2, 4 or 8 bytes that lie some bytes apart.
inline void copy_elements(const char* from, std::int64_t from_step, std::int64_t n, std::int64_t size, char* to,
                          std::int64_t to_step) {
  const auto copy = [&](auto element) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(&element, from + i * from_step, sizeof element);
      std::memcpy(to + i * to_step, &element, sizeof element);
    }
  };
  switch (size) {
    case 1:
      return copy(std::uint8_t{});
    case 2:
      return copy(std::uint16_t{});
    case 4:
      return copy(std::uint32_t{});
    default:
      return copy(std::uint64_t{});
  }
}

}  // namespace areal::cpu
