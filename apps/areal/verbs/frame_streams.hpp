#pragma once
// The inputs of a sequence, read in turns: videos, folders and raw frames.

#include <areal/sequence.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "hist_sequence_options.hpp"
#include "io/input.hpp"
#include "io/settings.hpp"
#include "media/media.hpp"

namespace areal::command {

class FrameStreams {
 public:
  /// Returns none if the only input is a picture. Decodes videos on the CUDA device `decode_on` if it supports them;
  /// otherwise prints why not, or throws Unavailable with --decode gpu. Throws InvalidArgument if the inputs' frames
  /// differ in shape or type.
  static std::optional<FrameStreams> open(const InputOptions& input, const SequenceRequest& request,
                                          std::optional<int> decode_on, int slots, const Settings& settings);

  /// The first frame, which has the shape and type of all.
  ConstView first() const { return streams_.front().ahead.pixels; }
  /// Do frames have a time?
  bool has_time() const noexcept { return has_time_; }
  /// Frames of all streams, if every stream knows its number.
  std::optional<std::int64_t> count() const;
  /// With several streams, decodes each on its own thread, ahead of its turns by at most `frames` in all and at least
  /// one each. `stops` ends a wait for a frame. A single stream is left to the sequence, which already reads ahead.
  void read_ahead(int frames, std::function<bool()> stops);
  /// A FrameSource, which takes the streams in turns.
  bool next(const View& buffer, Frame& frame);
  /// Frames read from the stream so far.
  std::int64_t frames(int stream) const { return streams_[static_cast<std::size_t>(stream)].frames; }
  /// Call it after the last frame. Throws IoError for a stream that ended too early; prints the messages of all such
  /// streams but the last.
  void throw_damage();

 private:
  struct Stream {
    std::string name;
    std::unique_ptr<media::Video> video;
    media::LumaFrame ahead;  ///< the first frame, read to learn the shape
    bool has_ahead = false, ended = false;
    std::int64_t frames = 0;
    std::unique_ptr<media::ReadAhead<media::LumaFrame>> reader;  // with several streams
  };
  bool read(Stream& stream, media::LumaFrame& frame);

  std::vector<Stream> streams_;
  std::function<bool()> stops_;
  std::size_t turn_ = 0;
  bool has_time_ = false;
};

}  // namespace areal::command
