#pragma once
// Owners of FFmpeg's objects.

#include <memory>
#include <new>
#include <string>
#include "media/file_error.hpp"
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace areal::media {

template <class T, void (*release)(T**)>
struct Release {
  void operator()(T* p) const { release(&p); }
};
using FormatContext = std::unique_ptr<AVFormatContext, Release<AVFormatContext, avformat_close_input>>;
using CodecContext = std::unique_ptr<AVCodecContext, Release<AVCodecContext, avcodec_free_context>>;
using Packet = std::unique_ptr<AVPacket, Release<AVPacket, av_packet_free>>;
using AvFrame = std::unique_ptr<AVFrame, Release<AVFrame, av_frame_free>>;
struct FreeScaler {
  void operator()(SwsContext* p) const { sws_freeContext(p); }
};
using Scaler = std::unique_ptr<SwsContext, FreeScaler>;

inline Packet new_packet() {
  Packet out(av_packet_alloc());
  if (!out) throw std::bad_alloc();
  return out;
}
inline AvFrame new_frame() {
  AvFrame out(av_frame_alloc());
  if (!out) throw std::bad_alloc();
  return out;
}

inline std::string words_for(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return printable(text);
}

}  // namespace areal::media
