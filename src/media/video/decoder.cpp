#include "media/video/decoder.hpp"
#include <algorithm>
#include <utility>

namespace areal::media {
namespace {

// A decoder or a demuxer that fails so often without a frame or a packet between will not recover.
constexpr int most_failures = 1000;
// H.264 and H.265 present at most 16 frames before one that was decoded earlier.
constexpr std::size_t most_ahead = 16;

bool is_key(const AVFrame& frame) {
#ifdef AV_FRAME_FLAG_KEY
  return (frame.flags & AV_FRAME_FLAG_KEY) != 0;
#else
  return frame.key_frame != 0;
#endif
}

std::int64_t serial_of(const AVFrame& frame) {
#if LIBAVCODEC_VERSION_MAJOR >= 60
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(frame.opaque));
#else
  return frame.reordered_opaque;
#endif
}

// FFmpeg crops a device's frames only at the right and at the bottom. Of the planes, luma is cropped.
void crop(AVFrame& frame) {
  frame.data[0] += static_cast<std::ptrdiff_t>(frame.crop_top) * frame.linesize[0] + frame.crop_left;
  frame.width -= static_cast<int>(frame.crop_left);
  frame.height -= static_cast<int>(frame.crop_top);
  frame.crop_left = frame.crop_top = 0;
}

}  // namespace

Decoder::Decoder(const std::string& name, const ReadOptions& options, int most_held)
    : name_(name), skip_damage_(options.skip_damage), container_(name) {
  open(options, most_held);
}

void Decoder::open(const ReadOptions& options, int most_held) {
  const AVCodec* const decoder = avcodec_find_decoder(stream().codecpar->codec_id);
  if (!decoder)
    fail(name_, "its video is coded as ", avcodec_get_name(stream().codecpar->codec_id),
         ", which this FFmpeg cannot decode");
  codec_.reset(avcodec_alloc_context3(decoder));
  if (!codec_) throw std::bad_alloc();
  if (const int status = avcodec_parameters_to_context(codec_.get(), stream().codecpar); status < 0)
    fail(name_, "is damaged: its video stream cannot be described (", words_for(status), ")");
  codec_->pkt_timebase = stream().time_base;
  codec_->thread_count = options.threads;
#ifdef __SANITIZE_THREAD__
  // A distribution's FFmpeg is not instrumented: ThreadSanitizer cannot see how its threads synchronise.
  codec_->thread_count = 1;
#endif
  if (skip_damage_) {
    // With frame threads an error cannot be attributed to a packet; with slice threads H.264 leaves errors undetected.
    codec_->thread_count = 1;
#if LIBAVCODEC_VERSION_MAJOR >= 60
    codec_->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
#endif
  }
  codec_->flags |= AV_CODEC_FLAG_UNALIGNED;  // cropped exactly, not to a place that suits vectors
  if (options.decode_on) nvdec_ = Nvdec::find(*decoder, *options.decode_on, most_held, why_not_);
  if (nvdec_) nvdec_->attach(*codec_);
  const std::uint64_t limit = options.memory_limit ? options.memory_limit : free_memory();
  codec_->max_pixels = static_cast<std::int64_t>(std::min<std::uint64_t>(limit / 4, INT32_MAX));
  if (const int status = avcodec_open2(codec_.get(), decoder, nullptr); status < 0)
    fail(name_, "its video cannot be decoded (", words_for(status), ")");
}

void Decoder::note_damage(const std::string& what) {
  if (damage_.empty()) damage_ = what;
}

void Decoder::label(AVPacket& packet) {
  ++serial_;
  if (skip_damage_) awaited_.push_back(serial_);
#if LIBAVCODEC_VERSION_MAJOR >= 60
  packet.opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(serial_));
#else
  (void)packet;
  codec_->reordered_opaque = serial_;
#endif
}

// Gives the decoder one more packet, or signals the end. Returns the decoder's result.
int Decoder::feed() {
  while (true) {
    std::string what;
    const Container::Next next = container_.next(*packet_, what);
    if (next == Container::Next::packet) {
      failures_ = 0;
      label(*packet_);
      const int sent = avcodec_send_packet(codec_.get(), packet_.get());
      av_packet_unref(packet_.get());
      return sent;
    }
    if (!what.empty()) note_damage(what);
    if (next == Container::Next::damage && skip_damage_ && ++failures_ < most_failures) {
      damaged_.push_back(++serial_);
      damaged_.push_back(serial_ + 1);  // a transport stream's parser can flag the packet before the one that is cut
      continue;
    }
    input_ended_ = true;
    return avcodec_send_packet(codec_.get(), nullptr);  // drain buffered frames
  }
}

