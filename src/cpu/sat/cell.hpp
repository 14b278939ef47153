#pragma once
// One pixel or table entry in memory of any alignment, for the plain algorithms.

#include <areal/type.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace areal::cpu {

template <class T>
T load(const void* row, std::int64_t x) {
  T value;
  std::memcpy(&value, static_cast<const char*>(row) + x * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void store(void* row, std::int64_t x, T value) {
  std::memcpy(static_cast<char*>(row) + x * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// The arithmetic type of a table entry: unsigned for integers, so that a table wraps modulo 2^k.
template <class T>
struct Arithmetic {
  using type = std::make_unsigned_t<T>;
};
template <>
struct Arithmetic<float> {
  using type = float;
};
template <>
struct Arithmetic<double> {
  using type = double;
};

/// Pixel x of a row, as a term of the sum.
template <class In, class T>
T pixel(const void* row, std::int64_t x) {
  if constexpr (std::is_same_v<In, Half>)
    return static_cast<T>(to_float(load<Half>(row, x)));
  else
    return static_cast<T>(load<In>(row, x));
}

}  // namespace areal::cpu
