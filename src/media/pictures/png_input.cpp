#include "media/pictures/png_input.hpp"
#include <png.h>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace areal::media {
namespace {

class PngInput final : public OIIO::ImageInput {
 public:
  ~PngInput() override { release(); }
  const char* format_name() const override { return "png"; }
  bool open(const std::string& name, OIIO::ImageSpec& spec, const OIIO::ImageSpec&) override {
    return open(name, spec);
  }
  bool open(const std::string& name, OIIO::ImageSpec& spec) override {
    file_ = std::fopen(name.c_str(), "rbe");
    if (!file_ || !start() || !describe()) return false;
    spec = m_spec;
    return true;
  }
  bool read_native_scanline(int subimage, int, int y, int, void* data) override {
    if (subimage != 0 || y < 0 || y >= m_spec.height) return false;
    if (whole_.empty() && y != row_) {
      errorfmt("rows out of order");
      return false;
    }
    return passes_ > 1 ? read_interlaced(y, data) : read_row(data);
  }
  bool close() override {
    release();
    return true;
  }

 private:
  // libpng reports through these functions; nothing is printed. The jump goes to the setjmp of the function that called
  // libpng; none of these functions has a local with a destructor.
  static void on_error(png_structp png, png_const_charp what) {
    auto* self = static_cast<PngInput*>(png_get_error_ptr(png));
    std::strncpy(self->message_, what ? what : "", sizeof self->message_ - 1);
    std::longjmp(self->jump_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  bool failed() {
    errorfmt("{}", message_);
    return false;
  }
  bool start() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &on_error, &on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) return false;
    if (setjmp(jump_)) return failed();  // NOLINT: libpng's way to report
    png_init_io(png_, file_);
    png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);  // the caller checks sizes, and reports errors in a sentence
    png_set_chunk_malloc_max(png_, 8 << 20);
    // Of the rest only the transparent colour matters: texts, profiles and the like would be inflated and kept, each up
    // to the limit above.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    bits_ = png_get_bit_depth(png_, info_);
    png_set_expand(png_);  // palette to RGB, 1 to 4 bits to 8, transparent colour to alpha
    if (bits_ == 16) png_set_swap(png_);
    passes_ = png_set_interlace_handling(png_);
    return true;
  }
  bool describe() {
    const int type = png_get_color_type(png_, info_);
    const bool alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
    const int channels = ((type & PNG_COLOR_MASK_COLOR) ? 3 : 1) + (alpha ? 1 : 0);
    const auto width = static_cast<int>(png_get_image_width(png_, info_));
    const auto height = static_cast<int>(png_get_image_height(png_, info_));
    m_spec = OIIO::ImageSpec(width, height, channels, bits_ == 16 ? OIIO::TypeDesc::UINT16 : OIIO::TypeDesc::UINT8);
    static constexpr const char* names[5][4] = {{}, {"Y"}, {"Y", "A"}, {"R", "G", "B"}, {"R", "G", "B", "A"}};
    for (int c = 0; c < channels; ++c) m_spec.channelnames[static_cast<std::size_t>(c)] = names[channels][c];
    m_spec.alpha_channel = channels % 2 == 0 ? channels - 1 : -1;
    if (bits_ < 8 && type != PNG_COLOR_TYPE_PALETTE) m_spec["oiio:BitsPerSample"] = bits_;
    m_spec["areal:whole"] = passes_ > 1 ? 1 : 0;
    return true;
  }
  // libpng allocates rows of the declared width here, so only after the caller has checked the size and requested
  // pixels.
  void start_rows() {
    if (started_) return;
    started_ = true;
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != m_spec.scanline_bytes(true)) png_error(png_, "rows of an unexpected size");
  }
  bool read_row(void* data) {
    if (setjmp(jump_)) return failed();  // NOLINT
    start_rows();
    png_read_row(png_, static_cast<png_bytep>(data), nullptr);
    // The end contains the checksum of the compressed data.
    if (++row_ == m_spec.height) png_read_end(png_, nullptr);
    return true;
  }
  bool read_interlaced(int y, void* data) {
    const std::size_t row = m_spec.scanline_bytes(true);
    if (whole_.empty()) {
      whole_.resize(row * static_cast<std::size_t>(m_spec.height));
      if (!decode_passes(row)) return false;
    }
    std::memcpy(data, whole_.data() + row * static_cast<std::size_t>(y), row);
    return true;
  }
  bool decode_passes(std::size_t row) {
    if (setjmp(jump_)) return failed();  // NOLINT
    start_rows();
    for (int pass = 0; pass < passes_; ++pass)
      for (int y = 0; y < m_spec.height; ++y)
        png_read_row(png_, whole_.data() + row * static_cast<std::size_t>(y), nullptr);
    png_read_end(png_, nullptr);
    return true;
  }
  void release() {
    if (png_) png_destroy_read_struct(&png_, info_ ? &info_ : nullptr, nullptr);
    if (file_) std::fclose(file_);
    png_ = nullptr;
    info_ = nullptr;
    file_ = nullptr;
  }

  std::FILE* file_ = nullptr;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  char message_[128] = {};
  int bits_ = 8, passes_ = 1, row_ = 0;
  bool started_ = false;
  std::vector<unsigned char> whole_;
};

}  // namespace

std::unique_ptr<OIIO::ImageInput> make_png_input() { return std::make_unique<PngInput>(); }

}  // namespace areal::media
