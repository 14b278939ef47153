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

// Frames that NVDEC is ahead of the consumer, including the one that the thread holds.
constexpr int frames_ahead = 4;

// The owner behind a LumaFrame: the decoder's plane and its table, or converted pixels.
struct HeldFrame {
  AvFrame plane = new_frame();
  std::shared_ptr<const RangeTable> range;
  Array converted;
  // Of a plane on a device.
  CudaStream::Event written;
  std::shared_ptr<HeldCount> count;
  void reset() noexcept {
    av_frame_unref(plane.get());
    range.reset();
    if (count) count->leave();
    count.reset();
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
      : name_(path.string()), converter_(name_, checked(name_, options)), skip_damage_(options.skip_damage) {
    // Decodes the first frame now: it gives the size, identifies the decoder, and a video without frames is refused at
    // once.
    ReadOptions on_cpu = options;
    on_cpu.decode_on.reset();
    if (options.decode_on) {
      if (options.colour != Colour::luma || options.skip_damage)
        decoding_.why_not = options.skip_damage ? "NVDEC does not tell what is damaged" : "NVDEC decodes luma alone";
      else
        open_on_device(options);
    }
    if (!decoding_.device) {
      decoder_.emplace(name_, on_cpu);
      has_first_ = decoder_->next(*frame_);
    }
    if (!has_first_) {
      if (decoder_->damage().empty()) fail(name_, "holds no video frame");
      throw IoError(damage());
    }
    width_ = frame_->width;
    height_ = frame_->height;
    const auto limit = static_cast<std::uint64_t>(width_) * static_cast<std::uint64_t>(height_) * 3;
    require_memory(name_, limit, options.memory_limit);
    const AVStream& stream = decoder_->stream();
    const AVRational rate = stream.avg_frame_rate.num ? stream.avg_frame_rate : stream.r_frame_rate;
    rate_ = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
    frame_count_ = stream.nb_frames;
    if (decoding_.device)
      ahead_.emplace([this](LumaFrame& frame) { return decode(frame); }, frames_ahead - 1, [this] { count_->stop(); });
  }

  bool next(Frame& frame) override {
    if (decoding_.device) refuse(name_, "NVDEC decodes it: its frames are read as LumaFrames");
    if (!advance()) return false;
    converter_.convert(*frame_, frame.pixels);
    frame.seconds = seconds_;
    frame.number = number_++;
    return true;
  }
  bool next(LumaFrame& frame) override {
    frame = {};  // frees what the caller held of an earlier frame for this one
    if (!ahead_) return decode(frame);
    if (!ahead_->next(frame)) return false;
    if (!frame.pixels.memory.is_host()) static_cast<const HeldFrame*>(frame.keep.get())->written.wait();
    return true;
  }
  std::int64_t width() const override { return width_; }
  std::int64_t height() const override { return height_; }
  double frames_per_second() const override { return rate_; }
  std::optional<std::int64_t> frame_count() const override {
    return frame_count_ > 0 ? std::optional(frame_count_) : std::nullopt;
  }
  std::string damage() const override {
    if (ahead_ && !ahead_->at_end()) return {};  // the thread is at later frames
    if (decoder_->damage().empty()) return {};
    return name_ + ": is damaged or truncated after " + std::to_string(whole_.value_or(delivered_)) + " frames (" +
           decoder_->damage() + ")";
  }
  std::int64_t resumptions() const override { return resumptions_; }
  Decoding decoding() const override { return decoding_; }

 private:
  void open_on_device(const ReadOptions& options);
  bool decode(LumaFrame& frame);
  bool advance();
  bool number_frame();

  std::string name_;
  std::optional<Decoder> decoder_;
  Decoding decoding_;
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
  double rate_ = 0;
  std::int64_t frame_count_ = 0;
  std::shared_ptr<HeldCount> count_;
  std::optional<ReadAhead<LumaFrame>> ahead_;  // of NVDEC; its thread uses what is above
};

// Tries NVDEC on the first frame. If it does not decode it, the CPU is used.
void VideoFile::open_on_device(const ReadOptions& options) {
  decoder_.emplace(name_, options, options.most_held + frames_ahead);
  const Nvdec* const nvdec = decoder_->nvdec();
  if (nvdec) has_first_ = decoder_->next(*frame_);
  std::shared_ptr<const RangeTable> range;
  if (has_first_ && Decoder::is_on_device(*frame_) &&
      converter_.takes_plane(*frame_, decoder_->pixel_format(*frame_), range)) {
    decoding_.device = options.decode_on;
    count_ = std::make_shared<HeldCount>();
    return;
  }
  decoding_.why_not = decoder_->why_not();
  decoding_.is_format = nvdec && nvdec->is_format();
  if (decoding_.why_not.empty()) decoding_.why_not = "NVDEC gives no frame of it";
  av_frame_unref(frame_.get());
  has_first_ = false;
}

// On a device, the pixels are written when the event of the HeldFrame has happened.
bool VideoFile::decode(LumaFrame& frame) {
  if (count_ && !count_->enter(decoder_->nvdec()->most_held())) return false;
  const std::shared_ptr<HeldFrame> held = pool_.take();
  held->count = count_;
  if (!advance()) return false;
  if (converter_.takes_plane(*frame_, decoder_->pixel_format(*frame_), held->range)) {
    frame.pixels = ConstView(frame_->data[0], width_, height_, frame_->linesize[0]);
    if (Decoder::is_on_device(*frame_)) {
      frame.pixels = frame.pixels.in({MemoryPlace::cuda, *decoding_.device});
      held->written.record(decoder_->nvdec()->stream());
    }
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

// Reads the next frame, of the same size, into frame_; false at the end or at damage.
bool VideoFile::advance() {
  do {
    if (!std::exchange(has_first_, false) && !decoder_->next(*frame_)) return false;
    if (frame_->width != width_ || frame_->height != height_)
      fail(name_, "frame ", number_, " is ", frame_->width, "x", frame_->height, ", but the frames before it are ",
           width_, "x", height_);
  } while (!number_frame());
  return true;
}

// Sets the time of frame_, and its number unless that is the next. False if it is too late to be presented, which
// frames can be after damage.
bool VideoFile::number_frame() {
  const AVStream& stream = decoder_->stream();
  // After damage a decoder's best effort changes; the packet's own time stays right.
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
    if (decoder_->resumed() && resumptions_++ == 0) whole_ = delivered_;
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
