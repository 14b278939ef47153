#include "media/csv_line.hpp"
#include <algorithm>
#include <charconv>
#include "media/file_error.hpp"

namespace areal::media {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Fields of one line. A field in double quotes may hold commas, and "" for a quote.
std::vector<std::string> fields_of(std::string_view line, const std::string& where) {
  std::vector<std::string> out;
  while (true) {
    line = trimmed(line);
    std::string field;
    if (line.starts_with('"')) {
      std::size_t at = 1;
      for (;; ++at) {
        if (at >= line.size()) throw InvalidArgument(where + "a quote is not closed");
        if (line[at] != '"') {
          field += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          field += line[at++];
        } else {
          break;
        }
      }
      line = trimmed(line.substr(at + 1));
      if (!line.empty() && line.front() != ',') throw InvalidArgument(where + "text follows a closing quote");
    } else {
      const std::size_t comma = std::min(line.find(','), line.size());
      field = trimmed(line.substr(0, comma));
      line.remove_prefix(comma);
    }
    out.push_back(std::move(field));
    if (line.empty()) return out;
    line.remove_prefix(1);
  }
}

std::int64_t whole_number(std::string_view text, std::string_view column, const std::string& where) {
  std::string_view digits = text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  std::int64_t value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  const std::string shown = where + std::string(column) + " is '" + printable(text, 40) + "'";
  if (error == std::errc::result_out_of_range) throw InvalidArgument(shown + ", which does not fit 64 bits");
  if (error != std::errc{} || end != last) throw InvalidArgument(shown + ", it must be a whole number");
  return value;
}

Region checked_region(const std::array<std::int64_t, 4>& values, const std::string& where) {
  constexpr std::array<std::string_view, 4> columns{"x", "y", "width", "height"};
  for (const std::size_t i : {2u, 3u})
    if (values[i] < 0)
      throw InvalidArgument(where + std::string(columns[i]) + " is " + std::to_string(values[i]) +
                            ", it may not be negative");
  for (const std::size_t i : {0u, 1u}) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(values[i], values[i + 2], &end))
      throw InvalidArgument(where + std::string(columns[i]) + " + " + std::string(columns[i + 2]) +
                            " does not fit 64 bits");
  }
  return {values[0], values[1], values[2], values[3]};
}

}  // namespace areal::media
