// Boxes that move from frame to frame, as text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include "media/csv_line.hpp"
#include "media/file_error.hpp"
#include "media/input_file.hpp"
#include "media/media.hpp"

namespace areal::media {
namespace {

constexpr std::array<std::string_view, 6> columns{"frame", "id", "x", "y", "width", "height"};
using Places = std::array<std::size_t, columns.size()>;  // of the columns, in a line's fields

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

double real_number(std::string_view text, std::string_view column, const std::string& where) {
  if (const std::optional<double> value = number_in(text)) return *value;
  throw InvalidArgument(where + std::string(column) + " is '" + printable(text, 40) + "', it must be a number");
}

std::int64_t rounded(std::string_view text, std::string_view column, const std::string& where) {
  const double nearest = std::floor(real_number(text, column, where) + 0.5);
  if (std::abs(nearest) < 0x1p53) return static_cast<std::int64_t>(nearest);
  throw InvalidArgument(where + std::string(column) + " is '" + printable(text, 40) + "', which does not fit 53 bits");
}

Places places_in_header(const std::vector<std::string>& fields, const std::string& where) {
  Places out;
  out.fill(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string word = fields[i];
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    const auto column = std::find(columns.begin(), columns.end(), word);
    if (column == columns.end()) continue;
    std::size_t& place = out[static_cast<std::size_t>(column - columns.begin())];
    if (place != fields.size()) throw InvalidArgument(where + "the header has '" + word + "' twice");
    place = i;
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (out[i] == fields.size())
      throw InvalidArgument(where + "the header has no column '" + std::string(columns[i]) +
                            "', it must have frame,id,x,y,width,height");
  return out;
}

Box box_of(const std::vector<std::string>& fields, const Places& places, std::size_t count, const std::string& where) {
  if (fields.size() != count)
    throw InvalidArgument(where + "has " + std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
                          ", the header has " + std::to_string(count));
  const auto number = [&](std::size_t i) {
    const std::string& text = fields[places[i]];
    const bool is_fraction = i > 0 && text.find_first_of(".eE") != std::string::npos;  // as a tracker writes them
    return is_fraction ? rounded(text, columns[i], where) : whole_number(text, columns[i], where);
  };
  Box out;
  out.frame = number(0);
  if (out.frame < 0) throw InvalidArgument(where + "frame is " + std::to_string(out.frame) + ", they count from 0");
  out.id = fields[places[1]];
  out.region = checked_region({number(2), number(3), number(4), number(5)}, where);
  return out;
}

// Nothing for a line of confidence 0.
std::optional<Box> mot_box_of(const std::vector<std::string>& fields, const std::string& where) {
  constexpr std::array<std::string_view, 4> sides{"left", "top", "width", "height"};
  if (fields.size() < 6 || fields.size() > 10)
    throw InvalidArgument(where + "has " + std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
                          ", without a header it must have 6 to 10: frame,id,left,top,width,height,confidence,...");
  Box out;
  const double frame = real_number(fields[0], "frame", where);
  if (frame != std::floor(frame) || std::abs(frame) >= 0x1p53)
    throw InvalidArgument(where + "frame is '" + printable(fields[0], 40) + "', it must be a whole number");
  if (frame < 1)
    throw InvalidArgument(where + "frame is " + printable(fields[0], 40) + ", they count from 1 without a header");
  out.frame = static_cast<std::int64_t>(frame) - 1;
  out.id = fields[1];
  std::array<std::int64_t, 4> values{};
  for (std::size_t i = 0; i < 4; ++i) values[i] = rounded(fields[i + 2], sides[i], where);
  out.region = checked_region({values[0] - 1, values[1] - 1, values[2], values[3]}, where);
  if (fields.size() > 6 && real_number(fields[6], "confidence", where) == 0) return std::nullopt;
  return out;
}

}  // namespace

std::vector<Box> parse_boxes_csv(std::string_view text, const std::string& name) {
  std::vector<Box> out;
  std::optional<Places> places;
  std::size_t count = 0;
  bool is_first = true;
  for_each_line(text, name, [&](std::string_view line, const std::string& where) {
    const std::vector<std::string> fields = fields_of(line, where);
    if (std::exchange(is_first, false) && !number_in(fields[0])) {
      places = places_in_header(fields, where);
      count = fields.size();
    } else if (places) {
      out.push_back(box_of(fields, *places, count, where));
    } else if (std::optional<Box> box = mot_box_of(fields, where)) {
      out.push_back(std::move(*box));
    }
  });
  std::stable_sort(out.begin(), out.end(), [](const Box& a, const Box& b) { return a.frame < b.frame; });
  return out;
}

std::vector<Box> read_boxes_csv(const fs::path& path) {
  return parse_boxes_csv(read_text(path, most_csv_bytes), path.string());
}

}  // namespace areal::media
