#include "media/video/writer.hpp"
#include <algorithm>
#include <cstring>
#include <utility>
#include "media/video/libav.hpp"

namespace areal::media {
namespace {

struct FreeOutput {
  void operator()(AVFormatContext* file) const {
    if (file->pb) avio_closep(&file->pb);
    avformat_free_context(file);
  }
};

class Writer : public VideoWriter {
 public:
  Writer(const fs::path& where, const std::string& format, std::string name, std::int64_t width, std::int64_t height,
         double frames_per_second)
      : name_(std::move(name)), width_(static_cast<int>(width)), height_(static_cast<int>(height)) {
    open_encoder(format, frames_per_second);
    open_file(where, format);
    picture_->format = AV_PIX_FMT_YUV420P;
    picture_->width = codec_->width;
    picture_->height = codec_->height;
    picture_->color_range = codec_->color_range;
    picture_->colorspace = codec_->colorspace;
    require(av_frame_get_buffer(picture_.get(), 0));
  }

  void write(const ConstView& picture) override {
    convert(picture);
    picture_->pts = number_++;
    encode(picture_.get());
  }

  void finish() override {
    encode(nullptr);
    require(av_write_trailer(file_.get()));
    avio_flush(file_->pb);
    require(file_->pb->error);
    require(avio_closep(&file_->pb));
  }

 private:
  void require(int status) const {
    if (status < 0) fail(name_, "could not be written (", words_for(status), ")");
  }
  void open_encoder(const std::string& format, double frames_per_second);
  void open_file(const fs::path& where, const std::string& format);
  void convert(const ConstView& picture);
  void encode(const AVFrame* frame);

