#pragma once
// Errors of files: one sentence that starts with the path, one line, printable.

#include <areal/error.hpp>
#include <areal/info.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

namespace areal::media {

// Makes text from a file or a library fit for a sentence: line ends become spaces, other control and non-ASCII bytes
// become \xNN, and long text is cut.
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

// Throws OutOfMemory if `bytes` of decoded data exceed the limit (0: the machine's free memory).
void require_memory(const std::string& name, std::uint64_t bytes, std::uint64_t limit);

// Checks that the name can be opened for reading and is not a folder; else throws IoError ("no such file", "is a
// folder", ...).
void require_readable(const std::filesystem::path& path);

}  // namespace areal::media
