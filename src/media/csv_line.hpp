#pragma once
// One line of a CSV file. Errors are InvalidArgument and start with `where`, which names the file and the line.

#include <areal/region.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace areal::media {

// Removes blanks at both ends.
std::string_view trimmed(std::string_view text);

// Fields of one line. A field in double quotes may hold commas, and "" for a quote.
std::vector<std::string> fields_of(std::string_view line, const std::string& where);

std::int64_t whole_number(std::string_view text, std::string_view column, const std::string& where);

// From x, y, width and height. Extents are not negative, and the far corner fits 64 bits.
Region checked_region(const std::array<std::int64_t, 4>& values, const std::string& where);

// Calls take(line, where) for each line that is neither blank nor a # comment.
template <class Take>
void for_each_line(std::string_view text, const std::string& name, Take&& take) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // spreadsheets write a byte order mark
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.front() != '#') take(line, name + ": line " + std::to_string(number) + ": ");
  }
}

}  // namespace areal::media
