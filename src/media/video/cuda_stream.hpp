#pragma once
// A stream on a CUDA device for FFmpeg's hwaccel, and events in it. It is in the device's primary context, which is the
// CUDA runtime's, so its memory is what kernels of areal read. libcuda is opened at run time; no CUDA header is needed.

#include <memory>
#include <string>
#include "media/video/libav.hpp"
extern "C" {
#include <libavutil/hwcontext.h>
}

namespace areal::media {

struct BufferUnref {
  void operator()(AVBufferRef* p) const { av_buffer_unref(&p); }
};
using BufferRef = std::unique_ptr<AVBufferRef, BufferUnref>;

class CudaStream : public std::enable_shared_from_this<CudaStream> {
 public:
  // Null without the device or the driver; `why_not` then says so.
  static std::shared_ptr<CudaStream> open(int device, std::string& why_not);
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  int device() const { return device_; }
  // An AVHWDeviceContext of this stream, which owns a reference to it; null, with a sentence, if FFmpeg has none.
  BufferRef hardware_device(std::string& why_not);

  // A point in a stream.
  class Event {
   public:
    Event() = default;
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    // Marks the point after all work queued so far. Throws DeviceError.
    void record(const std::shared_ptr<CudaStream>& stream);
    // Blocks until the work before the point is complete. From any thread. Throws DeviceError.
    void wait() const;

   private:
    std::shared_ptr<CudaStream> stream_;
    void* handle_ = nullptr;
  };

 private:
  class Current;
  CudaStream(int device, void* context, void* handle) : device_(device), context_(context), handle_(handle) {}

  int device_;
  void* context_;  // CUcontext
  void* handle_;   // CUstream
};

}  // namespace areal::media
