// Frames without headers, one after another, from a file or a pipe.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include "media/file_error.hpp"
#include "media/held_pool.hpp"
#include "media/input_file.hpp"
#include "media/media.hpp"

namespace areal::media {
namespace {

// 16..235 expanded to 0..255 in swscale's arithmetic, so that the luma of raw frames is that of a video.
constexpr std::array<std::uint8_t, 256> limited_range = [] {
  std::array<std::uint8_t, 256> out{};
  for (int v = 0; v < 256; ++v) {
    const int wide = (std::min(v << 7, 30189) * 19077 - 39057361) >> 14;
    out[static_cast<std::size_t>(v)] = static_cast<std::uint8_t>(std::clamp((wide + 64) >> 7, 0, 255));
  }
  return out;
}();

struct HeldBytes {
  Array bytes;
  void reset() noexcept {}
};

class RawVideo : public Video {
 public:
  RawVideo(InputFile file, const RawFrames& frames, std::uint64_t memory_limit)
      : file_(std::move(file)),
        shape_{frames.width, frames.height},
        type_(frames.type),
        is_nv12_(frames.is_nv12),
        range_(frames.is_nv12 && frames.is_limited ? &limited_range : nullptr) {
    if (shape_.width <= 0 || shape_.height <= 0)
      refuse(file_.name(), "raw frames of ", shape_.width, "x", shape_.height, " hold no pixel");
    if (is_nv12_ && shape_.height % 2 != 0)
      refuse(file_.name(), "an nv12 frame is ", shape_.height,
             " rows high; the number must be even, since a row of chroma serves two");
    if (is_nv12_ && type_ != Type::u8) refuse(file_.name(), "nv12 frames are of 8u, not ", name_of(type_));
    frame_bytes_ = bytes_of(shape_, type_);
    // Chroma: a pair of bytes for two columns, in half the rows.
    if (is_nv12_) frame_bytes_ += bytes_of({shape_.width + shape_.width % 2, shape_.height / 2}, Type::u8);
    require_memory(file_.name(), frame_bytes_, memory_limit);
  }

  bool next(LumaFrame& frame) override {
    frame = {};
    const std::shared_ptr<HeldBytes> held = read();
    if (!held) return false;
    frame.pixels = ConstView(held->bytes.data(), type_, shape_);
    frame.range = range_;
    frame.keep = held;
    frame.number = number_++;
    return true;
  }
  bool next(Frame& frame) override {
    LumaFrame luma;
    if (!next(luma)) return false;
    if (frame.pixels.shape() != shape_ || frame.pixels.type() != type_) frame.pixels = Array(shape_, type_);
    std::memcpy(frame.pixels.data(), luma.pixels.data, frame.pixels.bytes());
    if (range_) {
      std::uint8_t* const out = frame.pixels.as<std::uint8_t>();
      std::transform(out, out + frame.pixels.bytes(), out, [this](std::uint8_t v) { return (*range_)[v]; });
    }
    frame.number = luma.number;
    frame.seconds = luma.seconds;
    return true;
  }
  std::int64_t width() const override { return shape_.width; }
  std::int64_t height() const override { return shape_.height; }
  double frames_per_second() const override { return 0; }
  std::optional<std::int64_t> frame_count() const override {
    if (!file_.size()) return std::nullopt;
    return static_cast<std::int64_t>(*file_.size() / frame_bytes_);
  }
  std::string damage() const override { return damage_; }

 private:
  // The next complete frame; null at the end, and for a truncated frame.
  std::shared_ptr<HeldBytes> read() {
    if (ended_) return nullptr;
    std::shared_ptr<HeldBytes> held = pool_.take();
    if (held->bytes.bytes() != frame_bytes_)
      held->bytes = Array(Shape{static_cast<std::int64_t>(frame_bytes_), 1}, Type::u8);
    const std::size_t got = file_.read(held->bytes.data(), held->bytes.bytes());
    if (got == frame_bytes_) return held;
    ended_ = true;
    if (got > 0)
      damage_ = file_.name() + ": is damaged or truncated after " + std::to_string(number_) +
                " frames (the last frame is cut: " + std::to_string(got) + " of " + std::to_string(frame_bytes_) +
                " bytes)";
    return nullptr;
  }

  InputFile file_;
  Shape shape_;
  Type type_;
  bool is_nv12_;
  const std::array<std::uint8_t, 256>* range_;
  std::uint64_t frame_bytes_ = 0;
  HeldPool<HeldBytes> pool_;
  std::int64_t number_ = 0;
  bool ended_ = false;
  std::string damage_;
};

}  // namespace

RawFrames parse_raw_frames(std::string_view text) {
  const auto refused = [&](const auto&... why) { refuse("raw frames '" + printable(text, 60) + "'", why...); };
  RawFrames out;
  std::string_view rest = text;
  for (std::int64_t* extent : {&out.width, &out.height}) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), *extent);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc{} || digits >= rest.size() || rest[digits] != 'x')
      refused("must be WxHxTYPE, for example 1920x1080x8u or 1920x1080xnv12");
    if (*extent <= 0) refused("its width and height must be at least 1");
    rest.remove_prefix(digits + 1);
  }
  out.is_nv12 = rest == "nv12";
  const std::optional<Type> type = type_named(rest);
  if (!out.is_nv12 && !type)
    refused(printable(rest, 20),
            " is not a type; it may be 8u, 8s, 16u, 16s, 32u, 32s, 64u, 64s, 16f, 32f, 64f or nv12");
  if (type) out.type = *type;
  return out;
}

std::unique_ptr<Video> open_raw(const fs::path& path, const RawFrames& frames, std::uint64_t memory_limit) {
  return std::make_unique<RawVideo>(InputFile(path), frames, memory_limit);
}

std::unique_ptr<Video> open_raw(std::FILE* stream, const std::string& name, const RawFrames& frames,
                                std::uint64_t memory_limit) {
  return std::make_unique<RawVideo>(InputFile(stream, name), frames, memory_limit);
}

}  // namespace areal::media
