#include "input.hpp"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <areal/error.hpp>
#include <cerrno>
#include <cstring>
#include <vector>
#include "io/numbers.hpp"
#include "media/media.hpp"

namespace areal::command {
namespace {

class MappedStrips final : public StripSource {
 public:
  explicit MappedStrips(const std::string& path) : mapped_(media::map_npy(path)) {
    const Shape& s = mapped_->view().shape;
    if (s.channels != 1 || s.batch != 1)
      throw IoError(path + ": holds an array of more than two dimensions; areal-mpi takes one plane");
  }
  Shape shape() const override { return mapped_->view().shape; }
  Type type() const override { return mapped_->view().type; }
  ConstView rows(std::int64_t first, std::int64_t count) override {
    ConstView view = mapped_->view();
    view.data = view.row(first), view.shape.height = count;
    return view;
  }

 private:
  std::unique_ptr<media::MappedArray> mapped_;
};

class RawStrips final : public StripSource {
 public:
  RawStrips(const std::string& path, const RawFormat& format) : path_(path), format_(format) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) fail(std::strerror(errno));
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail(std::strerror(errno));
    const std::uint64_t bytes = bytes_of(shape(), type());
    if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == bytes) return;
    ::close(fd_);
    throw IoError(path_ + ": has " + std::to_string(status.st_size) + " bytes, but " + std::to_string(bytes) +
                  " are asked for");
  }
  ~RawStrips() override { ::close(fd_); }
  RawStrips(const RawStrips&) = delete;
  RawStrips& operator=(const RawStrips&) = delete;
  Shape shape() const override { return {format_.size.width, format_.size.height}; }
  Type type() const override { return format_.type; }
  ConstView rows(std::int64_t first, std::int64_t count) override {
    rows_ = Array({format_.size.width, count}, format_.type);
    char* at = static_cast<char*>(rows_.data());
    auto offset = static_cast<off_t>(first * format_.size.width * static_cast<std::int64_t>(size_of(format_.type)));
    for (std::size_t left = rows_.bytes(); left > 0;) {
      const ssize_t got = ::pread(fd_, at, std::min(left, std::size_t{1} << 30), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(std::strerror(errno));
      if (got == 0) fail("it ends too early");
      at += got, offset += got, left -= static_cast<std::size_t>(got);
    }
    return std::as_const(rows_).view();
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw IoError(path_ + ": could not be read (" + why + ")"); }
  std::string path_;
  RawFormat format_;
  int fd_ = -1;
  Array rows_;
};

class SyntheticStrips final : public StripSource {
 public:
  SyntheticStrips(Size size, std::uint64_t seed) : size_(size), seed_(seed) {}
  Shape shape() const override { return {size_.width, size_.height}; }
  Type type() const override { return Type::u8; }
  ConstView rows(std::int64_t first, std::int64_t count) override {
    rows_ = Array({size_.width, count}, Type::u8);
    std::vector<std::uint8_t> columns(static_cast<std::size_t>(size_.width));
    for (std::int64_t x = 0; x < size_.width; ++x)
      columns[static_cast<std::size_t>(x)] = synthetic_term(seed_, false, x);
    for (std::int64_t y = 0; y < count; ++y) {
      auto* const row = static_cast<std::uint8_t*>(rows_.view().row(y));
      const std::uint8_t term = synthetic_term(seed_, true, first + y);
      for (std::int64_t x = 0; x < size_.width; ++x)
        row[x] = static_cast<std::uint8_t>(columns[static_cast<std::size_t>(x)] + term);
    }
    return std::as_const(rows_).view();
  }

 private:
  Size size_;
  std::uint64_t seed_;
  Array rows_;
};

}  // namespace

std::uint8_t synthetic_term(std::uint64_t seed, bool is_row, std::int64_t at) {
  // splitmix64
  std::uint64_t z = seed * 2 + (is_row ? 1 : 0) + (static_cast<std::uint64_t>(at) + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint8_t>((z ^ (z >> 31)) & 127);
}

std::unique_ptr<StripSource> open_strips(const std::string& path, const std::string& raw) {
  constexpr std::string_view synthetic = "synthetic:";
  if (path.starts_with(synthetic)) {
    const auto parts = split(std::string_view(path).substr(synthetic.size()), ':');
    if (parts.size() != 2) refuse(path, ": may be synthetic:WxH:SEED, for example synthetic:4096x4096:7");
    if (!raw.empty()) refuse("--raw: ", path, " is no file");
    const auto extents = split(parts[0], 'x');
    if (extents.size() != 2) refuse(path, ": may be synthetic:WxH:SEED, for example synthetic:4096x4096:7");
    const Size extent{whole_number(path, extents[0], 0), whole_number(path, extents[1], 0)};
    bytes_of({extent.width, extent.height}, Type::u64);
    return std::make_unique<SyntheticStrips>(extent, static_cast<std::uint64_t>(whole_number(path, parts[1], 0)));
  }
  if (!raw.empty()) return std::make_unique<RawStrips>(path, raw_format("--raw", raw));
  if (std::error_code error; !media::fs::exists(path, error)) throw IoError(path + ": there is no such file");
  if (!media::is_npy(path))
    throw IoError(path + ": is no .npy file; pixels without a header are read with --raw WxHxTYPE");
  return std::make_unique<MappedStrips>(path);
}

}  // namespace areal::command
