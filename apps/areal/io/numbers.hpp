#pragma once
// The numbers of the command line: whole numbers, decimals, lists, WxH, lo,hi and WxHxTYPE.
// Each throws InvalidArgument with the option, its value and the values allowed.

#include <areal/error.hpp>
#include <areal/type.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace areal::command {

/// Throws InvalidArgument with the concatenated parts as its message.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::string text;
  (text.append(std::string_view(parts)), ...);
  throw InvalidArgument(text);
}

/// Parses the whole text as a decimal integer in [least, most].
inline std::int64_t whole_number(std::string_view option, std::string_view text,
                                 std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) refuse(option, " ", text, ": does not fit 64 bits");
  if (error != std::errc() || end != text.data() + text.size()) refuse(option, " ", text, ": not a whole number");
  if (value < least) refuse(option, " ", text, ": may not be less than ", std::to_string(least));
  if (value > most) refuse(option, " ", text, ": may not be more than ", std::to_string(most));
  return value;
}

/// Parses the whole text as a decimal number. Accepts inf and nan.
inline double number(std::string_view option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) refuse(option, " ", text, ": beyond the range of 64-bit floats");
  if (error != std::errc() || end != text.data() + text.size()) refuse(option, " ", text, ": not a number");
  return value;
}

/// Bytes: a whole number above 0, with K, M, G or T for powers of 1024.
inline std::uint64_t byte_size(std::string_view option, std::string_view text) {
  constexpr std::string_view units = "KMGT";
  const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
  const int shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size() - (shift > 0 ? 1 : 0);
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value == 0)
    refuse(option, " ", text, ": may be bytes, or a number with K, M, G or T, as 2G");
  if (value > std::numeric_limits<std::uint64_t>::max() >> 1 >> shift)
    refuse(option, " ", text, ": does not fit 63 bits");
  return value << shift;
}

/// The parts between separators; "a,,b" has an empty one.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(separator, from);
    parts.push_back(text.substr(from, to == std::string_view::npos ? to : to - from));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

/// "a,b,c"; at least one.
inline std::vector<double> number_list(std::string_view option, std::string_view text) {
  std::vector<double> values;
  for (const std::string_view part : split(text, ',')) values.push_back(number(option, part));
  return values;
}

/// "lo,hi". The binning checks that lo < hi.
inline std::pair<double, double> range(std::string_view option, std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != 2) refuse(option, " ", text, ": may be LO,HI, two numbers");
  return {number(option, parts[0]), number(option, parts[1])};
}

struct Size {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

/// "WxH", both at least 1.
inline Size size(std::string_view option, std::string_view text) {
  const auto parts = split(text, 'x');
  if (parts.size() != 2) refuse(option, " ", text, ": may be WxH, for example 15x15");
  return {whole_number(option, parts[0], 1), whole_number(option, parts[1], 1)};
}

/// Of a window, "31" or "31x15", width first.
inline Size window_cells(std::string_view option, std::string_view text, std::int64_t least) {
  const auto parts = split(text, 'x');
  if (parts.size() > 2) refuse(option, " ", text, ": may be N or WxH, for example 31 or 15x31");
  for (const auto& part : parts)
    if (part.empty()) refuse(option, " ", text, ": may be N or WxH, for example 31 or 15x31");
  const std::int64_t width = whole_number(option, parts[0], least);
  return {width, parts.size() == 1 ? width : whole_number(option, parts[1], least)};
}

struct RawFormat {
  Size size;
  Type type = Type::u8;
};

/// "WxHxTYPE".
inline RawFormat raw_format(std::string_view option, std::string_view text) {
  const auto parts = split(text, 'x');
  if (parts.size() != 3) refuse(option, " ", text, ": may be WxHxTYPE, for example 1920x1080x8u");
  const auto type = type_named(parts[2]);
  if (!type)
    refuse(option, " ", text, ": ", parts[2],
           " is not a type; it may be 8u, 8s, 16u, 16s, 32u, 32s, 64u, 64s, 16f, 32f or 64f");
  return {{whole_number(option, parts[0], 0), whole_number(option, parts[1], 0)}, *type};
}

}  // namespace areal::command
