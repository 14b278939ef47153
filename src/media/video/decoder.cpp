// Video through FFmpeg's libav*: one controlling thread, every frame once, in presentation order.
#include <algorithm>
#include <areal/version.hpp>
#include <cstring>
#include <utility>
#include "media/file_error.hpp"
#include "media/held_pool.hpp"
#include "media/plugin.hpp"
#include "media/video/converter.hpp"
#include "media/video/libav.hpp"
#include "media/video/matroska.hpp"

namespace areal::media {
namespace {

// Demuxers that open other files or the network, or that make a video from text.
bool is_unwanted(const char* demuxer) {
  for (const char* name :
       {"tty", "hls", "concat", "dash", "sdp", "rtsp", "rtp", "imf", "webm_dash_manifest", "ffmetadata"})
    if (std::strcmp(demuxer, name) == 0) return true;
  return false;
}

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

class File : public Video {
 public:
  File(const fs::path& path, const ReadOptions& options)
      : name_(path.string()), options_(options), converter_(name_, options) {
    if (options.colour == Colour::channel && (options.channel < 0 || options.channel > 2))
      refuse(name_, "channel ", options.channel, " does not exist: a video has 3 channels (R, G, B), counted from 0");
    if (options.threads < 0)
      refuse(name_, options.threads, " threads cannot decode it; 0 are as many as there are cores");
    open_file();
    open_decoder();
    // Decodes the first frame now: it gives the size, and a video without frames is refused at once.
    has_first_ = decode();
    if (!has_first_) {
      if (damage_.empty()) fail(name_, "holds no video frame");
      throw IoError(damage());
    }
    width_ = frame_->width;
    height_ = frame_->height;
    const auto limit = static_cast<std::uint64_t>(width_) * static_cast<std::uint64_t>(height_) * 3;
    require_memory(name_, limit, options_.memory_limit);
  }

  bool next(Frame& frame) override {
    if (!advance()) return false;
    converter_.convert(*frame_, frame.pixels);
    frame.seconds = seconds();
    frame.number = number_++;
    return true;
  }
  bool next(LumaFrame& frame) override {
    frame = {};  // what the caller held of an earlier frame is free for this one
    if (!advance()) return false;
    const std::shared_ptr<HeldFrame> held = pool_.take();
    frame.seconds = seconds();
    if (converter_.takes_plane(*frame_, held->range)) {
      frame.pixels = ConstView(frame_->data[0], width_, height_, frame_->linesize[0]);
      frame.range = held->range.get();
      av_frame_move_ref(held->plane.get(), frame_.get());
    } else {
      converter_.convert(*frame_, held->converted);
      frame.pixels = std::as_const(held->converted).view();
    }
    frame.keep = held;
    frame.number = number_++;
    return true;
  }
  std::int64_t width() const override { return width_; }
  std::int64_t height() const override { return height_; }
  double frames_per_second() const override {
    const AVStream* stream = format_->streams[stream_];
    const AVRational rate = stream->avg_frame_rate.num ? stream->avg_frame_rate : stream->r_frame_rate;
    return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
  }
  std::optional<std::int64_t> frame_count() const override {
    const std::int64_t count = format_->streams[stream_]->nb_frames;
    return count > 0 ? std::optional(count) : std::nullopt;
  }
  std::string damage() const override {
    if (damage_.empty()) return {};
    return name_ + ": is damaged or truncated after " + std::to_string(number_) + " frames (" + damage_ + ")";
  }

 private:
  void open_file();
  void open_decoder();
  bool advance();
  double seconds() const;
  bool decode();
  int feed();
  void note_damage(const std::string& what) {
    if (damage_.empty()) damage_ = what;
  }
  void note_missing_packets();

