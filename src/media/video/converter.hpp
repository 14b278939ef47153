#pragma once
// Converts decoded frames to 8-bit pixels, or uses a frame's luma plane directly.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>
#include "media/media.hpp"
#include "media/video/libav.hpp"

namespace areal::media {

using RangeTable = std::array<std::uint8_t, 256>;

// Luma is the video's own Y' (BT.601 or 709 as the stream says, 601 by default), expanded to 0..255 if the stream has
// limited range: the same as `ffmpeg -pix_fmt gray`. A video stored as RGB gets the luma of a picture.
class Converter {
 public:
  Converter(std::string name, const ReadOptions& options) : name_(std::move(name)), options_(options) {}

  // Fills `pixels`, which is reused if it fits.
  void convert(const AVFrame& frame, Array& pixels);

  // True if the first plane of the frame is its luma, one byte a pixel, and convert() would give `range` of it (null:
  // the byte itself). `format` is the format of its pixels when the CPU decodes; the plane may lie on a device.
  bool takes_plane(const AVFrame& frame, AVPixelFormat format, std::shared_ptr<const RangeTable>& range);

 private:
  // Everything that the table depends on.
  struct Kind {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    int width = 0;
    AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
    AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  void measure_range(const Kind& kind);

  std::string name_;
  ReadOptions options_;
  Scaler scaler_;
  std::vector<std::uint8_t> rows_;
  Kind kind_;
  bool is_table_ = false;
  std::shared_ptr<const RangeTable> range_;
};

}  // namespace areal::media
