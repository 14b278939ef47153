#pragma once
// A video: one frame after another as a picture in memory, which a thread of its own decodes, and trackers that follow
// regions over the frames.

#include <areal/array.hpp>
#include <areal/binning.hpp>
#include <areal/histogram.hpp>
#include <areal/track.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#include "view/picture.hpp"

namespace areal::view {

/// What a decoder reads: planes, and the luma of colours.
struct DecodedFrame {
  Array planes, luma;
  std::int64_t number = 0;  // 0, 1, 2, ..
  std::optional<double> seconds;
};

/// Frames from the first on, for one thread.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// The next frame, or false at the end.
  virtual bool next(DecodedFrame& frame) = 0;
  /// Why the frames end too early; empty if they do not.
  virtual std::string damage() const = 0;
};

struct FilmSource {
  std::function<std::unique_ptr<FrameReader>()> open;  // begins with the first frame again
  std::vector<std::string> names;                      // of the planes
  double frames_per_second = 0;                        // 0: unknown
  std::optional<std::int64_t> frames = {};             // as the file declares it
};

struct FilmOptions {
  std::int64_t bins = 256;
  std::optional<std::pair<double, double>> range = {};  // of all frames' histograms; none: of the first frame
  std::uint64_t memory = 0;                             // bytes for frames and for a tracker's tensor
  int threads = 0;
};

/// A frame of a video.
struct Shot {
  Shot(DecodedFrame frame, std::vector<std::string> names, const PictureOptions& options)
      : number(frame.number),
        seconds(frame.seconds),
        picture(std::move(frame.planes), std::move(names), std::move(frame.luma), options) {}
  std::int64_t number;
  std::optional<double> seconds;
  Picture picture;
};

/// A region that a tracker follows, on one frame.
struct FollowedBox {
  std::int64_t id = 0;
  TrackedBox box;
};

struct FilmState {
  std::int64_t number = 0;  // of the frame that is shown
  std::optional<double> seconds;
  std::optional<std::int64_t> frames;  // as the file declares it, until the end has been decoded
  bool plays = false, seeks = false;
  std::string problem = {};                 // a sentence; empty if there is none
  std::vector<std::int64_t> followed = {};  // ids of regions with a tracker
  std::vector<FollowedBox> boxes = {};      // those with a box on this frame
};

/// A row of a track.
struct TrackRow {
  std::int64_t id = 0, frame = 0;
  std::optional<double> seconds;
  TrackedBox box;
};

class Film final : public Scene {
 public:
  static constexpr std::size_t most_tracks = 8;

  /// Decodes the first frame. Throws what decoding throws, InvalidArgument as Picture, and OutOfMemory for memory that
  /// holds no three frames.
  Film(FilmSource source, const FilmOptions& options);
  ~Film() override;

  Kind kind() const noexcept override { return Kind::video; }
  Film* film() noexcept override { return this; }
  /// Of the frame that is shown.
  Answer answer(std::size_t channel, const Region& region, bool final = true) const override;

  /// The frame that is shown. For any thread.
  std::shared_ptr<const Shot> shot() const;
  /// A frame in memory, or null.
  std::shared_ptr<const Shot> shot(std::int64_t number) const;
  FilmState state() const;
  double frames_per_second() const noexcept { return source_.frames_per_second; }
  /// `call`, which may not ask this film, is called on another thread when `state` changes, until another one is set.
  void on_change(std::function<void()> call);

  void play();  // from the beginning if the last frame is shown
  void pause();
  /// Shows that frame, or the last one. Frames before those in memory are decoded from the first on; until the frame is
  /// there, the old one is shown.
  void seek(std::int64_t number);
  /// Pauses, and shows a frame before or after the one that is shown, or is going to be.
  void step(std::int64_t by);

  /// Follows a region from the frame that is shown on, on every frame that is decoded from now on; replaces an earlier
  /// tracker from that frame on. Errors of the tracker become the state's problem, and end it. Throws InvalidArgument
  /// for a name that tracker_names lacks and for too many tracks.
  void track(std::int64_t id, std::string_view algorithm, const Region& box);
  /// With another box: the same tracker begins again. Nothing for a region that is not followed.
  void moved(std::int64_t id, const Region& box);
  void stop(std::int64_t id);    // its rows remain
  void forget(std::int64_t id);  // its rows go, too
  /// All tracks, by region and by frame.
  std::vector<TrackRow> rows() const;

 private:
  struct First;
  struct Track {
    std::string algorithm;
    Region box;  // where it starts
    bool follows = true;
    std::shared_ptr<const Shot> from;                                           // it starts with this one, soon
    std::shared_ptr<Tracker> tracker;                                           // it has started
    std::int64_t next = 0;                                                      // the frame that it steps to
    std::map<std::int64_t, std::pair<std::optional<double>, TrackedBox>> done;  // by frame
  };
  static First first_of(const FilmSource& source, const FilmOptions& options);
  Film(FilmSource source, const FilmOptions& options, First first);
  void with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                   const std::function<void(std::size_t, const ConstView&)>& take) const override;
  void range_changed() override;

  // On the film's thread; `held` is locked before and after.
  using Held = std::unique_lock<std::mutex>;
  void run();
  bool reach(Held& held, std::int64_t number);
  void decode(Held& held, std::int64_t number);
  void follow(Held& held, const std::shared_ptr<const Shot>& shot);
  bool await(Held& held, const Shot& shot);
  void changed() const;
  std::shared_ptr<Shot> in_memory(std::int64_t number) const;

  FilmSource source_;
  FilmOptions options_;
  PictureOptions picture_options_;
  std::size_t most_held_;

  mutable std::mutex lock_;
  std::condition_variable wake_;
  std::shared_ptr<Shot> shown_;
  std::deque<std::shared_ptr<Shot>> held_;
  std::map<std::int64_t, Track> tracks_;
  std::optional<std::int64_t> wanted_;
  std::optional<std::int64_t> frames_;  // once the end has been decoded
  std::int64_t commands_ = 0;           // how many came
  bool plays_ = false, ends_ = false;
  std::string problem_;
  std::function<void()> on_change_;  // called under the lock, so that it is not called once another one is set

  // Of the film's thread alone.
  std::unique_ptr<FrameReader> reader_;
  std::int64_t position_ = 0;  // of the reader's next frame
  std::optional<HistogramPlan> plan_;
  std::optional<Workspace> workspace_;
  std::optional<HistogramTensor> tensor_;
  std::optional<std::pair<std::int64_t, double>> clock_;  // nanoseconds of a steady clock, and the video's seconds then

  std::thread thread_;  // last: it uses the others
};

}  // namespace areal::view
