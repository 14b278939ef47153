#include "media/video/nvdec.hpp"
#include <dlfcn.h>
#include <algorithm>

namespace areal::media {
namespace {

// cuvidCreateDecoder may refuse more.
constexpr int most_surfaces = 32;
// Added to the pool's size that FFmpeg reports, as in nvdec.c.
constexpr int surfaces_of_ffmpeg = 3;

bool has_hwaccel(const AVCodec& decoder) {
  for (int i = 0;; ++i) {
    const AVCodecHWConfig* config = avcodec_get_hw_config(&decoder, i);
    if (!config) return false;
    if (config->device_type == AV_HWDEVICE_TYPE_CUDA && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
      return true;
  }
}

// FFmpeg checks only the format of the pixels; lossless H.264, for one, has these profiles' format and another profile.
bool has_profile(const AVCodecContext& codec) {
  const int profile = codec.profile & 0xff;  // the standards' number: FFmpeg adds flags to it
  if (codec.codec_id == AV_CODEC_ID_H264) return profile == 66 || profile == 77 || profile == 100;  // up to High
  return profile == 1;                                                                              // Main
}

std::string name_of_profile(const AVCodecContext& codec) {
  const char* name = avcodec_profile_name(codec.codec_id, codec.profile);
  return name ? name : "another profile";
}

}  // namespace

std::unique_ptr<Nvdec> Nvdec::find(const AVCodec& decoder, int device, int wanted, std::string& why_not) {
  if (decoder.id != AV_CODEC_ID_H264 && decoder.id != AV_CODEC_ID_HEVC) {
    why_not = std::string("it is coded as ") + avcodec_get_name(decoder.id) + ", and NVDEC is used for h264 and hevc";
    return nullptr;
  }
  if (!has_hwaccel(decoder)) {
    why_not = std::string("this FFmpeg has no NVDEC for ") + avcodec_get_name(decoder.id);
    return nullptr;
  }
  std::shared_ptr<CudaStream> stream = CudaStream::open(device, why_not);
  if (!stream) return nullptr;
  // FFmpeg opens it too, but does not report that it is missing. Containers have it with
  // NVIDIA_DRIVER_CAPABILITIES=video.
  static void* const cuvid = ::dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!cuvid) {
    why_not = "the NVIDIA driver has no NVDEC here (libnvcuvid.so.1)";
    return nullptr;
  }
  BufferRef hardware = stream->hardware_device(why_not);
  if (!hardware) return nullptr;
  return std::unique_ptr<Nvdec>(new Nvdec(std::move(stream), std::move(hardware), wanted));
}

void Nvdec::attach(AVCodecContext& codec) {
  codec.hw_device_ctx = av_buffer_ref(device_.get());
  if (!codec.hw_device_ctx) throw std::bad_alloc();
  codec.opaque = this;
  codec.get_format = &Nvdec::choose;
  codec.thread_count = 1;  // more would only hold more surfaces
}

// FFmpeg calls it again without AV_PIX_FMT_CUDA if NVDEC cannot be set up. FFmpeg is C: no exception may pass it.
AVPixelFormat Nvdec::choose(AVCodecContext* codec, const AVPixelFormat* choices) noexcept {
  auto& self = *static_cast<Nvdec*>(codec->opaque);
  const AVPixelFormat* last = choices;
  while (last[0] != AV_PIX_FMT_NONE && last[1] != AV_PIX_FMT_NONE) ++last;
  bool offered = false;
  for (const AVPixelFormat* choice = choices; choice <= last; ++choice) offered |= *choice == AV_PIX_FMT_CUDA;
  try {
    if (self.takes(*codec, offered)) {
      self.tried_ = true;
      return AV_PIX_FMT_CUDA;
    }
  } catch (...) {
    self.why_not_ = "no memory";  // short enough for a string without an allocation
  }
  return *last;  // FFmpeg's own
}

bool Nvdec::takes(AVCodecContext& codec, bool offered) {
  const bool is_8_bit_420 = codec.sw_pix_fmt == AV_PIX_FMT_YUV420P || codec.sw_pix_fmt == AV_PIX_FMT_YUVJ420P;
  if (!is_8_bit_420 || !has_profile(codec)) {
    is_format_ = true;
    why_not_ = is_8_bit_420
                   ? name_of_profile(codec) + " is not decoded by NVDEC"
                   : std::string("its pixels are ") + av_get_pix_fmt_name(codec.sw_pix_fmt) + ", not 8-bit 4:2:0";
    return false;
  }
  if (!offered) {
    why_not_ = tried_ ? "NVDEC refuses a video of " + std::to_string(codec.coded_width) + "x" +
                            std::to_string(codec.coded_height)
                      : "this FFmpeg has no NVDEC for its pixels";
    return false;
  }
  codec.extra_hw_frames = 0;
  AVBufferRef* raw = nullptr;
  if (const int status = avcodec_get_hw_frames_parameters(&codec, codec.hw_device_ctx, AV_PIX_FMT_CUDA, &raw);
      status < 0) {
    why_not_ = "FFmpeg cannot set NVDEC up (" + words_for(status) + ")";
    return false;
  }
  const BufferRef frames(raw);
  const int own = reinterpret_cast<const AVHWFramesContext*>(frames->data)->initial_pool_size + surfaces_of_ffmpeg;
  most_held_ = std::min(wanted_, most_surfaces - own);
  codec.extra_hw_frames = most_held_;
  if (most_held_ >= 2) return true;
  why_not_ = "it takes " + std::to_string(own) + " of NVDEC's " + std::to_string(most_surfaces) + " surfaces";
  return false;
}

}  // namespace areal::media
