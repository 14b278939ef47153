#include "media/video/converter.hpp"
#include <cstring>
#include "media/luma.hpp"

namespace areal::media {
namespace {

void scale(const std::string& name, Scaler& scaler, const AVFrame& frame, AVPixelFormat format, std::uint8_t* data,
           int pitch) {
  const auto from = static_cast<AVPixelFormat>(frame.format);
  scaler.reset(sws_getCachedContext(scaler.release(), frame.width, frame.height, from, frame.width, frame.height,
                                    format, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr, nullptr,
                                    nullptr));
  if (!scaler) fail(name, "its pixel format cannot be converted");
  const int space = frame.colorspace == AVCOL_SPC_UNSPECIFIED ? SWS_CS_DEFAULT : static_cast<int>(frame.colorspace);
  const int full_range = frame.color_range == AVCOL_RANGE_JPEG ? 1 : 0;
  // The same coefficients on both sides: otherwise swscale would make gray from RGB, not from the video's own luma. -1
  // if neither side is YUV: then there is nothing to set.
  const int* const coefficients = sws_getCoefficients(space);
  (void)sws_setColorspaceDetails(scaler.get(), coefficients, full_range, coefficients, 1, 0, 1 << 16, 1 << 16);
  std::uint8_t* planes[4] = {data, nullptr, nullptr, nullptr};
  const int pitches[4] = {pitch, 0, 0, 0};
  if (sws_scale(scaler.get(), frame.data, frame.linesize, 0, frame.height, planes, pitches) != frame.height)
    fail(name, "a frame could not be converted");
}

// swscale writes whole vectors, so output rows are padded, and the last one too.
int padded_pitch(std::int64_t row_bytes) { return static_cast<int>((row_bytes + 63) / 64 * 64); }
std::size_t padded_bytes(int pitch, std::int64_t height) { return static_cast<std::size_t>(pitch * height + 64); }

bool is_rgb(const AVPixFmtDescriptor& format) {
  return (format.flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
}

bool has_byte_luma_plane(const AVPixFmtDescriptor& format) {
  const AVComponentDescriptor& luma = format.comp[0];
  return !is_rgb(format) && !(format.flags & (AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL)) &&
         luma.depth == 8 && luma.plane == 0 && luma.step == 1 && luma.offset == 0 && luma.shift == 0;
}

}  // namespace

void Converter::convert(const AVFrame& frame, Array& pixels) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if (!descriptor) fail(name_, "a frame has no pixel format");
  const Shape shape{frame.width, frame.height, options_.colour == Colour::all ? 3 : 1};
  if (pixels.shape() != shape || pixels.type() != Type::u8) pixels = Array(shape, Type::u8);
  const bool gray = options_.colour == Colour::luma && !is_rgb(*descriptor);
  const std::int64_t row_bytes = shape.width * (gray ? 1 : 3);
  const int pitch = padded_pitch(row_bytes);
  rows_.resize(padded_bytes(pitch, shape.height));
  scale(name_, scaler_, frame, gray ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGB24, rows_.data(), pitch);
  std::uint8_t* out = pixels.as<std::uint8_t>();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const std::uint8_t* in = rows_.data() + y * pitch;
    if (gray || options_.colour == Colour::all) {
      std::memcpy(out, in, static_cast<std::size_t>(row_bytes));
    } else if (options_.colour == Colour::channel) {
      for (std::int64_t x = 0; x < shape.width; ++x) out[x] = in[3 * x + options_.channel];
    } else {
      for (std::int64_t x = 0; x < shape.width; ++x) out[x] = luma(in[3 * x], in[3 * x + 1], in[3 * x + 2]);
    }
    out += shape.width * shape.channels;
  }
}

bool Converter::takes_plane(const AVFrame& frame, AVPixelFormat format, std::shared_ptr<const RangeTable>& range) {
  if (options_.colour != Colour::luma || frame.linesize[0] < frame.width) return false;  // a bottom-up plane is < 0
  const Kind kind{format, frame.width, frame.colorspace, frame.color_range};
  if (kind != kind_) {
    measure_range(kind);
    kind_ = kind;
  }
  range = range_;
  return is_table_;
}

// Converts a ramp as wide as the frame, since swscale has other loops for other widths: every value in every column,
// with chroma of all values.
void Converter::measure_range(const Kind& kind) {
  is_table_ = false;
  range_.reset();
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(kind.format);
  if (!descriptor || !has_byte_luma_plane(*descriptor)) return;
  const AvFrame ramp = new_frame();
  ramp->format = kind.format;
  ramp->width = kind.width;
  ramp->height = 256;
  ramp->colorspace = kind.space;
  ramp->color_range = kind.range;
  if (av_frame_get_buffer(ramp.get(), 0) < 0) throw std::bad_alloc();
  for (const AVBufferRef* buffer : ramp->buf)
    for (std::size_t i = 0; buffer && i < static_cast<std::size_t>(buffer->size); ++i)
      buffer->data[i] = static_cast<std::uint8_t>(i * 37 + (i >> 8));
  const auto value_at = [](int x, int y) { return static_cast<std::uint8_t>(x + y); };
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < kind.width; ++x) ramp->data[0][y * ramp->linesize[0] + x] = value_at(x, y);
  const int pitch = padded_pitch(kind.width);
  std::vector<std::uint8_t> out(padded_bytes(pitch, 256));
  Scaler scaler;
  scale(name_, scaler, *ramp, AV_PIX_FMT_GRAY8, out.data(), pitch);
  RangeTable table{};
  for (int y = 0; y < 256; ++y) table[value_at(0, y)] = out[static_cast<std::size_t>(y * pitch)];
  bool is_identity = true;
  for (int v = 0; v < 256; ++v) is_identity = is_identity && table[static_cast<std::size_t>(v)] == v;
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < kind.width; ++x)
      if (out[static_cast<std::size_t>(y * pitch + x)] != table[value_at(x, y)]) return;  // not a function of the byte
  if (!is_identity) range_ = std::make_shared<const RangeTable>(table);
  is_table_ = true;
}

}  // namespace areal::media
