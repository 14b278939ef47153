#include "rows.hpp"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace areal::command {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void RowWriter::start_cell(std::string_view key) {
  if (json_) {
    line_.push_back(cells_++ == 0 ? '{' : ',');
    fmt::format_to(std::back_inserter(line_), "{}:", json_text(key));
    return;
  }
  if (cells_ != 0) line_.push_back(',');
  if (!header_done_) fmt::format_to(std::back_inserter(header_), "{}{}", cells_ == 0 ? "" : ",", key);
  ++cells_;
}

template <class T>
void RowWriter::value(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    if (json_ && !std::isfinite(number)) {
      fmt::format_to(std::back_inserter(line_), "null");
      return;
    }
    if (std::isnan(number)) number = std::nan("");  // drops the sign
  }
  fmt::format_to(std::back_inserter(line_), "{}", number);
}

void RowWriter::put(std::string_view key, std::int64_t number) { start_cell(key), value(number); }
void RowWriter::put(std::string_view key, std::uint64_t number) { start_cell(key), value(number); }
void RowWriter::put(std::string_view key, double number) { start_cell(key), value(number); }

void RowWriter::put(std::string_view key, std::string_view text) {
  start_cell(key);
  auto to = std::back_inserter(line_);
  if (json_) {
    fmt::format_to(to, "{}", json_text(text));
  } else if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    fmt::format_to(to, "{}", text);
  } else {
    line_.push_back('"');
    for (const char c : text) {
      if (c == '"') line_.push_back('"');
      line_.push_back(c);
    }
    line_.push_back('"');
  }
}

template <class T>
void RowWriter::list(std::string_view key, std::string_view column, std::span<const T> values) {
  if (!json_) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      start_cell(header_done_ ? std::string() : fmt::format("{}{}", column, i));
      value(values[i]);
    }
    return;
  }
  start_cell(key);
  line_.push_back('[');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) line_.push_back(',');
    value(values[i]);
  }
  line_.push_back(']');
}

void RowWriter::put_list(std::string_view key, std::string_view column, std::span<const std::uint64_t> values) {
  list(key, column, values);
}
void RowWriter::put_list(std::string_view key, std::string_view column, std::span<const double> values) {
  list(key, column, values);
}

void RowWriter::end() {
  if (!json_ && !header_done_) {
    header_.push_back('\n');
    write_({header_.data(), header_.size()});
    header_done_ = true;
  }
  if (json_) line_.push_back('}');
  line_.push_back('\n');
  write_({line_.data(), line_.size()});
  line_.clear();
  cells_ = 0;
}

}  // namespace areal::command
