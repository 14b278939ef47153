#pragma once
// How media speaks of a file: one sentence that starts with the path, one line, printable.

#include <areal/error.hpp>
#include <areal/info.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

namespace areal::media {

// Text from a file or a library as it may stand in a sentence: line ends become spaces, other control and non-ASCII
// bytes become \xNN, and what is long is cut.
std::string printable(std::string_view text, std::size_t most = 160);

template <class... Parts>
[[noreturn]] void fail(const std::string& name, const Parts&... parts) {
  std::ostringstream text;
  text << name << ": ";
  (text << ... << parts);
  throw IoError(text.str());
}
template <class... Parts>
[[noreturn]] void refuse(const std::string& name, const Parts&... parts) {
  std::ostringstream text;
  text << name << ": ";
  (text << ... << parts);
  throw InvalidArgument(text.str());
}

// Throws OutOfMemory where `bytes` of decoded data are more than the limit (0: what the machine has free).
void require_memory(const std::string& name, std::uint64_t bytes, std::uint64_t limit);

// A name that can be opened for reading and is not a folder; else IoError ("no such file", "is a folder", ...).
void require_readable(const std::filesystem::path& path);

}  // namespace areal::media
