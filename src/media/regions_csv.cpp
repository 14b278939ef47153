// Regions as text: CSV files and the --region option.
#include <algorithm>
#include <array>
#include <utility>
#include "media/csv_line.hpp"
#include "media/file_error.hpp"
#include "media/input_file.hpp"
#include "media/media.hpp"

namespace areal::media {
namespace {

constexpr std::array<std::string_view, 4> columns{"x", "y", "width", "height"};

NamedRegion region_of(const std::vector<std::string>& fields, const std::string& where, std::size_t most) {
  if (fields.size() < 4 || fields.size() > most)
    throw InvalidArgument(where + "has " + std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
                          ", it must have x,y,width,height" + (most > 4 ? " and at most a name" : "") +
                          ", separated by commas");
  std::array<std::int64_t, 4> v{};
  for (std::size_t i = 0; i < 4; ++i) v[i] = whole_number(fields[i], columns[i], where);
  return {checked_region(v, where), fields.size() > 4 ? fields[4] : ""};
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
  std::vector<NamedRegion> out;
  bool first = true;
  for_each_line(text, name, [&](std::string_view line, const std::string& where) {
    const std::vector<std::string> fields = fields_of(line, where);
    if (!std::exchange(first, false) || !is_header(fields)) out.push_back(region_of(fields, where, 5));
  });
  return out;
}

std::vector<NamedRegion> read_regions_csv(const fs::path& path) {
  return parse_regions_csv(read_text(path, most_csv_bytes), path.string());
}

NamedRegion parse_region(std::string_view text) {
  const std::string where = "region '" + printable(text, 60) + "': ";
  return region_of(fields_of(text, where), where, 4);
}

}  // namespace areal::media
