#pragma once
// The inputs of a sequence as the streams of its source: videos, folders and raw frames, in turns.

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
  /// None where the (only) input is a picture. Videos are decoded on the CUDA device `decode_on` if they can be; where
  /// one cannot, it is told, or Unavailable thrown for --decode gpu. Throws InvalidArgument where frames of the inputs
  /// have not one shape and type.
  static std::optional<FrameStreams> open(const InputOptions& input, const SequenceRequest& request,
                                          std::optional<int> decode_on, int slots, const Settings& settings);

  /// A frame as all of them are.
  ConstView first() const { return streams_.front().ahead.pixels; }
  /// Do frames have a time?
  bool has_time() const noexcept { return has_time_; }
  /// Of all streams, where all say.
  std::optional<std::int64_t> count() const;
  /// Where there are several: from now on each is decoded on a thread of its own, which is at most so many frames ahead
  /// of its turns, together no more than `frames`, but at least one each. `stops` ends a wait for one of them.
  void read_ahead(int frames, std::function<bool()> stops);
  /// A FrameSource. Still in turns.
  bool next(const View& buffer, Frame& frame);
  /// How many there were.
  std::int64_t frames(int stream) const { return streams_[static_cast<std::size_t>(stream)].frames; }
  /// No frame will be asked for. Throws IoError for what is wrong with the streams that ended too early; of several,
  /// all but the last are said.
  void throw_damage();

 private:
  struct Stream {
    std::string name;
    std::unique_ptr<media::Video> video;
    media::LumaFrame ahead;  ///< read, to know the shape
    bool has_ahead = false, ended = false;
    std::int64_t frames = 0;
    std::unique_ptr<media::ReadAhead<media::LumaFrame>> reader;  // of several
  };
  bool read(Stream& stream, media::LumaFrame& frame);

  std::vector<Stream> streams_;
  std::function<bool()> stops_;
  std::size_t turn_ = 0;
  bool has_time_ = false;
};

}  // namespace areal::command
