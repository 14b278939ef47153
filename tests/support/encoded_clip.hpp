#pragma once
// Small videos encoded by FFmpeg's libraries, for tests of what reads them.

#include <gtest/gtest.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

namespace areal::test {

struct ClipOptions {
  std::string encoder = "ffv1";
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  AVColorRange range = AVCOL_RANGE_UNSPECIFIED;
  AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
  int width = 130, height = 50, frames = 4;
  int key_every = 10, b_frames = 0;
  std::string private_options;  // "preset=ultrafast:sc_threshold=0"
};

// Every sample from the seed: bytes, or words of the format's depth.
inline void fill_randomly(AVFrame& frame, std::uint64_t& state) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const bool words = format->comp[0].depth > 8;
  const auto mask = static_cast<std::uint16_t>((1u << format->comp[0].depth) - 1) << format->comp[0].shift;
  for (const AVBufferRef* buffer : frame.buf)
    for (std::size_t i = 0; buffer && i + 1 < static_cast<std::size_t>(buffer->size); i += 2) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      auto word = static_cast<std::uint16_t>(state >> 40);
      if (words) word = static_cast<std::uint16_t>(word & mask);
      buffer->data[i] = static_cast<std::uint8_t>(word);
      buffer->data[i + 1] = static_cast<std::uint8_t>(word >> 8);
    }
}

// Writes the clip at 25 frames/s, in the container of the path's extension. `draw` fills frame n; all of its samples
// come from the seed otherwise. False if this FFmpeg lacks the encoder or refuses the format.
inline bool encode_clip(const std::filesystem::path& path, const ClipOptions& options, std::uint64_t seed,
                        const std::function<void(AVFrame&, int)>& draw = {}) {
  av_log_set_level(AV_LOG_QUIET);
  const AVCodec* encoder = avcodec_find_encoder_by_name(options.encoder.c_str());
  if (!encoder) return false;
  AVFormatContext* file = nullptr;
  avformat_alloc_output_context2(&file, nullptr, nullptr, path.c_str());
  if (!file) return false;
  AVCodecContext* codec = avcodec_alloc_context3(encoder);
  codec->width = options.width;
  codec->height = options.height;
  codec->pix_fmt = options.format;
  codec->color_range = options.range;
  codec->colorspace = options.space;
  codec->time_base = {1, 25};
  codec->framerate = {25, 1};
  codec->gop_size = options.key_every;
  codec->max_b_frames = options.b_frames;
  codec->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
  codec->thread_count = 1;
  if (file->oformat->flags & AVFMT_GLOBALHEADER) codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  AVDictionary* extra = nullptr;
  av_dict_parse_string(&extra, options.private_options.c_str(), "=", ":", 0);
  bool good = avcodec_open2(codec, encoder, &extra) >= 0;
  av_dict_free(&extra);
  AVStream* stream = avformat_new_stream(file, nullptr);
  if (good) {
    avcodec_parameters_from_context(stream->codecpar, codec);
    stream->time_base = codec->time_base;
    stream->avg_frame_rate = codec->framerate;
    good = avio_open(&file->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0 && avformat_write_header(file, nullptr) >= 0;
  }
  AVPacket* packet = av_packet_alloc();
  for (int n = 0; good && n <= options.frames; ++n) {
    AVFrame* frame = nullptr;
    if (n < options.frames) {
      frame = av_frame_alloc();
      frame->format = options.format;
      frame->width = options.width;
      frame->height = options.height;
      frame->color_range = options.range;
      frame->colorspace = options.space;
      frame->pts = n;
      av_frame_get_buffer(frame, 0);
      if (draw)
        draw(*frame, n);
      else
        fill_randomly(*frame, seed);
    }
    good = avcodec_send_frame(codec, frame) >= 0;
    av_frame_free(&frame);
    while (good && avcodec_receive_packet(codec, packet) == 0) {
      packet->stream_index = stream->index;
      packet->duration = 1;
      av_packet_rescale_ts(packet, codec->time_base, stream->time_base);
      good = av_interleaved_write_frame(file, packet) >= 0;
    }
  }
  if (good) good = av_write_trailer(file) >= 0;
  av_packet_free(&packet);
  avcodec_free_context(&codec);
  if (file->pb) avio_closep(&file->pb);
  avformat_free_context(file);
  return good;
}

}  // namespace areal::test
