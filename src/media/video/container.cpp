#include "media/video/container.hpp"
#include <cerrno>
#include <utility>
#include "media/video/matroska.hpp"

namespace areal::media {
namespace {

// The demuxers that run at all, by FFmpeg's names: each reads one file, whose format has a signature or frames of its
// own. Others open what a file names (concat, hls, dash), or make a video from any text (tty).
constexpr char containers[] =
    "matroska,webm,mov,mp4,avi,mpegts,mpeg,mpegvideo,mjpeg,flv,live_flv,asf,ogg,nut,gif,apng,yuv4mpegpipe,ivf,h264,"
    "hevc,m4v,obu,av1,dv,mxf,wtv,rm,vc1,cavsvideo,h263,bink,smk,nsv,swf,roq,film_cpk";

using OpenFile = int (*)(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**);

// FFmpeg's own way to open a file, for the first file only: a demuxer opens no other.
int open_first(AVFormatContext* format, AVIOContext** file, const char* url, int flags, AVDictionary** options) {
  auto& open = *static_cast<OpenFile*>(format->opaque);
  if (open == nullptr) return AVERROR(EPERM);
  return std::exchange(open, nullptr)(format, file, url, flags, options);
}

int entries_of_index(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 59
  return avformat_index_get_entries_count(&stream);
#else
  return stream.nb_index_entries;
#endif
}

}  // namespace

Container::Container(const std::string& name) : name_(name) {
  // "file:" and the white list: a name such as http://... or concat:a|b is only a file name here.
  const std::string url = "file:" + name_;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);
  av_dict_set(&options, "format_whitelist", containers, 0);
  AVFormatContext* opened = avformat_alloc_context();
  if (!opened) throw std::bad_alloc();
  open_ = opened->io_open;
  opened->opaque = &open_, opened->io_open = open_first;
  const int status = avformat_open_input(&opened, url.c_str(), nullptr, &options);  // frees `opened` where it fails
  av_dict_free(&options);
  if (status < 0) fail(name_, "is not a video of a format that areal reads (", words_for(status), ")");
  format_.reset(opened);
  if (const int found = avformat_find_stream_info(format_.get(), nullptr); found < 0)
    fail(name_, "is damaged: its streams could not be read (", words_for(found), ")");
  index_ = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index_ < 0 || (stream().disposition & AV_DISPOSITION_ATTACHED_PIC)) fail(name_, "holds no video stream");
  for (unsigned i = 0; i < format_->nb_streams; ++i)
    if (static_cast<int>(i) != index_) format_->streams[i]->discard = AVDISCARD_ALL;
}

Container::Next Container::next(AVPacket& packet, std::string& what) {
  while (true) {
    const int status = av_read_frame(format_.get(), &packet);
    if (status == AVERROR_EOF) {
      describe_missing_packets(what);
      return Next::end;
    }
    if (status < 0) {
      what = words_for(status);
      return Next::damage;
    }
    if (packet.stream_index != index_) {
      av_packet_unref(&packet);
      continue;
    }
    ++packets_;
    if (!(packet.flags & AV_PKT_FLAG_CORRUPT)) return Next::packet;
    av_packet_unref(&packet);
    what = "a packet is cut off";
    return Next::damage;
  }
}

// Containers that end silently with the file: compare with what they declared.
void Container::describe_missing_packets(std::string& what) const {
  const std::string container = format_->iformat->name;
  std::int64_t declared = 0;
  if (container == "avi") declared = stream().nb_frames;
  // Not nb_frames: an edit list may leave samples out, the index says which remain.
  if (container.starts_with("mov,")) declared = entries_of_index(stream());
  if (format_->pb && format_->pb->error < 0 && format_->pb->error != AVERROR_EOF)
    what = words_for(format_->pb->error);
  else if (declared > packets_)
    what = "it declares " + std::to_string(declared) + " frames and holds " + std::to_string(packets_);
  else if (container.starts_with("matroska") && matroska_is_cut(name_))
    what = "the file ends before its segment does";
}

}  // namespace areal::media
