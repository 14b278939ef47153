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
#include "io/synthetic.hpp"
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
  explicit SyntheticStrips(const std::string& name) : image_(name) {}
  Shape shape() const override { return image_.shape(); }
  Type type() const override { return Type::u8; }
  ConstView rows(std::int64_t first, std::int64_t count) override {
    rows_ = Array({image_.shape().width, count}, Type::u8);
    image_.read(0, first, rows_.view());
    return std::as_const(rows_).view();
  }

 private:
  SyntheticImage image_;
  Array rows_;
};

}  // namespace

std::unique_ptr<StripSource> open_strips(const std::string& path, const std::string& raw) {
  if (SyntheticImage::is_name(path)) {
    if (!raw.empty()) refuse("--raw: ", path, " is no file");
    auto strips = std::make_unique<SyntheticStrips>(path);
    bytes_of(strips->shape(), Type::u64);  // throws on overflow
    return strips;
  }
  if (!raw.empty()) return std::make_unique<RawStrips>(path, raw_format("--raw", raw));
  if (std::error_code error; !media::fs::exists(path, error)) throw IoError(path + ": there is no such file");
  if (!media::is_npy(path))
    throw IoError(path + ": is no .npy file; pixels without a header are read with --raw WxHxTYPE");
  return std::make_unique<MappedStrips>(path);
}

}  // namespace areal::command
