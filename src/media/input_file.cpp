#include "media/input_file.hpp"
#include <sys/stat.h>
#include <array>
#include <cerrno>
#include "media/file_error.hpp"
#include "media/media.hpp"

namespace areal::media {

InputFile::InputFile(const std::filesystem::path& path) : stream_(nullptr), name_(path.string()) {
  require_readable(path);
  owned_.reset(std::fopen(path.c_str(), "rbe"));
  if (!owned_) fail(name_, "could not be opened (", std::strerror(errno), ")");
  stream_ = owned_.get();
  struct stat status {};
  if (::fstat(::fileno(stream_), &status) == 0 && S_ISREG(status.st_mode))
    size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::InputFile(std::FILE* stream, std::string name) : stream_(stream), name_(std::move(name)) {}

std::size_t InputFile::read(void* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  errno = 0;
  const std::size_t got = std::fread(data, 1, bytes, stream_);
  if (got < bytes && std::ferror(stream_)) fail(name_, "could not be read (", std::strerror(errno), ")");
  return got;
}

void InputFile::read_exactly(void* data, std::size_t bytes, const char* what) {
  const std::size_t got = read(data, bytes);
  if (got < bytes) fail(name_, "is truncated: it ends after ", got, " of the ", bytes, " bytes of its ", what);
}

std::string InputFile::read_rest(std::uint64_t most) {
  std::string text;
  std::array<char, 65536> part;
  while (const std::size_t got = read(part.data(), part.size())) {
    if (got > most - text.size()) fail(name_, "has more than ", most, " bytes, too many for its kind");
    text.append(part.data(), got);
  }
  return text;
}

std::string read_text(const std::filesystem::path& path, std::uint64_t most) {
  InputFile file(path);
  if (file.size() && *file.size() > most) fail(file.name(), "has more than ", most, " bytes, too many for its kind");
  return file.read_rest(most);
}

void InputFile::require_end() {
  char extra;
  if (read(&extra, 1) != 0) fail(name_, "has more data than its header declares");
}

}  // namespace areal::media
