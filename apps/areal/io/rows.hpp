#pragma once
// Rows, by default on standard output, as CSV with one header line or as JSON lines.

#include <fmt/format.h>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include "out.hpp"

namespace areal::command {

class RowWriter {
 public:
  using Write = std::function<void(std::string_view)>;

  explicit RowWriter(bool json, Write write = write_out) : json_(json), write_(std::move(write)) {}

  /// Adds a cell. Doubles print as the shortest text that parses to the same value; NaN and infinity are null in JSON.
  void put(std::string_view key, std::int64_t value);
  void put(std::string_view key, std::uint64_t value);
  void put(std::string_view key, double value);
  void put(std::string_view key, std::string_view value);
  /// A JSON array, or CSV columns `column`0, `column`1, ...
  void put_list(std::string_view key, std::string_view column, std::span<const std::uint64_t> values);
  void put_list(std::string_view key, std::string_view column, std::span<const double> values);
  void end();
  bool json() const noexcept { return json_; }

 private:
  void start_cell(std::string_view key);
  template <class T>
  void list(std::string_view key, std::string_view column, std::span<const T> values);
  template <class T>
  void value(T number);

  bool json_, header_done_ = false;
  Write write_;
  std::size_t cells_ = 0;  // of this row so far
  fmt::memory_buffer header_, line_;
};

/// A quoted JSON string, with invalid UTF-8 replaced.
std::string json_text(std::string_view text);

}  // namespace areal::command