// The decoder's next result. Damage leaves `frame` empty, unless it is an incomplete frame.
Decoder::Step Decoder::step(AVFrame& frame) {
  while (true) {
    const int status = avcodec_receive_frame(codec_.get(), &frame);
    if (status == 0) {
      if (is_on_device(frame)) crop(frame);
      if (frame.decode_error_flags == 0 && !(frame.flags & AV_FRAME_FLAG_CORRUPT)) return Step::frame;
      note_damage("a frame could not be decoded whole");
      return Step::damage;
    }
    if (status == AVERROR_EOF) return Step::end;
    int sent = status;
    if (status == AVERROR(EAGAIN) && !input_ended_) sent = feed();
    if (sent < 0 && sent != AVERROR_EOF) {
      note_damage(words_for(sent));
      return Step::damage;
    }
  }
}

bool Decoder::next(AVFrame& frame) {
  if (skip_damage_) return next_past_damage(frame);
  if (!ended_) ended_ = step(frame) != Step::frame;
  return !ended_;
}

// The first frame ahead is final once those of all packets before its own are known.
bool Decoder::is_first_sure() const {
  if (ahead_.empty()) return false;
  const std::int64_t serial = ahead_.front().serial;
  return ahead_.size() > most_ahead ||
         std::none_of(awaited_.begin(), awaited_.end(), [&](std::int64_t at) { return at < serial; });
}

bool Decoder::next_past_damage(AVFrame& frame) {
  while (!ended_ && !is_first_sure()) look_ahead();
  if (ahead_.empty()) return false;
  Ahead& first = ahead_.front();
  av_frame_unref(&frame);
  av_frame_move_ref(&frame, first.frame.get());
  resumed_ = first.resumes;
  spare_.push_back(std::move(first.frame));
  ahead_.pop_front();
  return true;
}

// Damage may lie about a frame's size.
bool Decoder::is_of_first_size(const AVFrame& frame) {
  if (width_ == 0) {
    width_ = frame.width;
    height_ = frame.height;
  }
  if (frame.width == width_ && frame.height == height_) return true;
  note_damage("a frame is " + std::to_string(frame.width) + "x" + std::to_string(frame.height) +
              ", but those before it are " + std::to_string(width_) + "x" + std::to_string(height_));
  return false;
}

// Reads one more frame, if it is whole, or records the damage.
void Decoder::look_ahead() {
  AvFrame frame;
  if (spare_.empty()) {
    frame = new_frame();
  } else {
    frame = std::move(spare_.back());
    spare_.pop_back();
  }
  const Step step = this->step(*frame);
  if (step == Step::end || (step == Step::damage && ++failures_ >= most_failures)) {
    ended_ = true;
  } else if (step == Step::frame && is_of_first_size(*frame)) {
    failures_ = 0;
    const std::int64_t serial = serial_of(*frame);
    std::erase(awaited_, serial);
    const bool key = is_key(*frame);
    const auto is_before = [&](std::int64_t at) { return at < serial; };
    const bool is_bad = std::find(damaged_.begin(), damaged_.end(), serial) != damaged_.end();
    const bool lost = is_bad || std::any_of(damaged_.begin(), damaged_.end(), is_before);
    if (key) {  // nothing decoded before it is presented after it
      std::erase_if(damaged_, is_before);
      std::erase_if(awaited_, is_before);
    }
    if ((key && !is_bad) || !lost) {
      ahead_.push_back({std::move(frame), serial, key, key && lost});
      return;
    }
  } else {
    // An error belongs to the packet sent last; an incomplete frame has its own, and spoils those decoded later.
    const bool has_frame = frame->buf[0] != nullptr;
    const std::int64_t serial = has_frame ? serial_of(*frame) : serial_;
    damaged_.push_back(serial);
    std::erase(awaited_, serial);
    std::erase_if(ahead_, [&](const Ahead& other) { return other.serial > serial && !other.is_key; });
  }
  av_frame_unref(frame.get());
  spare_.push_back(std::move(frame));
}

}  // namespace areal::media
