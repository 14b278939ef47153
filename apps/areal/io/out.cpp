#include "out.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace areal::command {
namespace {

[[noreturn]] void fail(int error) {
  if (error == EPIPE) throw ReaderGone();
  throw IoError(std::string("standard output: ") + std::strerror(error));
}

/// The bytes of the UTF-8 character that the text begins with, if a terminal shows it as a character; else 0.
std::size_t shown_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_character = code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  const bool is_control = code < 0xa0 || code == 0x2028 || code == 0x2029;
  const bool is_direction = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                            (code >= 0x2066 && code <= 0x2069);
  return is_character && !is_control && !is_direction ? length : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = shown_character(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (bytes > 0)
      out += text.substr(0, bytes);
    else if (byte == '\n' || byte == '\r' || byte == '\t')
      out += ' ';
    else
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

void write_message(std::string_view sentence) { std::fputs((printable(sentence) + "\n").c_str(), stderr); }

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail(errno);
}

void flush_out() {
  if (std::fflush(stdout) != 0) fail(errno);
}

}  // namespace areal::command
