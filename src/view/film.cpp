#include "view/film.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <chrono>
#include <new>

namespace areal::view {
namespace {

constexpr std::int64_t tensor_bins = 16;  // as areal track
constexpr double usual_rate = 25, latest = 0.25;
constexpr std::size_t least_held = 3, most_frames_held = 64;

std::int64_t now() noexcept { return std::chrono::steady_clock::now().time_since_epoch().count(); }

double seconds_of(const Shot& shot, double rate) noexcept {
  return shot.seconds ? *shot.seconds : static_cast<double>(shot.number) / (rate > 0 ? rate : usual_rate);
}

}  // namespace

struct Film::First {
  std::unique_ptr<FrameReader> reader;
  std::shared_ptr<Shot> shot;
  PictureOptions options;
  std::size_t most_held;
};

Film::First Film::first_of(const FilmSource& source, const FilmOptions& options) {
  First first;
  first.reader = source.open();
  DecodedFrame frame;
  if (!first.reader->next(frame))
    throw IoError(first.reader->damage().empty() ? "the video has no frame" : first.reader->damage());
  const Shape& shape = frame.planes.shape();
  const std::int64_t channels = shape.channels + (frame.luma.shape().empty() ? 0 : 1);
  const std::uint64_t bytes = Picture::bytes({shape.width, shape.height}, channels, frame.planes.type());
  const std::uint64_t held = options.memory / 2 / std::max<std::uint64_t>(1, bytes);
  if (held < least_held)
    throw OutOfMemory("three frames of the video need " + std::to_string(2 * least_held * bytes) + " bytes of memory",
                      2 * least_held * bytes);
  first.most_held = static_cast<std::size_t>(std::min<std::uint64_t>(held, most_frames_held));
  first.options = {options.bins, options.range, 0, options.threads};
  first.shot = std::make_shared<Shot>(std::move(frame), source.names, first.options);
  first.options.range = first.shot->picture.range();
  return first;
}

Film::Film(FilmSource source, const FilmOptions& options) : Film(source, options, first_of(source, options)) {}

Film::Film(FilmSource source, const FilmOptions& options, First first)
    : Scene(facts_of(first.shot->picture)),
      source_(std::move(source)),
      options_(options),
      picture_options_(first.options),
      most_held_(first.most_held),
      shown_(first.shot),
      reader_(std::move(first.reader)),
      position_(1) {
  held_.push_back(std::move(first.shot));
  thread_ = std::thread([this] { run(); });
}

Film::~Film() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

// ---------------------------------------------------------------- what is shown

Answer Film::answer(std::size_t channel, const Region& region, bool final) const {
  return shot()->picture.answer(channel, region, final);
}

void Film::with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                       const std::function<void(std::size_t, const ConstView&)>& take) const {
  shot()->picture.with_pixels(first, count, level, region, take);
}

std::shared_ptr<const Shot> Film::shot() const {
  const std::lock_guard held(lock_);
  return shown_;
}

std::shared_ptr<const Shot> Film::shot(std::int64_t number) const {
  const std::lock_guard held(lock_);
  return in_memory(number);
}

std::shared_ptr<Shot> Film::in_memory(std::int64_t number) const {
  if (shown_->number == number) return shown_;
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const auto& shot) { return shot->number == number; });
  return at == held_.end() ? nullptr : *at;
}

void Film::range_changed() {
  const std::lock_guard held(lock_);
  shown_->picture.set_range(range());
  for (const auto& shot : held_) shot->picture.set_range(range());
}

FilmState Film::state() const {
  const std::lock_guard held(lock_);
  FilmState state{.number = shown_->number, .seconds = shown_->seconds, .frames = frames_, .plays = plays_};
  if (!frames_ && source_.frames) state.frames = std::max(*source_.frames, shown_->number + 1);
  state.seeks = wanted_.has_value();
  state.problem = problem_;
  for (const auto& [id, track] : tracks_) {
    if (!track.follows) continue;
    state.followed.push_back(id);
    if (const auto at = track.done.find(shown_->number); at != track.done.end())
      state.boxes.push_back({id, at->second.second});
  }
  return state;
}

std::vector<TrackRow> Film::rows() const {
  const std::lock_guard held(lock_);
  std::vector<TrackRow> rows;
  for (const auto& [id, track] : tracks_)
    for (const auto& [frame, found] : track.done) rows.push_back({id, frame, found.first, found.second});
  return rows;
}

void Film::on_change(std::function<void()> call) {
  const std::lock_guard held(lock_);
  on_change_ = std::move(call);
}

// ---------------------------------------------------------------- commands

