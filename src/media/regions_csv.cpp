// Regions as text: CSV files and the --region option.
#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <utility>
#include "media/file_error.hpp"
#include "media/input_file.hpp"
#include "media/media.hpp"

namespace areal::media {
namespace {

constexpr std::array<std::string_view, 4> columns{"x", "y", "width", "height"};

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

NamedRegion region_of(const std::vector<std::string>& fields, const std::string& where, std::size_t most) {
  if (fields.size() < 4 || fields.size() > most)
    throw InvalidArgument(where + "has " + std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
                          ", it must have x,y,width,height" + (most > 4 ? " and at most a name" : ""));
  std::array<std::int64_t, 4> v{};
  for (std::size_t i = 0; i < 4; ++i) v[i] = whole_number(fields[i], columns[i], where);
  for (const std::size_t i : {2u, 3u})
    if (v[i] < 0)
      throw InvalidArgument(where + std::string(columns[i]) + " is " + std::to_string(v[i]) +
                            ", it may not be negative");
  for (const std::size_t i : {0u, 1u}) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(v[i], v[i + 2], &end))
      throw InvalidArgument(where + std::string(columns[i]) + " + " + std::string(columns[i + 2]) +
                            " does not fit 64 bits");
  }
  return {Region{v[0], v[1], v[2], v[3]}, fields.size() > 4 ? fields[4] : ""};
}

// "x,y,width,height" or "x,y,w,h", with or without "name". Anything else is data, and is checked as data.
bool is_header(const std::vector<std::string>& fields) {
  if (fields.size() < 4 || fields.size() > 5) return false;
  constexpr std::array<std::string_view, 5> longer{"x", "y", "width", "height", "name"};
  constexpr std::array<std::string_view, 5> shorter{"x", "y", "w", "h", "name"};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string word = fields[i];
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    if (word != longer[i] && word != shorter[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<NamedRegion> parse_regions_csv(std::string_view text, const std::string& name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // spreadsheets write a byte order mark
  std::vector<NamedRegion> out;
  bool first = true;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const std::string where = name + ": line " + std::to_string(number) + ": ";
    const std::vector<std::string> fields = fields_of(line, where);
    if (!std::exchange(first, false) || !is_header(fields)) out.push_back(region_of(fields, where, 5));
  }
  return out;
}

std::vector<NamedRegion> read_regions_csv(const fs::path& path) {
  InputFile file(path);
  std::string text;
  std::array<char, 65536> part;
  while (const std::size_t got = file.read(part.data(), part.size())) text.append(part.data(), got);
  return parse_regions_csv(text, file.name());
}

NamedRegion parse_region(std::string_view text) {
  const std::string where = "region '" + printable(text, 60) + "': ";
  return region_of(fields_of(text, where), where, 4);
}

}  // namespace areal::media
