// Video through FFmpeg's libav*: one controlling thread, every frame once, in presentation order.
#include <algorithm>
#include <areal/version.hpp>
#include <cmath>
#include <utility>
#include "media/held_pool.hpp"
#include "media/plugin.hpp"
#include "media/video/converter.hpp"
#include "media/video/decoder.hpp"
#include "media/video/writer.hpp"

namespace areal::media {
namespace {

// What a LumaFrame keeps: the decoder's plane and its table, or pixels that were converted.
struct HeldFrame {
  AvFrame plane = new_frame();
  std::shared_ptr<const RangeTable> range;
  Array converted;
  void reset() noexcept {
    av_frame_unref(plane.get());
    range.reset();
  }
};

const ReadOptions& checked(const std::string& name, const ReadOptions& options) {
  if (options.colour == Colour::channel && (options.channel < 0 || options.channel > 2))
    refuse(name, "channel ", options.channel, " does not exist: a video has 3 channels (R, G, B), counted from 0");
  if (options.threads < 0) refuse(name, options.threads, " threads cannot decode it; 0 are as many as there are cores");
  return options;
}

class VideoFile : public Video {
 public:
  VideoFile(const fs::path& path, const ReadOptions& options)
      : name_(path.string()),
        decoder_(name_, checked(name_, options)),
        converter_(name_, options),
        skip_damage_(options.skip_damage) {
    // Decodes the first frame now: it gives the size, and a video without frames is refused at once.
    has_first_ = decoder_.next(*frame_);
    if (!has_first_) {
      if (decoder_.damage().empty()) fail(name_, "holds no video frame");
      throw IoError(damage());
    }
    width_ = frame_->width;
    height_ = frame_->height;
    const auto limit = static_cast<std::uint64_t>(width_) * static_cast<std::uint64_t>(height_) * 3;
    require_memory(name_, limit, options.memory_limit);
  }

  bool next(Frame& frame) override {
    if (!advance()) return false;
    converter_.convert(*frame_, frame.pixels);
    frame.seconds = seconds_;
    frame.number = number_++;
    return true;
  }
  bool next(LumaFrame& frame) override {
    frame = {};  // what the caller held of an earlier frame is free for this one
    if (!advance()) return false;
    const std::shared_ptr<HeldFrame> held = pool_.take();
    if (converter_.takes_plane(*frame_, held->range)) {
      frame.pixels = ConstView(frame_->data[0], width_, height_, frame_->linesize[0]);
      frame.range = held->range.get();
      av_frame_move_ref(held->plane.get(), frame_.get());
    } else {
      converter_.convert(*frame_, held->converted);
      frame.pixels = std::as_const(held->converted).view();
    }
    frame.keep = held;
    frame.seconds = seconds_;
    frame.number = number_++;
    return true;
  }
  std::int64_t width() const override { return width_; }
  std::int64_t height() const override { return height_; }
  double frames_per_second() const override {
    const AVStream& stream = decoder_.stream();
    const AVRational rate = stream.avg_frame_rate.num ? stream.avg_frame_rate : stream.r_frame_rate;
    return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
  }
  std::optional<std::int64_t> frame_count() const override {
    const std::int64_t count = decoder_.stream().nb_frames;
    return count > 0 ? std::optional(count) : std::nullopt;
  }
  std::string damage() const override {
    if (decoder_.damage().empty()) return {};
    return name_ + ": is damaged or truncated after " + std::to_string(whole_.value_or(delivered_)) + " frames (" +
           decoder_.damage() + ")";
  }
  std::int64_t resumptions() const override { return resumptions_; }

 private:
  bool advance();
  bool number_frame();

  std::string name_;
  Decoder decoder_;
  AvFrame frame_ = new_frame();
  Converter converter_;
  HeldPool<HeldFrame> pool_;
  bool skip_damage_, has_first_ = false;
  std::int64_t width_ = 0, height_ = 0;
  std::int64_t number_ = 0;  // of the next frame
  double seconds_ = 0;
  std::optional<double> start_;   // of frame 0
  bool is_steady_ = true;         // every frame so far came at a multiple of the frame time
  std::int64_t resumptions_ = 0;  // after damage
  std::int64_t delivered_ = 0;
  std::optional<std::int64_t> whole_;  // frames before the first of them
};

// The next frame, of the size of those before, into frame_; false at the end or at damage.
bool VideoFile::advance() {
  do {
    if (!std::exchange(has_first_, false) && !decoder_.next(*frame_)) return false;
    if (frame_->width != width_ || frame_->height != height_)
      fail(name_, "frame ", number_, " is ", frame_->width, "x", frame_->height, ", but the frames before it are ",
           width_, "x", height_);
  } while (!number_frame());
  return true;
}

// The time of frame_, and its number where that is not the next. False if it comes too late to be presented, as frames
// can after damage.
bool VideoFile::number_frame() {
  const AVStream& stream = decoder_.stream();
  // A decoder's best effort changes its mind after damage; the packet's own time is right.
  const std::int64_t stamp =
      skip_damage_ && frame_->pts != AV_NOPTS_VALUE ? frame_->pts : frame_->best_effort_timestamp;
  const double rate = frames_per_second();
  // Multiplied first: 3 ticks of 1/10 s are 0.3 s, not 0.30000000000000004.
  const auto seconds_of = [&](std::int64_t ticks) {
    return static_cast<double>(ticks) * stream.time_base.num / stream.time_base.den;
  };
  const bool has_time = stamp != AV_NOPTS_VALUE;
  if (has_time)
    seconds_ = seconds_of(stamp);
  else
    seconds_ = rate > 0 ? static_cast<double>(number_) / rate : 0;
  if (skip_damage_) {
    if (!start_) start_ = stream.start_time != AV_NOPTS_VALUE ? seconds_of(stream.start_time) : seconds_;
    const double frames = (seconds_ - *start_) * rate;
    is_steady_ = is_steady_ && has_time && rate > 0 && av_cmp_q(stream.avg_frame_rate, stream.r_frame_rate) == 0 &&
                 std::abs(frames - std::round(frames)) < 0.25;
    if (is_steady_ && frames < static_cast<double>(number_) - 0.5) return false;
    if (decoder_.resumed() && resumptions_++ == 0) whole_ = delivered_;
    if (is_steady_) number_ = std::llround(frames);
  }
  ++delivered_;
  return true;
}

std::unique_ptr<Video> open_file(const fs::path& path, const ReadOptions& options) {
  av_log_set_level(AV_LOG_QUIET);
  return std::make_unique<VideoFile>(path, options);
}

}  // namespace
}  // namespace areal::media

AREAL_PLUGIN_EXPORT const areal::media::VideoPlugin* areal_video_plugin() {
  static const areal::media::VideoPlugin plugin{AREAL_VERSION_STRING, &areal::media::open_file,
                                                &areal::media::open_writer};
  return &plugin;
}
