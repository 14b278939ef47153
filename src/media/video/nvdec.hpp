#pragma once
// H.264 and H.265 on a CUDA device's NVDEC, by FFmpeg's hwaccel. Their standards define each decoded byte, so the CPU
// gives the same; other codecs need not.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include "media/media.hpp"
#include "media/video/cuda_stream.hpp"

namespace areal::media {

class Nvdec {
 public:
  // Null if NVDEC cannot be tried for that decoder; `why_not` then says why. `wanted`: frames held at once.
  static std::unique_ptr<Nvdec> find(const AVCodec& decoder, int device, int wanted, std::string& why_not);

  // Sets the context up, before avcodec_open2. This object must outlive it.
  void attach(AVCodecContext& codec);

  const std::shared_ptr<CudaStream>& stream() const { return stream_; }
  // The most frames held at once: the wanted number, limited by NVDEC's surfaces. Known with the first frame.
  int most_held() const { return most_held_; }
  // Why FFmpeg decodes on the CPU after all, and whether the format of this stream's pictures is the reason.
  const std::string& why_not() const { return why_not_; }
  bool is_format() const { return is_format_; }

 private:
  Nvdec(std::shared_ptr<CudaStream> stream, BufferRef device, int wanted)
      : stream_(std::move(stream)), device_(std::move(device)), wanted_(wanted) {}
  static AVPixelFormat choose(AVCodecContext* codec, const AVPixelFormat* choices) noexcept;
  bool takes(AVCodecContext& codec, bool offered);

  std::shared_ptr<CudaStream> stream_;
  BufferRef device_;
  int wanted_, most_held_ = 0;
  bool is_format_ = false, tried_ = false;
  std::string why_not_;
};

// Counts the held frames. Decoding one more waits until there is a surface for it.
class HeldCount {
 public:
  // One more; waits while there are `most`. False once stopped.
  bool enter(int most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || held_ < most; });
    held_ += !stopped_;
    return !stopped_;
  }
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    --held_;
    changed_.notify_all();
  }
  // Ends all waits.
  void stop() noexcept {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int held_ = 0;
  bool stopped_ = false;
};

}  // namespace areal::media
