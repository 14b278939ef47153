#pragma once
// The only reader of JSON, for untrusted files, whose depth and size would otherwise be limited by the stack and the
// memory.

#include <cstddef>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace areal {

inline constexpr int most_json_depth = 32;  // Zarr's metadata and areal's files need 8; copies of a value recurse

/// Reads a text of at most `most_bytes` and `most_depth` levels. Returns the error as the end of a sentence that begins
/// with the file's name, such as "is not JSON", or an empty string. Json is nlohmann's json or ordered_json.
template <class Json>
std::string read_json(std::string_view text, std::size_t most_bytes, Json& into, int most_depth = most_json_depth) {
  if (text.size() > most_bytes) return "has more than " + std::to_string(most_bytes) + " bytes, more than any need";
  bool too_deep = false;
  into = Json::parse(
      text.begin(), text.end(),
      [&](int depth, typename Json::parse_event_t event, Json&) {
        const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
        too_deep = too_deep || (opens && depth >= most_depth);
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (too_deep) return "nests more than " + std::to_string(most_depth) + " levels, more than any need";
  return into.is_discarded() ? "is not JSON" : "";
}

/// A value on one line of ASCII, cut to 100 characters.
template <class Json>
std::string shortened_json(const Json& value) {
  const std::string words = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return words.size() <= 100 ? words : words.substr(0, 97) + "...";
}

/// `read_json` of a text that must be an object.
template <class Json>
std::string read_json_object(std::string_view text, std::size_t most_bytes, Json& into) {
  std::string wrong = read_json(text, most_bytes, into);
  if (wrong.empty() && !into.is_object()) wrong = "holds " + shortened_json(into) + " instead of an object";
  return wrong;
}

/// `read_json` of a stream; reads little more than `most_bytes`.
template <class Json>
std::string read_json(std::istream& from, std::size_t most_bytes, Json& into) {
  std::string text, piece(std::size_t{1} << 16, '\0');
  while (text.size() <= most_bytes &&
         (from.read(piece.data(), static_cast<std::streamsize>(piece.size())), from.gcount() > 0))
    text.append(piece, 0, static_cast<std::size_t>(from.gcount()));
  return read_json(text, most_bytes, into);
}

}  // namespace areal
