// Writes pictures and .tif tables through OpenImageIO, into a file that OutputFile created and will commit.
#include <OpenImageIO/filesystem.h>
#include <OpenImageIO/imageio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>
#include "media/file_error.hpp"
#include "media/pictures/pictures.hpp"
#include "media/pictures/pnm.hpp"

namespace areal::media {
namespace {

// Plain writes to an existing file. The first failure is kept, and later writes only pretend to succeed: the formats'
// libraries would report no more than "write error", and libpng would print.
class Sink : public OIIO::Filesystem::IOProxy {
 public:
  Sink(const fs::path& where, const std::string& name) : IOProxy(name, IOProxy::Write) {
    fd_ = ::open(where.c_str(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0) fail(name, "could not be written (", std::strerror(errno), ")");
  }
  ~Sink() override {
    if (fd_ >= 0) ::close(fd_);
  }
  // Not "file": formats take that name for OpenImageIO's own class and use its FILE.
  const char* proxytype() const override { return "areal"; }
  void close() override { m_mode = Closed; }
  bool opened() const override { return m_mode != Closed; }
  std::int64_t tell() override { return m_pos; }
  bool seek(std::int64_t offset) override {
    m_pos = offset;
    return true;
  }
  std::size_t write(const void* data, std::size_t bytes) override {
    const std::size_t done = pwrite(data, bytes, m_pos);
    m_pos += static_cast<std::int64_t>(done);
    return bytes;
  }
  std::size_t pwrite(const void* data, std::size_t bytes, std::int64_t offset) override {
    std::size_t done = 0;
    while (done < bytes && !error_) {
      const ssize_t got =
          ::pwrite(fd_, static_cast<const char*>(data) + done, bytes - done, offset + static_cast<std::int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        error_ = got < 0 ? errno : EIO;
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
  // libtiff reads its directory back before it links the next one.
  std::size_t read(void* data, std::size_t bytes) override {
    const std::size_t got = pread(data, bytes, m_pos);
    m_pos += static_cast<std::int64_t>(got);
    return got;
  }
  std::size_t pread(void* data, std::size_t bytes, std::int64_t offset) override {
    const ssize_t got = ::pread(fd_, data, bytes, offset);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  std::size_t size() const override {
    struct stat status {};
    return ::fstat(fd_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
  }
  void flush() const override {}
  int error_number() const { return error_; }

 private:
  int fd_ = -1;
  int error_ = 0;
};

OIIO::TypeDesc format_of(Type type) {
  using D = OIIO::TypeDesc;
  static constexpr D::BASETYPE of[] = {D::UINT8,  D::INT8,  D::UINT16, D::INT16, D::UINT32, D::INT32,
                                       D::UINT64, D::INT64, D::HALF,   D::FLOAT, D::DOUBLE};
  return {of[static_cast<int>(type)]};
}

// Rows y0 .. y1 of a view as interleaved, contiguous pixels.
void gather(const ConstView& v, std::int64_t y0, std::int64_t y1, char* out) {
  const auto size = static_cast<std::int64_t>(size_of(v.type));
  const std::int64_t channels = v.shape.channels;
  for (std::int64_t y = y0; y < y1; ++y, out += v.shape.width * channels * size) {
    if (v.shape.layout == Layout::interleaved || channels == 1) {
      std::memcpy(out, v.row(y), static_cast<std::size_t>(v.shape.width * channels * size));
      continue;
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      const char* from = static_cast<const char*>(v.row(y, c));
      for (std::int64_t x = 0; x < v.shape.width; ++x)
        std::memcpy(out + (x * channels + c) * size, from + x * size, static_cast<std::size_t>(size));
    }
  }
}

OIIO::ImageSpec spec_of(const Shape& s, Type type, const std::string& format) {
  OIIO::ImageSpec spec(static_cast<int>(s.width), static_cast<int>(s.height), static_cast<int>(s.channels),
                       format_of(type));
  if (format == ".tif" || format == ".tiff") {
    spec["compression"] = "none";
    spec["tiff:write_exif"] = 0;
    // Sums are numbers, not light: nothing may be scaled or premultiplied.
  }
  if (format == ".jpg" || format == ".jpeg") spec["Compression"] = "jpeg:95";
  if (format == ".exr") spec["compression"] = "zip";
  spec["oiio:UnassociatedAlpha"] = 1;
  return spec;
}

// Rows pass through a band of interleaved, contiguous pixels.
class RowsOfPicture : public PictureRows {
 public:
  RowsOfPicture(const fs::path& where, std::string name, const Shape& shape, Type type)
      : name_(std::move(name)), sink_(where, name_), shape_(shape), type_(type) {
    constexpr std::int64_t most_band_bytes = 4 << 20;
    const std::int64_t row =
        std::max<std::int64_t>(1, shape.width * shape.channels * static_cast<std::int64_t>(size_of(type)));
    band_ = std::max<std::int64_t>(1, most_band_bytes / row);
    rows_.resize(static_cast<std::size_t>(std::min(band_, shape.height) * row));
  }
  void write(const ConstView& rows) override {
    if (rows.shape.width != shape_.width || rows.shape.channels != shape_.channels || rows.type != type_ ||
        rows.shape.height > shape_.height - done_)
      refuse(name_, "rows do not belong to the picture of ", shape_.width, "x", shape_.height);
    for (std::int64_t y = 0; y < rows.shape.height; y += band_) {
      const std::int64_t end = std::min(rows.shape.height, y + band_);
      gather(rows, y, end, rows_.data());
      put(done_ + y, end - y, rows_.data());
      require_written();
    }
    done_ += rows.shape.height;
  }
  void finish() override {
    if (done_ != shape_.height) refuse(name_, "has ", shape_.height, " rows, of which ", done_, " were written");
    end();
    require_written();
  }

 protected:
  // Writes contiguous rows from `y` on, which it may modify.
  virtual void put(std::int64_t y, std::int64_t rows, char* pixels) = 0;
  virtual void end() = 0;
  void require_written() const {
    if (sink_.error_number()) fail(name_, "could not be written (", std::strerror(sink_.error_number()), ")");
  }

  std::string name_;
  Sink sink_;
  Shape shape_;
  Type type_;

 private:
  std::int64_t band_ = 1, done_ = 0;
  std::vector<char> rows_;
};

// 16-bit samples are converted to big-endian.
class PnmRows final : public RowsOfPicture {
 public:
  PnmRows(const fs::path& where, const std::string& name, const Shape& shape, Type type)
      : RowsOfPicture(where, name, shape, type) {
    const std::string header = pnm_header(shape, type);
    sink_.write(header.data(), header.size());
  }

 private:
  void put(std::int64_t, std::int64_t rows, char* pixels) override {
    const auto bytes = static_cast<std::size_t>(rows * shape_.width * shape_.channels) * size_of(type_);
    if (type_ == Type::u16)
      for (std::size_t i = 0; i < bytes; i += 2) std::swap(pixels[i], pixels[i + 1]);
    sink_.write(pixels, bytes);
  }
  void end() override {}
};

class OiioRows final : public RowsOfPicture {
 public:
  OiioRows(const fs::path& where, const std::string& format, const std::string& name, const Shape& shape, Type type)
      : RowsOfPicture(where, name, shape, type), spec_(spec_of(shape, type, format)) {
    guarded([&] {
      out_ = OIIO::ImageOutput::create(format.substr(1));
      if (!out_) throw Unavailable(name_ + ": this OpenImageIO cannot write " + format);
      out_->set_ioproxy(&sink_);
      return out_->open(name_, spec_);
    });
  }
  ~OiioRows() override {
    if (!out_) return;
    try {
      out_->close();
    } catch (const std::exception&) {  // the file is abandoned already
    }
    (void)out_->geterror();
  }

 private:
  void put(std::int64_t y, std::int64_t rows, char* pixels) override {
    guarded([&] {
      return out_->write_scanlines(static_cast<int>(y), static_cast<int>(y + rows), 0, spec_.format, pixels);
    });
  }
  void end() override {
    guarded([&] { return out_->close(); });
    (void)out_->geterror();
    out_.reset();
  }
  // Calls OpenImageIO, and turns failures into one sentence.
  template <class Call>
  void guarded(const Call& call) {
    std::string why;
    try {
      if (call()) return;
      why = printable(out_->geterror());
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      why = printable(error.what());
    }
    require_written();
    fail(name_, "could not be written", why.empty() ? "" : " (" + why + ")");
  }

  OIIO::ImageSpec spec_;
  std::unique_ptr<OIIO::ImageOutput> out_;
};

}  // namespace

std::unique_ptr<PictureRows> open_rows(const fs::path& where, const std::string& format, const std::string& name,
                                       const Shape& shape, Type type) {
  if (shape.width > INT32_MAX || shape.height > INT32_MAX)
    refuse(name, "a picture file is at most 2147483647 pixels wide and high");
  quiet_openimageio();
  if (format == ".pgm" || format == ".ppm") return std::make_unique<PnmRows>(where, name, shape, type);
  return std::make_unique<OiioRows>(where, format, name, shape, type);
}

}  // namespace areal::media
