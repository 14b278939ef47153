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

OIIO::ImageSpec spec_of(const ConstView& picture, const std::string& format) {
  const Shape& s = picture.shape;
  OIIO::ImageSpec spec(static_cast<int>(s.width), static_cast<int>(s.height), static_cast<int>(s.channels),
                       format_of(picture.type));
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

// Rows of a PNM, in bands; 16-bit samples turned to big-endian.
void write_pnm(Sink& sink, const ConstView& picture) {
  const std::string header = pnm_header(picture.shape, picture.type);
  sink.write(header.data(), header.size());
  const std::int64_t row =
      picture.shape.width * picture.shape.channels * static_cast<std::int64_t>(size_of(picture.type));
  const std::int64_t band = std::max<std::int64_t>(1, (4 << 20) / row);
  std::vector<char> rows(static_cast<std::size_t>(std::min(band, picture.shape.height) * row));
  for (std::int64_t y = 0; y < picture.shape.height && !sink.error_number(); y += band) {
    const std::int64_t end = std::min(picture.shape.height, y + band);
    gather(picture, y, end, rows.data());
    const auto bytes = static_cast<std::size_t>((end - y) * row);
    if (picture.type == Type::u16)
      for (std::size_t i = 0; i < bytes; i += 2) std::swap(rows[i], rows[i + 1]);
    sink.write(rows.data(), bytes);
  }
}

}  // namespace

void write_file(const fs::path& where, const std::string& format, const std::string& name, const ConstView& picture) {
  const Shape& s = picture.shape;
  if (s.width > INT32_MAX || s.height > INT32_MAX)
    refuse(name, "a picture file is at most 2147483647 pixels wide and high");
  quiet_openimageio();
  Sink sink(where, name);
  if (format == ".pgm" || format == ".ppm") {
    write_pnm(sink, picture);
    if (sink.error_number()) fail(name, "could not be written (", std::strerror(sink.error_number()), ")");
    return;
  }
  std::string why;
  bool good = false;
  try {
    const auto out = OIIO::ImageOutput::create(format.substr(1));
    if (!out) throw Unavailable(name + ": this OpenImageIO cannot write " + format);
    out->set_ioproxy(&sink);
    const OIIO::ImageSpec spec = spec_of(picture, format);
    good = out->open(name, spec);
    const std::int64_t row = s.width * s.channels * static_cast<std::int64_t>(size_of(picture.type));
    const std::int64_t band = std::max<std::int64_t>(1, (4 << 20) / row);
    const std::unique_ptr<char[]> rows(new char[static_cast<std::size_t>(std::min(band, s.height) * row)]);
    for (std::int64_t y = 0; good && y < s.height; y += band) {
      const std::int64_t end = std::min(s.height, y + band);
      gather(picture, y, end, rows.get());
      good = out->write_scanlines(static_cast<int>(y), static_cast<int>(end), 0, spec.format, rows.get());
    }
    if (!good) why = printable(out->geterror());
    const bool closed = out->close();
    if (good && !closed) why = printable(out->geterror());
    good = good && closed;
    (void)out->geterror();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    why = printable(error.what());
    good = false;
  }
  if (sink.error_number()) fail(name, "could not be written (", std::strerror(sink.error_number()), ")");
  if (!good) fail(name, "could not be written", why.empty() ? "" : " (" + why + ")");
}

}  // namespace areal::media