  std::string name_;
  int width_, height_;
  std::unique_ptr<AVFormatContext, FreeOutput> file_;
  CodecContext codec_;
  AVStream* stream_ = nullptr;
  Packet packet_ = new_packet();
  AvFrame picture_ = new_frame();
  Scaler scaler_;
  std::vector<std::uint8_t> padded_;
  std::int64_t number_ = 0;
};

void Writer::open_encoder(const std::string& format, double frames_per_second) {
  const AVCodec* encoder = nullptr;
  for (const char* name : {"libx264", "mpeg4"}) {
    encoder = avcodec_find_encoder_by_name(name);
    if (!encoder) continue;
    codec_.reset(avcodec_alloc_context3(encoder));
    if (!codec_) throw std::bad_alloc();
    codec_->width = width_ + width_ % 2;
    codec_->height = height_ + height_ % 2;
    codec_->pix_fmt = AV_PIX_FMT_YUV420P;
    codec_->color_range = AVCOL_RANGE_MPEG;
    codec_->colorspace = AVCOL_SPC_SMPTE170M;  // as converted: otherwise players guess BT.709 for large frames
    codec_->framerate = av_d2q(frames_per_second, 65535);  // MPEG-4 has 16 bits
    codec_->time_base = av_inv_q(codec_->framerate);
    codec_->gop_size = 48;
    codec_->max_b_frames = 0;  // AVI has no presentation times
    if (format != ".avi") codec_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
#ifdef __SANITIZE_THREAD__
    codec_->thread_count = 1;
#else
    codec_->thread_count = 0;
#endif
    AVDictionary* options = nullptr;
    if (std::strcmp(name, "libx264") == 0) {
      av_dict_set(&options, "preset", "veryfast", 0);
      av_dict_set(&options, "crf", "18", 0);
    } else {
      codec_->flags |= AV_CODEC_FLAG_QSCALE;
      codec_->global_quality = 3 * FF_QP2LAMBDA;
    }
    const int status = avcodec_open2(codec_.get(), encoder, &options);
    av_dict_free(&options);
    if (status >= 0) return;
    fail(name_, "frames of ", width_, "x", height_, " could not be encoded by ", name, " (", words_for(status), ")");
  }
  throw Unavailable(name_ + ": this FFmpeg can encode neither H.264 nor MPEG-4");
}

void Writer::open_file(const fs::path& where, const std::string& format) {
  const char* const muxer = format == ".mkv" ? "matroska" : format == ".avi" ? "avi" : "mp4";
  AVFormatContext* file = nullptr;
  if (avformat_alloc_output_context2(&file, nullptr, muxer, nullptr) < 0 || !file)
    throw Unavailable(name_ + ": this FFmpeg cannot write " + format);
  file_.reset(file);
  stream_ = avformat_new_stream(file, nullptr);
  if (!stream_) throw std::bad_alloc();
  require(avcodec_parameters_from_context(stream_->codecpar, codec_.get()));
  stream_->time_base = codec_->time_base;
  stream_->avg_frame_rate = codec_->framerate;
  const std::string url = "file:" + where.string();
  require(avio_open(&file->pb, url.c_str(), AVIO_FLAG_WRITE));
  require(avformat_write_header(file, nullptr));
}

// Converts the picture to YUV in picture_, repeating the last column and row if a size is odd.
void Writer::convert(const ConstView& picture) {
  const bool gray = picture.shape.channels == 1;
  const int columns = codec_->width, rows = codec_->height, channels = gray ? 1 : 3;
  const int pitch = (columns * channels + 63) / 64 * 64;
  padded_.resize(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(rows) + 64);
  for (int y = 0; y < rows; ++y) {
    std::uint8_t* const row = padded_.data() + static_cast<std::ptrdiff_t>(y) * pitch;
    for (int c = 0; c < channels; ++c) {
      const auto* in = static_cast<const std::uint8_t*>(picture.row(std::min(y, height_ - 1), c));
      for (int x = 0; x < columns; ++x) row[x * channels + c] = in[std::min(x, width_ - 1) * picture.column_pitch()];
    }
  }
  const AVPixelFormat from = gray ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGB24;
  scaler_.reset(sws_getCachedContext(scaler_.release(), columns, rows, from, columns, rows, AV_PIX_FMT_YUV420P,
                                     SWS_BICUBIC | SWS_ACCURATE_RND, nullptr, nullptr, nullptr));
  if (!scaler_) fail(name_, "a frame could not be converted");
  const int* const coefficients = sws_getCoefficients(SWS_CS_SMPTE170M);
  (void)sws_setColorspaceDetails(scaler_.get(), coefficients, 1, coefficients, 0, 0, 1 << 16, 1 << 16);
  // The encoder may still read the picture before.
  require(av_frame_make_writable(picture_.get()));
  const std::uint8_t* const planes[4] = {padded_.data(), nullptr, nullptr, nullptr};
  const int pitches[4] = {pitch, 0, 0, 0};
  if (sws_scale(scaler_.get(), planes, pitches, 0, rows, picture_->data, picture_->linesize) != rows)
    fail(name_, "a frame could not be converted");
}

// Encodes a frame, or flushes the encoder if there is none, and writes the packets that are ready.
void Writer::encode(const AVFrame* frame) {
  require(avcodec_send_frame(codec_.get(), frame));
  while (true) {
    const int status = avcodec_receive_packet(codec_.get(), packet_.get());
    if (status == AVERROR(EAGAIN) || status == AVERROR_EOF) return;
    require(status);
    packet_->stream_index = stream_->index;
    if (packet_->duration == 0) packet_->duration = 1;
    av_packet_rescale_ts(packet_.get(), codec_->time_base, stream_->time_base);
    const int written = av_interleaved_write_frame(file_.get(), packet_.get());
    av_packet_unref(packet_.get());
    require(written);
    require(file_->pb->error);
  }
}

}  // namespace

std::unique_ptr<VideoWriter> open_writer(const fs::path& where, const std::string& format, const std::string& name,
                                         std::int64_t width, std::int64_t height, double frames_per_second) {
  av_log_set_level(AV_LOG_QUIET);
  return std::make_unique<Writer>(where, format, name, width, height, frames_per_second);
}

}  // namespace areal::media
