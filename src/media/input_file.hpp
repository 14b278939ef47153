#pragma once
// A file or stream that is read once, front to back.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace areal::media {

class InputFile {
 public:
  // Opens for reading; throws IoError if it cannot.
  explicit InputFile(const std::filesystem::path& path);
  // Borrows a stream.
  InputFile(std::FILE* stream, std::string name);

  const std::string& name() const { return name_; }
  // The total number of bytes, if the file has a size (a pipe has none).
  std::optional<std::uint64_t> size() const { return size_; }
  // Reads up to `bytes`; fewer only at the end. Throws IoError if reading fails.
  std::size_t read(void* data, std::size_t bytes);
  // Reads exactly `bytes`; throws IoError "ends after N of M bytes of WHAT" otherwise.
  void read_exactly(void* data, std::size_t bytes, const char* what);
  // Reads the remainder. Throws IoError if it has more bytes than `most`.
  std::string read_rest(std::uint64_t most);
  // Throws IoError unless the input is exhausted.
  void require_end();

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> owned_;
  std::FILE* stream_;
  std::string name_;
  std::optional<std::uint64_t> size_;
};

}  // namespace areal::media
