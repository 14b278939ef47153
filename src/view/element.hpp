#pragma once
// The element type of a view as a C++ type.

#include <areal/type.hpp>
#include <cstring>

namespace areal::view {

/// Calls f with a null pointer to the element type.
template <class F>
decltype(auto) with_type(Type type, F&& f) {
  switch (type) {
    case Type::u8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case Type::s8:
      return f(static_cast<std::int8_t*>(nullptr));
    case Type::u16:
      return f(static_cast<std::uint16_t*>(nullptr));
    case Type::s16:
      return f(static_cast<std::int16_t*>(nullptr));
    case Type::u32:
      return f(static_cast<std::uint32_t*>(nullptr));
    case Type::s32:
      return f(static_cast<std::int32_t*>(nullptr));
    case Type::u64:
      return f(static_cast<std::uint64_t*>(nullptr));
    case Type::s64:
      return f(static_cast<std::int64_t*>(nullptr));
    case Type::f16:
      return f(static_cast<Half*>(nullptr));
    case Type::f32:
      return f(static_cast<float*>(nullptr));
    case Type::f64:
      break;
  }
  return f(static_cast<double*>(nullptr));
}

/// What an element counts as: a Half as a float, all others as themselves.
template <class T>
T value_of(T element) noexcept {
  return element;
}
inline float value_of(Half element) noexcept { return to_float(element); }

/// Element i of a row, at any alignment.
template <class T>
auto element(const void* row, std::int64_t i) noexcept {
  T found;
  std::memcpy(&found, static_cast<const char*>(row) + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value_of(found);
}

}  // namespace areal::view
