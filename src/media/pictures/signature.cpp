#include "media/pictures/signature.hpp"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstring>
#include <span>
#include <string_view>
#include "media/file_error.hpp"

namespace areal::media {
namespace {

using Bytes = std::span<const unsigned char>;

// A file's first bytes, and how many it has. A TIFF may be larger than the address space that a limit leaves.
class Start {
 public:
  explicit Start(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(path, "could not be opened (", std::strerror(errno), ")");
    struct stat status {};
    const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const ::ssize_t got = regular ? ::pread(fd, bytes_, sizeof(bytes_), 0) : 0;
    const int error = errno;
    ::close(fd);
    if (!regular) fail(path, "is not a regular file; pictures are read from files");
    if (got < 0) fail(path, "could not be read (", std::strerror(error), ")");
    got_ = static_cast<std::size_t>(got);
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  }
  std::string_view text() const { return {bytes_, got_}; }
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  char bytes_[16] = {};
  std::size_t got_ = 0;
  std::uint64_t file_bytes_ = 0;
};

// A file's bytes, read through a private mapping. Only the two scans below read them.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(path, "could not be opened (", std::strerror(errno), ")");
    struct stat status {};
    if (::fstat(fd, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    ::close(fd);
    if (data_ == MAP_FAILED) fail(path, "could not be read (", std::strerror(errno), ")");
  }
  ~Mapping() {
    if (data_) ::munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Bytes bytes() const { return {static_cast<const unsigned char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// ISO/IEC 15948, 5: chunks of length, type, data, CRC, up to IEND.
bool png_is_complete(Bytes file) {
  std::size_t at = 8;
  while (file.size() - at >= 12) {
    const std::uint64_t length = std::uint64_t{file[at]} << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3];
    if (length > file.size() - at - 12) return false;
    if (std::memcmp(&file[at + 4], "IEND", 4) == 0) return true;
    at += 12 + length;
  }
  return false;
}

// ITU T.81, B.1: segments after markers. A start of scan is followed by coded bytes up to a marker that is neither a
// stuffed zero nor a restart. True if this reaches an end of image (D9).
bool jpeg_is_complete(Bytes file, PictureFile& found) {
  std::size_t at = 2;
  while (at + 1 < file.size()) {
    if (file[at] != 0xff) {  // coded bytes, or stray ones between segments
      const void* next = std::memchr(&file[at], 0xff, file.size() - at);
      if (!next) return false;
      at = static_cast<std::size_t>(static_cast<const unsigned char*>(next) - file.data());
      continue;
    }
    const unsigned char marker = file[at + 1];
    if (marker == 0xd9) return true;
    if (marker == 0xff) {  // fill byte
      ++at;
    } else if (marker == 0x00 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
    } else {
      if (file.size() - at < 10) return false;
      const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
      if (frame && found.jpeg_samples == 0) {
        const auto two = [&](std::size_t i) { return std::uint64_t{file[i]} << 8 | file[i + 1]; };
        found.jpeg_samples = two(at + 5) * two(at + 7) * file[at + 9];
        found.jpeg_progressive = marker != 0xc0 && marker != 0xc1;
      }
      at += 2 + (std::size_t{file[at + 2]} << 8 | file[at + 3]);
    }
  }
  return false;
}

struct Signature {
  std::string_view begins;
  PictureKind kind;
  const char* reader;
};
using namespace std::string_view_literals;
constexpr Signature signatures[] = {{"\x89PNG\r\n\x1a\n"sv, PictureKind::png, "png"},
                                    {"\xff\xd8\xff"sv, PictureKind::jpeg, "jpeg"},
                                    {"II\x2a\0"sv, PictureKind::tiff, "tiff"},
                                    {"MM\0\x2a"sv, PictureKind::tiff, "tiff"},
                                    {"II\x2b\0"sv, PictureKind::tiff, "tiff"},  // BigTIFF
                                    {"MM\0\x2b"sv, PictureKind::tiff, "tiff"},
                                    {"\x76\x2f\x31\x01"sv, PictureKind::exr, "openexr"},
                                    {"P1"sv, PictureKind::pnm, "pnm"},
                                    {"P2"sv, PictureKind::pnm, "pnm"},
                                    {"P3"sv, PictureKind::pnm, "pnm"},
                                    {"P4"sv, PictureKind::pnm, "pnm"},
                                    {"P5"sv, PictureKind::pnm, "pnm"},
                                    {"P6"sv, PictureKind::pnm, "pnm"}};

}  // namespace

PictureFile inspect_picture(const std::string& path) {
  const Start start(path);
  const std::string_view text = start.text();
  for (const Signature& s : signatures) {
    if (!text.starts_with(s.begins)) continue;
    // "P5" alone could begin a text; in a PNM white space or a comment follows.
    if (s.kind == PictureKind::pnm && (text.size() < 3 || !std::strchr(" \t\r\n#", text[2]) || text[2] == '\0'))
      continue;
    PictureFile found{s.kind, s.reader, start.file_bytes()};
    if (s.kind != PictureKind::png && s.kind != PictureKind::jpeg) return found;
    const Mapping mapping(path);
    if (s.kind == PictureKind::png && !png_is_complete(mapping.bytes()))
      fail(path, "is truncated: the PNG ends before its IEND chunk");
    if (s.kind == PictureKind::jpeg && !jpeg_is_complete(mapping.bytes(), found))
      fail(path, "is truncated: the JPEG ends before its end-of-image marker");
    return found;
  }
  fail(path, "is not a picture that areal reads (PNG, JPEG, TIFF, EXR or PNM)");
}

}  // namespace areal::media
