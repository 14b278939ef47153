#include "media/file_error.hpp"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

namespace areal::media {

std::string printable(std::string_view text, std::size_t most) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    if (out.size() >= most) return out + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    } else {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

void require_memory(const std::string& name, std::uint64_t bytes, std::uint64_t limit) {
  const std::uint64_t most = limit ? limit : free_memory();
  if (bytes <= most) return;
  std::ostringstream text;
  text << name << ": takes " << bytes << " bytes of memory, more than the " << most
       << (limit ? " bytes that were allowed" : " bytes that are free");
  throw OutOfMemory(text.str(), bytes);
}

void require_readable(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail(path.string(), errno == ENOENT ? "no such file" : std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail(path.string(), "is a folder, not a file");
  if (::access(path.c_str(), R_OK) != 0) fail(path.string(), "may not be read (", std::strerror(errno), ")");
  if (S_ISREG(status.st_mode) && status.st_size == 0) fail(path.string(), "is empty");
}

}  // namespace areal::media
