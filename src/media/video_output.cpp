// The file of a video writer: checked before it is opened, complete or absent.
#include <algorithm>
#include <cmath>
#include "media/file_error.hpp"
#include "media/plugin.hpp"

namespace areal::media {
namespace {

std::string format_of(const fs::path& path) {
  std::string out = path.extension().string();
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  if (out != ".mp4" && out != ".avi" && out != ".mkv")
    refuse(path.string(), "its extension must be .mp4, .avi or .mkv to say which kind of video to write");
  return out;
}

class VideoOutput : public VideoWriter {
 public:
  VideoOutput(const fs::path& path, std::int64_t width, std::int64_t height, double frames_per_second)
      : name_(path.string()), width_(width), height_(height) {
    const std::string format = format_of(path);
    // 16384: the most that x264 takes.
    if (width < 1 || height < 1 || width > 16384 || height > 16384)
      refuse(name_, "frames of ", width, "x", height, " cannot be written; they may be 1x1 to 16384x16384");
    if (!(frames_per_second >= 0.01 && frames_per_second <= 1000))
      refuse(name_, frames_per_second, " frames a second cannot be written; 0.01 to 1000 can");
    const VideoPlugin& plugin = video_plugin();
    file_.emplace(path);
    writer_ = plugin.open_writer(file_->by_descriptor(), format, name_, width, height, frames_per_second);
  }

  void write(const ConstView& picture) override {
    const Shape& s = picture.shape;
    if (!writer_) refuse(name_, "is finished, no frame can be added");
    if (s.width != width_ || s.height != height_)
      refuse(name_, "a frame is ", s.width, "x", s.height, ", but the video is ", width_, "x", height_);
    if (picture.type != Type::u8 || (s.channels != 1 && s.channels != 3) || s.batch != 1)
      refuse(name_, "a frame is of ", name_of(picture.type), " and has channels: ", s.channels,
             "; it must be one picture of 8u with 1 or 3");
    writer_->write(picture);
    ++frames_;
  }
  void finish() override {
    if (!writer_) return;
    if (frames_ == 0) refuse(name_, "a video without frames cannot be written");
    writer_->finish();
    writer_.reset();
    file_->commit();
  }

 private:
  std::string name_;
  std::int64_t width_, height_, frames_ = 0;
  std::optional<OutputFile> file_;
  std::unique_ptr<VideoWriter> writer_;  // closed before the file is removed
};

}  // namespace

std::unique_ptr<VideoWriter> open_video_writer(const fs::path& path, std::int64_t width, std::int64_t height,
                                               double frames_per_second) {
  return std::make_unique<VideoOutput>(path, width, height, frames_per_second);
}

}  // namespace areal::media
