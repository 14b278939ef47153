#pragma once
/// \file type.hpp Element types, and `Half`, the storage of a 16-bit float.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace areal {

/// An IEEE 754 binary16 as stored: 16 bits, no arithmetic. Convert with `to_float` and `to_half`.
struct Half {
  std::uint16_t bits = 0;
};

float to_float(Half h) noexcept;
Half to_half(float f) noexcept;

/// The element type of an image or a table, named by its width as in Chen 2018: 8u, 16s, 32f, ...
enum class Type : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64 };

/// Bytes of one element.
constexpr std::size_t size_of(Type type) noexcept {
  constexpr std::uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}
/// "8u", "8s", "16u", ... "64f".
std::string_view name_of(Type type) noexcept;
/// The type of that name, or nothing.
std::optional<Type> type_named(std::string_view name) noexcept;
/// True for 16f, 32f and 64f.
bool is_float(Type type) noexcept;
/// True for 8s, 16s, 32s and 64s.
bool is_signed_integer(Type type) noexcept;

/// The Type of a C++ element type. `bool` reads as 8u.
template <class T>
inline constexpr Type type_of = T::no_areal_type_for_this_element;
template <>
inline constexpr Type type_of<bool> = Type::u8;
template <>
inline constexpr Type type_of<std::byte> = Type::u8;
template <>
inline constexpr Type type_of<std::uint8_t> = Type::u8;
template <>
inline constexpr Type type_of<std::int8_t> = Type::s8;
template <>
inline constexpr Type type_of<std::uint16_t> = Type::u16;
template <>
inline constexpr Type type_of<std::int16_t> = Type::s16;
template <>
inline constexpr Type type_of<std::uint32_t> = Type::u32;
template <>
inline constexpr Type type_of<std::int32_t> = Type::s32;
template <>
inline constexpr Type type_of<std::uint64_t> = Type::u64;
template <>
inline constexpr Type type_of<std::int64_t> = Type::s64;
template <>
inline constexpr Type type_of<Half> = Type::f16;
template <>
inline constexpr Type type_of<float> = Type::f32;
template <>
inline constexpr Type type_of<double> = Type::f64;

}  // namespace areal
