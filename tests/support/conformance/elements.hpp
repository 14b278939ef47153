#pragma once
// Elements by run-time type: one switch, so that a suite over twenty type pairs is not twenty suites to compile.

#include <areal/error.hpp>
#include <areal/type.hpp>
#include <areal/view.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace areal::conformance {

/// f(std::type_identity<T>{}) with the C++ type of `type`.
template <class F>
decltype(auto) visit(Type type, F&& f) {
  switch (type) {
    case Type::u8:
      return f(std::type_identity<std::uint8_t>{});
    case Type::s8:
      return f(std::type_identity<std::int8_t>{});
    case Type::u16:
      return f(std::type_identity<std::uint16_t>{});
    case Type::s16:
      return f(std::type_identity<std::int16_t>{});
    case Type::u32:
      return f(std::type_identity<std::uint32_t>{});
    case Type::s32:
      return f(std::type_identity<std::int32_t>{});
    case Type::u64:
      return f(std::type_identity<std::uint64_t>{});
    case Type::s64:
      return f(std::type_identity<std::int64_t>{});
    case Type::f16:
      return f(std::type_identity<Half>{});
    case Type::f32:
      return f(std::type_identity<float>{});
    default:
      return f(std::type_identity<double>{});
  }
}

/// An image or a table without its memory layout: element (n, c, y, x) at ((n * C + c) * H + y) * W + x. Integers are
/// kept modulo 2^64 (signed ones extended), floats as long double.
struct Values {
  Type type = Type::u8;
  Shape shape;
  std::vector<std::uint64_t> integer;
  std::vector<long double> real;

  Values() = default;
  Values(Type type_, const Shape& shape_) : type(type_), shape(shape_) {
    if (is_float(type))
      real.resize(size());
    else
      integer.resize(size());
  }
  std::size_t size() const {
    return static_cast<std::size_t>(shape.width * shape.height * shape.channels * shape.batch);
  }
  std::size_t at(std::int64_t x, std::int64_t y, std::int64_t c = 0, std::int64_t n = 0) const {
    return static_cast<std::size_t>(((n * shape.channels + c) * shape.height + y) * shape.width + x);
  }
  /// The element of any type as a number.
  long double number(std::size_t i) const {
    if (is_float(type)) return real[i];
    return is_signed_integer(type) ? static_cast<long double>(static_cast<std::int64_t>(integer[i]))
                                   : static_cast<long double>(integer[i]);
  }
  friend bool operator==(const Values&, const Values&) = default;
};

/// "x 3, y 4, channel 0, image 0" for an element's index.
inline std::string place_of(const Shape& shape, std::size_t i) {
  const auto index = static_cast<std::int64_t>(i);
  const std::int64_t row = index / shape.width;
  return "x " + std::to_string(index % shape.width) + ", y " + std::to_string(row % shape.height) + ", channel " +
         std::to_string(row / shape.height % shape.channels) + ", image " +
         std::to_string(row / shape.height / shape.channels);
}

template <class T>
void load(const void* from, std::uint64_t& integer) {
  T value;
  std::memcpy(&value, from, sizeof value);
  integer = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  if constexpr (std::is_same_v<T, std::uint64_t>) integer = value;
}
template <class T>
void load(const void* from, long double& real) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_same_v<T, Half>)
    real = to_float(value);
  else
    real = value;
}
template <class T>
void store(void* to, std::uint64_t integer) {
  const T value = static_cast<T>(integer);
  std::memcpy(to, &value, sizeof value);
}
template <class T>
void store(void* to, long double real) {
  T value;
  if constexpr (std::is_same_v<T, Half>)
    value = to_half(static_cast<float>(real));
  else
    value = static_cast<T>(real);
  std::memcpy(to, &value, sizeof value);
}

/// f(T identity, address, index in Values) for every element of a view.
template <class Void, class F>
void each_element(const BasicView<Void>& view, F&& f) {
  const Shape& s = view.shape;
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  visit(view.type, [&](auto type) {
    std::size_t i = 0;
    const std::int64_t step = view.column_pitch();
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t c = 0; c < s.channels; ++c)
        for (std::int64_t y = 0; y < s.height; ++y) {
          auto* at = static_cast<Byte*>(view.row(y, c, n));
          for (std::int64_t x = 0; x < s.width; ++x, at += step) f(type, at, i++);
        }
  });
}

/// The contents of a view.
inline Values values_of(const ConstView& view) {
  Values values(view.type, view.shape);
  each_element(view, [&](auto type, const char* at, std::size_t i) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_integral_v<T>)
      load<T>(at, values.integer[i]);
    else
      load<T>(at, values.real[i]);
  });
  return values;
}

/// Writes values into a view of the same type and extents.
inline void write(const Values& values, const View& view) {
  each_element(view, [&](auto type, char* at, std::size_t i) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_integral_v<T>)
      store<T>(at, values.integer[i]);
    else
      store<T>(at, values.real[i]);
  });
}

}  // namespace areal::conformance
