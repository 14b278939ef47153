#include "frame_streams.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include "io/luma_frame.hpp"
#include "io/numbers.hpp"

namespace areal::command {
namespace {

std::string size_of(const ConstView& frame) {
  return fmt::format("{}x{} {}", frame.shape.width, frame.shape.height, name_of(frame.type));
}

void report_decoding(const std::string& name, const media::Video& video, const SequenceRequest& request,
                     const Settings& settings) {
  const media::Decoding decoding = video.decoding();
  if (decoding.device)
    settings.detail("{}: decoded by the NVDEC of CUDA device {}", name, *decoding.device);
  else if (request.decode == "gpu")
    throw Unavailable(name +
                      ": --decode gpu: " + (decoding.why_not.empty() ? "it is no video file" : decoding.why_not));
  else if (decoding.is_format)
    settings.note("{}: decoded on the CPU: {}", name, decoding.why_not);
  else if (!decoding.why_not.empty())
    settings.detail("{}: decoded on the CPU: {}", name, decoding.why_not);
}

}  // namespace

std::optional<FrameStreams> FrameStreams::open(const InputOptions& input, const SequenceRequest& request,
                                               std::optional<int> decode_on, int slots, const Settings& settings) {
  FrameStreams all;
  media::ReadOptions read;
  read.skip_damage = request.damaged == "skip";
  read.decode_on = decode_on;
  read.most_held = slots + 1;  // one more for `ahead`
  for (const std::string& path : request.inputs) {
    InputOptions one = input;
    one.path = path;
    Stream stream;
    stream.name = path == "-" ? "standard input" : path;
    bool has_time = false;
    stream.video = open_frames(one, read, has_time);
    if (!stream.video) {
      if (request.inputs.size() > 1) refuse(path, ": is no video, folder or stream of raw frames; several inputs are");
      return std::nullopt;
    }
    if (decode_on) report_decoding(stream.name, *stream.video, request, settings);
    if (!stream.video->next(stream.ahead)) {
      if (!stream.video->damage().empty()) throw IoError(stream.video->damage());
      throw IoError(stream.name + ": holds no frames");
    }
    stream.has_ahead = true;
    all.has_time_ = all.has_time_ || has_time;
    if (!all.streams_.empty() &&
        (all.first().shape != stream.ahead.pixels.shape || all.first().type != stream.ahead.pixels.type))
      refuse(path, ": its frames are ", size_of(stream.ahead.pixels), ", those of ", all.streams_.front().name, " ",
             size_of(all.first()), "; one run takes frames of one size and type");
    all.streams_.push_back(std::move(stream));
  }
  return all;
}

std::optional<std::int64_t> FrameStreams::count() const {
  std::int64_t count = 0;
  for (const Stream& stream : streams_) {
    const auto of_this = stream.video->frame_count();
    if (!of_this) return std::nullopt;
    count += *of_this;
  }
  return count;
}

void FrameStreams::read_ahead(int frames, std::function<bool()> stops) {
  if (streams_.size() < 2) return;
  stops_ = std::move(stops);
  const std::size_t most = std::max<std::size_t>(1, static_cast<std::size_t>(frames) / streams_.size());
  for (Stream& stream : streams_)
    if (!stream.video->decoding().device)  // NVDEC reads ahead already
      stream.reader = std::make_unique<media::ReadAhead<media::LumaFrame>>(
          [video = stream.video.get()](media::LumaFrame& frame) { return video->next(frame); }, most);
}

bool FrameStreams::read(Stream& stream, media::LumaFrame& frame) {
  if (!stream.has_ahead) return stream.reader ? stream.reader->next(frame, stops_) : stream.video->next(frame);
  frame = std::move(stream.ahead);
  stream.has_ahead = false;
  return true;
}

bool FrameStreams::next(const View&, Frame& frame) {
  for (std::size_t tried = 0; tried < streams_.size(); ++tried) {
    const std::size_t number = turn_;
    turn_ = (turn_ + 1) % streams_.size();
    Stream& stream = streams_[number];
    if (stream.ended) continue;
    media::LumaFrame found;
    if (!read(stream, found)) {
      stream.ended = true;
      continue;
    }
    frame.stream = static_cast<int>(number);
    stream.frames = found.number + 1;
    hand_over(std::move(found), frame);
    return true;
  }
  return false;
}

void FrameStreams::throw_damage() {
  for (Stream& stream : streams_)
    if (stream.reader) stream.reader->end();
  std::string damage;
  for (const Stream& stream : streams_) {
    const std::string of_this = stream.video->damage();
    if (of_this.empty()) continue;
    if (!damage.empty()) Settings::say("areal: " + damage);
    damage = of_this;
  }
  if (!damage.empty()) throw IoError(damage);
}

}  // namespace areal::command
