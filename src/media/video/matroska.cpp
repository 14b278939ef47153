#include "media/video/matroska.hpp"
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

namespace areal::media {
namespace {

// RFC 8794, 4: the number of bytes is one more than the leading zero bits of the first byte. The marker bit is part of
// an id, not of a size. Nothing at the end of the file, or for a size of all ones ("unknown").
std::optional<std::uint64_t> variable_length(std::istream& in, bool is_id) {
  const int first = in.get();
  if (first <= 0) return std::nullopt;
  const int length = std::countl_zero(static_cast<std::uint8_t>(first)) + 1;
  std::uint64_t value = static_cast<std::uint64_t>(is_id ? first : first & (0xff >> length));
  for (int i = 1; i < length; ++i) {
    const int next = in.get();
    if (next < 0) return std::nullopt;
    value = value << 8 | static_cast<std::uint64_t>(next);
  }
  if (!is_id && value == (std::uint64_t{1} << (7 * length)) - 1) return std::nullopt;
  return value;
}

}  // namespace

bool matroska_is_cut(const std::string& path) {
  constexpr std::uint64_t ebml_header = 0x1a45dfa3, segment = 0x18538067, ebml_void = 0xec;
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) return false;
  while (true) {
    const auto id = variable_length(in, true);
    const auto size = id ? variable_length(in, false) : std::nullopt;
    if (!size) return false;
    const auto at = static_cast<std::uint64_t>(in.tellg());
    if (*size > bytes - at) return true;
    if (*id == segment || (*id != ebml_header && *id != ebml_void)) return false;
    in.seekg(static_cast<std::streamoff>(*size), std::ios::cur);
  }
}

}  // namespace areal::media