void Film::play() {
  {
    const std::lock_guard held(lock_);
    ++commands_;
    problem_.clear();
    if (!plays_ && !wanted_ && frames_ && shown_->number + 1 >= *frames_) wanted_ = 0;
    plays_ = true;
  }
  wake_.notify_one();
}

void Film::pause() {
  {
    const std::lock_guard held(lock_);
    ++commands_;
    plays_ = false;
    wanted_.reset();
  }
  wake_.notify_one();
}

void Film::seek(std::int64_t number) {
  {
    const std::lock_guard held(lock_);
    ++commands_;
    problem_.clear();
    wanted_ = std::max<std::int64_t>(0, number);
  }
  wake_.notify_one();
}

void Film::step(std::int64_t by) {
  {
    const std::lock_guard held(lock_);
    ++commands_;
    problem_.clear();
    plays_ = false;
    wanted_ = std::max<std::int64_t>(0, wanted_.value_or(shown_->number) + by);
  }
  wake_.notify_one();
}

void Film::track(std::int64_t id, std::string_view algorithm, const Region& box) {
  make_tracker(algorithm, Binning::uniform(1, 0, 1));  // for its message
  {
    const std::lock_guard held(lock_);
    const auto followed = static_cast<std::size_t>(
        std::count_if(tracks_.begin(), tracks_.end(), [](const auto& one) { return one.second.follows; }));
    const auto at = tracks_.find(id);
    if (followed >= most_tracks && (at == tracks_.end() || !at->second.follows))
      throw InvalidArgument("track: " + std::to_string(most_tracks) + " regions are followed already; stop one first");
    ++commands_;
    problem_.clear();
    Track& track = tracks_[id];
    track.algorithm = algorithm, track.box = box, track.follows = true;
    track.from = shown_, track.next = shown_->number;
    track.tracker.reset();
    track.done.erase(track.done.lower_bound(shown_->number), track.done.end());
  }
  wake_.notify_one();
}

void Film::moved(std::int64_t id, const Region& box) {
  std::string algorithm;
  {
    const std::lock_guard held(lock_);
    const auto at = tracks_.find(id);
    if (at == tracks_.end() || !at->second.follows) return;
    algorithm = at->second.algorithm;
  }
  track(id, algorithm, box);
}

void Film::stop(std::int64_t id) {
  {
    const std::lock_guard held(lock_);
    const auto at = tracks_.find(id);
    if (at == tracks_.end()) return;
    at->second.follows = false;
    at->second.from.reset();
    at->second.tracker.reset();
    ++commands_;
  }
  wake_.notify_one();
}

void Film::forget(std::int64_t id) {
  {
    const std::lock_guard held(lock_);
    if (tracks_.erase(id) == 0) return;
    ++commands_;
  }
  wake_.notify_one();
}

// ---------------------------------------------------------------- the thread

void Film::changed() const {
  if (on_change_) on_change_();
}

void Film::run() {
  Held held(lock_);
  std::int64_t seen = 0;
  while (!ends_) {
    const auto starting =
        std::find_if(tracks_.begin(), tracks_.end(), [](const auto& one) { return one.second.from != nullptr; });
    if (starting != tracks_.end()) {
      follow(held, std::shared_ptr(starting->second.from));
      changed();
    } else if (commands_ != seen) {
      seen = commands_;
      clock_.reset();
      changed();
    } else if (wanted_) {
      const std::int64_t number = *wanted_;
      if (!reach(held, number) || !wanted_) continue;
      if (*wanted_ == number) wanted_.reset();
      clock_.reset();
      shown_ = in_memory(number);
      changed();
    } else if (plays_) {
      const std::int64_t number = shown_->number + 1;
      if (frames_ && number >= *frames_) {
        plays_ = false;
        changed();
        continue;
      }
      if (!reach(held, number)) continue;
      const auto next = in_memory(number);
      if (!await(held, *next)) continue;
      shown_ = next;
      changed();
    } else {
      wake_.wait(held);
    }
  }
}

/// Decodes one frame of those up to a frame, or steps the trackers to one of them. True if the frame is in memory and
/// the trackers have passed it; otherwise a new command may have come, and the caller tries again.
bool Film::reach(Held& held, std::int64_t number) {
  if (frames_ && number >= *frames_) {
    wanted_ = *frames_ - 1;
    return false;
  }
  std::int64_t next = number;
  for (const auto& [id, track] : tracks_)
    if (track.follows) next = std::min(next, track.next);
  if (const auto shot = in_memory(next)) {
    follow(held, shot);
    return next == number;
  }
  decode(held, next);
  return false;
}

