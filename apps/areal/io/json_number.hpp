#pragma once
// A value of a run-time type as a JSON number.

#include <areal/type.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace areal::command {

/// Reads a value at any alignment. `type` is a type of sums: 32 or 64 bits wide.
inline nlohmann::json json_number(Type type, const void* from) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof(T));
    return nlohmann::json(value);
  };
  switch (type) {
    case Type::u32:
      return read(std::uint32_t{});
    case Type::s32:
      return read(std::int32_t{});
    case Type::u64:
      return read(std::uint64_t{});
    case Type::s64:
      return read(std::int64_t{});
    case Type::f32:
      return read(float{});
    default:
      return read(double{});
  }
}

/// A number, or a list of numbers, as text: NaN and infinity have words, where JSON has null.
inline std::string json_text(const nlohmann::json& value) {
  if (value.is_array()) {
    std::string text;
    for (const nlohmann::json& one : value) text += (text.empty() ? "" : ",") + json_text(one);
    return "[" + text + "]";
  }
  if (!value.is_number_float()) return value.dump();
  const auto number = value.get<double>();
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return value.dump();
}

}  // namespace areal::command
