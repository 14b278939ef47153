#include "media/pictures/pnm.hpp"
#include <cstdio>
#include <vector>

namespace areal::media {
namespace {

class PnmInput final : public OIIO::ImageInput {
 public:
  ~PnmInput() override { release(); }
  const char* format_name() const override { return "pnm"; }
  bool open(const std::string& name, OIIO::ImageSpec& spec, const OIIO::ImageSpec&) override {
    return open(name, spec);
  }
  bool open(const std::string& name, OIIO::ImageSpec& spec) override {
    file_ = std::fopen(name.c_str(), "rbe");
    if (!file_ || std::fgetc(file_) != 'P') return false;
    kind_ = std::fgetc(file_) - '0';
    std::int64_t width = 0, height = 0;
    if (!number(width) || !number(height) || (!is_bits() && !number(maxval_))) {
      errorfmt("its header is not that of a PNM");
      return false;
    }
    constexpr std::int64_t most = 0x7fffffff;
    if (width > most || height > most || maxval_ < 1 || maxval_ > 65535) {
      errorfmt("its header declares {}x{} samples of 0 to {}", width, height, maxval_);
      return false;
    }
    const int channels = kind_ == 3 || kind_ == 6 ? 3 : 1;
    m_spec = OIIO::ImageSpec(static_cast<int>(width), static_cast<int>(height), channels,
                             maxval_ > 255 ? OIIO::TypeDesc::UINT16 : OIIO::TypeDesc::UINT8);
    full_ = maxval_ > 255 ? 65535 : 255;
    if (maxval_ != full_) m_spec["areal:maxval"] = static_cast<int>(maxval_);
    spec = m_spec;
    return true;
  }
  bool read_native_scanline(int subimage, int, int y, int, void* data) override {
    if (subimage != 0 || y != row_++) {
      errorfmt("rows out of order");
      return false;
    }
    const std::size_t samples = static_cast<std::size_t>(m_spec.width) * static_cast<std::size_t>(m_spec.nchannels);
    if (kind_ > 3 && !fill_bytes(samples)) {
      errorfmt("the file ends in row {}", y);
      return false;
    }
    for (std::size_t i = 0; i < samples; ++i) {
      std::int64_t value = 0;
      if (kind_ > 3) {
        value = binary_sample(i);
      } else if (!(kind_ == 1 ? bit(value) : number(value))) {
        errorfmt("the file ends, or a sample is no number, in row {}", y);
        return false;
      }
      if (value > maxval_) {
        errorfmt("a sample in row {} is {}, more than {}", y, value, maxval_);
        return false;
      }
      if (is_bits()) value = 1 - value;  // a 1 is black
      if (maxval_ != full_) value = (value * full_ + maxval_ / 2) / maxval_;
      if (full_ == 255)
        static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(value);
      else
        static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(value);
    }
    return true;
  }
  bool close() override {
    release();
    return true;
  }

 private:
  bool is_bits() const { return kind_ == 1 || kind_ == 4; }
  // The next decimal number after white space and comments, and the one character after it.
  bool number(std::int64_t& out) {
    int c = skip_space();
    if (c < '0' || c > '9') return false;
    for (out = 0; c >= '0' && c <= '9'; c = std::fgetc(file_))
      if ((out = out * 10 + (c - '0')) > std::int64_t{1} << 40) return false;
    if (c == '#') std::ungetc(c, file_);
    return c == EOF || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#';
  }
  // P1 may run its digits together.
  bool bit(std::int64_t& out) {
    const int c = skip_space();
    out = c - '0';
    return c == '0' || c == '1';
  }
  int skip_space() {
    while (true) {
      int c = std::fgetc(file_);
      if (c == '#')
        while (c != '\n' && c != EOF) c = std::fgetc(file_);
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return c;
    }
  }
  bool fill_bytes(std::size_t samples) {
    bytes_.resize(is_bits() ? (samples + 7) / 8 : samples * (full_ == 255 ? 1 : 2));
    return std::fread(bytes_.data(), 1, bytes_.size(), file_) == bytes_.size();
  }
  std::int64_t binary_sample(std::size_t i) const {
    if (is_bits()) return bytes_[i / 8] >> (7 - i % 8) & 1;
    return full_ == 255 ? bytes_[i] : bytes_[2 * i] << 8 | bytes_[2 * i + 1];
  }
  void release() {
    if (file_) std::fclose(file_);
    file_ = nullptr;
  }

  std::FILE* file_ = nullptr;
  int kind_ = 0, row_ = 0;
  std::int64_t maxval_ = 1, full_ = 255;
  std::vector<unsigned char> bytes_;
};

}  // namespace

std::unique_ptr<OIIO::ImageInput> make_pnm_input() { return std::make_unique<PnmInput>(); }

std::string pnm_header(const Shape& shape, Type type) {
  return (shape.channels == 3 ? "P6\n" : "P5\n") + std::to_string(shape.width) + " " + std::to_string(shape.height) +
         (type == Type::u16 ? "\n65535\n" : "\n255\n");
}

}  // namespace areal::media
