#pragma once
// Errors of chunked tables: one sentence that starts with the path.

#include <areal/error.hpp>
#include <filesystem>
#include <sstream>
#include <string>

namespace areal::chunked {

template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
[[noreturn]] void fail(const std::filesystem::path& path, const Parts&... parts) {
  throw IoError(sentence(path.string(), ": ", parts...));
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw InvalidArgument(sentence(parts...));
}

}  // namespace areal::chunked