  std::string name_;
  ReadOptions options_;
  FormatContext format_;
  CodecContext codec_;
  Packet packet_ = new_packet();
  AvFrame frame_ = new_frame();
  Converter converter_;
  HeldPool<HeldFrame> pool_;
  int stream_ = 0;
  bool has_first_ = false, input_ended_ = false, drained_ = false;
  std::int64_t width_ = 0, height_ = 0, number_ = 0, packets_ = 0;
  std::string damage_;  // the first problem
};

void File::open_file() {
  // "file:" and the white list: a name such as http://... or concat:a|b is only a file name here.
  const std::string url = "file:" + name_;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);
  AVFormatContext* opened = nullptr;
  const int status = avformat_open_input(&opened, url.c_str(), nullptr, &options);
  av_dict_free(&options);
  if (status < 0) fail(name_, "is not a video that FFmpeg reads (", words_for(status), ")");
  format_.reset(opened);
  if (is_unwanted(format_->iformat->name)) fail(name_, "is not a video file (", format_->iformat->name, ")");
  if (const int found = avformat_find_stream_info(format_.get(), nullptr); found < 0)
    fail(name_, "is damaged: its streams could not be read (", words_for(found), ")");
}

void File::open_decoder() {
  const AVCodec* decoder = nullptr;
  stream_ = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (stream_ < 0 || (format_->streams[stream_]->disposition & AV_DISPOSITION_ATTACHED_PIC))
    fail(name_, "holds no video stream");
  const AVStream* stream = format_->streams[stream_];
  for (unsigned i = 0; i < format_->nb_streams; ++i)
    if (static_cast<int>(i) != stream_) format_->streams[i]->discard = AVDISCARD_ALL;
  decoder = avcodec_find_decoder(stream->codecpar->codec_id);
  if (!decoder)
    fail(name_, "its video is coded as ", avcodec_get_name(stream->codecpar->codec_id),
         ", which this FFmpeg cannot decode");
  codec_.reset(avcodec_alloc_context3(decoder));
  if (!codec_) throw std::bad_alloc();
  if (const int status = avcodec_parameters_to_context(codec_.get(), stream->codecpar); status < 0)
    fail(name_, "is damaged: its video stream cannot be described (", words_for(status), ")");
  codec_->pkt_timebase = stream->time_base;
#ifdef __SANITIZE_THREAD__
  // A distribution's FFmpeg is not instrumented: ThreadSanitizer cannot see how its threads synchronise.
  codec_->thread_count = 1;
#else
  codec_->thread_count = options_.threads;
#endif
  const std::uint64_t limit = options_.memory_limit ? options_.memory_limit : free_memory();
  codec_->max_pixels = static_cast<std::int64_t>(std::min<std::uint64_t>(limit / 4, INT32_MAX));
  if (const int status = avcodec_open2(codec_.get(), decoder, nullptr); status < 0)
    fail(name_, "its video cannot be decoded (", words_for(status), ")");
}

// Gives the decoder one more packet, or signals the end. Returns the decoder's result.
int File::feed() {
  while (true) {
    const int status = av_read_frame(format_.get(), packet_.get());
    if (status < 0) {
      if (status != AVERROR_EOF)
        note_damage(words_for(status));
      else
        note_missing_packets();
      input_ended_ = true;
      return avcodec_send_packet(codec_.get(), nullptr);  // drain buffered frames
    }
    if (packet_->stream_index != stream_) {
      av_packet_unref(packet_.get());
      continue;
    }
    ++packets_;
    if (packet_->flags & AV_PKT_FLAG_CORRUPT) {
      // The end of the file cut this packet off; the frames before it are whole.
      av_packet_unref(packet_.get());
      input_ended_ = true;
      note_damage("a packet is cut off");
      return avcodec_send_packet(codec_.get(), nullptr);
    }
    const int sent = avcodec_send_packet(codec_.get(), packet_.get());
    av_packet_unref(packet_.get());
    return sent;
  }
}

int entries_of_index(const AVStream* stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 59
  return avformat_index_get_entries_count(stream);
#else
  return stream->nb_index_entries;
#endif
}

// Containers that end silently with the file: compare with what they declared.
void File::note_missing_packets() {
  const std::string container = format_->iformat->name;
  const AVStream* stream = format_->streams[stream_];
  if (format_->pb && format_->pb->error < 0 && format_->pb->error != AVERROR_EOF)
    note_damage(words_for(format_->pb->error));
  std::int64_t declared = 0;
  if (container == "avi") declared = stream->nb_frames;
  // Not nb_frames: an edit list may leave samples out, the index says which remain.
  if (container.starts_with("mov,")) declared = entries_of_index(stream);
  if (declared > packets_)
    note_damage("it declares " + std::to_string(declared) + " frames and holds " + std::to_string(packets_));
  if (container.starts_with("matroska") && matroska_is_cut(name_)) note_damage("the file ends before its segment does");
}

// The next frame, of the size of those before, into frame_; false at the end or at damage.
bool File::advance() {
  if (!std::exchange(has_first_, false) && !decode()) return false;
  if (frame_->width != width_ || frame_->height != height_)
    fail(name_, "frame ", number_, " is ", frame_->width, "x", frame_->height, ", but the frames before it are ",
         width_, "x", height_);
  return true;
}

double File::seconds() const {
  if (frame_->best_effort_timestamp != AV_NOPTS_VALUE)
    return static_cast<double>(frame_->best_effort_timestamp) * av_q2d(format_->streams[stream_]->time_base);
  const double rate = frames_per_second();
  return rate > 0 ? static_cast<double>(number_) / rate : 0;
}

bool File::decode() {
  while (!drained_) {
    const int status = avcodec_receive_frame(codec_.get(), frame_.get());
    if (status == 0) {
      if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT)) {
        note_damage("a frame could not be decoded whole");
        drained_ = true;
        return false;
      }
      return true;
    }
    if (status == AVERROR_EOF) {
      drained_ = true;
      return false;
    }
    int sent = status;
    if (status == AVERROR(EAGAIN) && !input_ended_) sent = feed();
    if (sent < 0 && sent != AVERROR_EOF) {
      note_damage(words_for(sent));
      drained_ = true;
      return false;
    }
  }
  return false;
}

std::unique_ptr<Video> open_file(const fs::path& path, const ReadOptions& options) {
  av_log_set_level(AV_LOG_QUIET);
  return std::make_unique<File>(path, options);
}

}  // namespace
}  // namespace areal::media

AREAL_PLUGIN_EXPORT const areal::media::VideoPlugin* areal_video_plugin() {
  static const areal::media::VideoPlugin plugin{AREAL_VERSION_STRING, &areal::media::open_file};
  return &plugin;
}
