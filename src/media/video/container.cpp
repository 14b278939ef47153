#include "media/video/container.hpp"
#include <cstring>
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
  AVFormatContext* opened = nullptr;
  const int status = avformat_open_input(&opened, url.c_str(), nullptr, &options);
  av_dict_free(&options);
  if (status < 0) fail(name_, "is not a video that FFmpeg reads (", words_for(status), ")");
  format_.reset(opened);
  if (is_unwanted(format_->iformat->name)) fail(name_, "is not a video file (", format_->iformat->name, ")");
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
