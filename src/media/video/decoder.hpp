#pragma once
// Decoded frames in presentation order, up to the first damage or past it.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>
#include "media/media.hpp"
#include "media/video/container.hpp"
#include "media/video/nvdec.hpp"

namespace areal::media {

class Decoder {
 public:
  // Uses NVDEC if options.decode_on names a device where it can be tried; nvdec() and why_not() say so. Whether it does
  // decode is known with the first frame, which is_on_device() then.
  Decoder(const std::string& name, const ReadOptions& options, int most_held = 0);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const AVStream& stream() const { return container_.stream(); }
  // The next frame; false at the end, or at damage that is not to be skipped.
  bool next(AVFrame& frame);
  // True if frames were lost between the last two that next() gave, or before the first.
  bool resumed() const { return resumed_; }
  // The first damage that was found; empty if there is none.
  const std::string& damage() const { return damage_; }

  // Null if the CPU decodes from the start.
  const Nvdec* nvdec() const { return nvdec_.get(); }
  const std::string& why_not() const { return nvdec_ ? nvdec_->why_not() : why_not_; }
  static bool is_on_device(const AVFrame& frame) { return frame.format == AV_PIX_FMT_CUDA; }
  // The format of its pixels when the CPU decodes.
  AVPixelFormat pixel_format(const AVFrame& frame) const {
    return is_on_device(frame) ? codec_->sw_pix_fmt : static_cast<AVPixelFormat>(frame.format);
  }

 private:
  enum class Step { frame, damage, end };
  struct Ahead {
    AvFrame frame;
    std::int64_t serial;
    bool is_key, resumes;
  };

  void open(const ReadOptions& options, int most_held);
  Step step(AVFrame& frame);
  int feed();
  void note_damage(const std::string& what);
  void label(AVPacket& packet);
  bool next_past_damage(AVFrame& frame);
  bool is_first_sure() const;
  void look_ahead();
  bool is_of_first_size(const AVFrame& frame);

  std::string name_;
  bool skip_damage_;
  Container container_;
  std::unique_ptr<Nvdec> nvdec_;  // outlives codec_, which calls it
  std::string why_not_;
  CodecContext codec_;
  Packet packet_ = new_packet();
  bool input_ended_ = false, ended_ = false, resumed_ = false;
  std::string damage_;

  // Packets are numbered as they are read; a frame carries the number of its own. A frame is whole if no packet between
  // the key frame presented before it and its own was damaged.
  std::int64_t serial_ = 0;
  std::vector<std::int64_t> damaged_, awaited_;  // packets after that key frame: damaged; not known yet
  std::deque<Ahead> ahead_;                      // frames that one decoded earlier can still prove bad
  std::vector<AvFrame> spare_;
  int width_ = 0, height_ = 0;
  int failures_ = 0;  // in a row
};

}  // namespace areal::media