/// Reads one frame, beginning with the first again if that one has passed.
void Film::decode(Held& held, std::int64_t number) {
  held.unlock();
  std::shared_ptr<Shot> shot;
  std::string problem;
  try {
    if (position_ > number || !reader_) {
      position_ = 0;
      reader_.reset();
      reader_ = source_.open();
    }
    DecodedFrame frame;
    if (reader_->next(frame)) {
      frame.number = position_++;
      shot = std::make_shared<Shot>(std::move(frame), source_.names, picture_options_);
    } else {
      problem = reader_->damage();
    }
  } catch (const Error& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "no memory is left for a frame";
  }
  held.lock();
  if (shot) {
    shot->picture.set_range(range());  // it may have changed
    held_.push_back(shot);
    if (held_.size() + 1 > most_held_) held_.pop_front();  // one more may be shown that is no longer here
    return follow(held, shot);
  }
  problem_ = problem;
  plays_ = false;
  if (position_ == 0) {  // it was there before
    wanted_.reset();
  } else {
    frames_ = position_;
    if (wanted_) wanted_ = std::min(*wanted_, *frames_ - 1);
  }
  for (auto& [id, track] : tracks_) track.next = std::max(track.next, position_);
  changed();
}

/// Starts the trackers that begin with this frame, and moves those whose next frame it is.
void Film::follow(Held& held, const std::shared_ptr<const Shot>& shot) {
  struct Step {
    std::int64_t id;
    Region box;
    std::string algorithm;
    std::shared_ptr<Tracker> tracker;
    bool starts;
    TrackedBox found = {};
    std::string problem = {};
  };
  std::vector<Step> steps;
  for (const auto& [id, track] : tracks_)
    if (track.from ? track.from == shot : track.follows && track.next == shot->number)
      steps.push_back({id, track.box, track.algorithm, track.tracker, track.from != nullptr});
  if (steps.empty()) return;
  held.unlock();
  bool has_tensor = false;
  for (Step& step : steps) {
    try {
      const ConstView image = *shot->picture.pixels(0);
      if (!plan_) {
        const Execution execution{.backend = Backend::cpu, .threads = options_.threads};
        plan_.emplace(image.shape, image.type, Binning::of_type(image.type, tensor_bins), HistogramOptions{},
                      execution);
      }
      if (step.starts) step.tracker = make_tracker(step.algorithm, plan_->binning());
      const bool reads_tensor = step.tracker->reads_tensor();
      if (reads_tensor && !tensor_) {
        const std::uint64_t bytes = plan_->tensor_bytes() + plan_->workspace_bytes();
        if (bytes > options_.memory / 4)
          throw OutOfMemory(
              "track: " + step.algorithm + " needs " + std::to_string(bytes) +
                  " bytes for a frame's histograms, more than a quarter of --memory; mean-shift needs none",
              bytes);
        tensor_.emplace(plan_->allocate(MemoryPlace{}));
        workspace_.emplace(*plan_);
      }
      if (reads_tensor && !std::exchange(has_tensor, true)) plan_->execute(image, *tensor_, *workspace_);
      const TrackerFrame frame = reads_tensor ? TrackerFrame(*tensor_, image) : TrackerFrame(image);
      if (step.starts) step.tracker->start(frame, step.box);
      step.found = step.starts ? step.tracker->box() : step.tracker->step(frame);
    } catch (const Error& error) {
      step.problem = error.what();
    } catch (const std::bad_alloc&) {
      step.problem = "track: no memory is left";
    }
  }
  held.lock();
  for (const Step& step : steps) {
    const auto at = tracks_.find(step.id);
    if (at == tracks_.end()) continue;
    Track& track = at->second;
    // Was it given another box, or stopped, meanwhile?
    if (step.starts ? track.from != shot || track.box != step.box : track.tracker != step.tracker) continue;
    track.from.reset();
    track.tracker = step.tracker;
    if (!step.problem.empty()) {
      problem_ = step.problem;
      track.follows = false;
      continue;
    }
    track.done[shot->number] = {shot->seconds, step.found};
    track.next = shot->number + 1;
  }
}

/// Waits until a frame is due; false if a command comes first.
bool Film::await(Held& held, const Shot& shot) {
  const double seconds = seconds_of(shot, source_.frames_per_second);
  if (!clock_) clock_.emplace(now(), seconds_of(*shown_, source_.frames_per_second));
  const auto due = clock_->first + static_cast<std::int64_t>(1e9 * (seconds - clock_->second));
  if (now() - due > static_cast<std::int64_t>(1e9 * latest)) clock_.emplace(now(), seconds);  // decoding is slower
  const std::int64_t commands = commands_;
  const auto at = std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(due));
  return !wake_.wait_until(held, at, [&] { return ends_ || commands_ != commands; });
}

}  // namespace areal::view
