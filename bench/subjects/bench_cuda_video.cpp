// areal bench video --backend cuda: 100 boxes of every frame that NVDEC leaves in the device's memory, against NVDEC
// alone, which decodes each stream on its own thread and drops the frames. One stream, and seven: an H200 has
// seven NVDECs. The first tenth of the frames is not timed, nor is opening.

#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <areal/sequence.hpp>
#include <atomic>
#include <mutex>
#include <thread>
#include "bench/harness/bench.hpp"
#include "io/luma_frame.hpp"
#include "media/media.hpp"

namespace areal::bench {
namespace {

constexpr int slots = 8;

/// From one of many frames to the last.
class Stopwatch {
 public:
  explicit Stopwatch(std::int64_t warm) : warm_(warm) {}
  /// Counts a frame. Thread-safe.
  void count() {
    const std::lock_guard lock(mutex_);
    last_ = Clock::now();
    if (++frames_ == warm_) first_ = last_;
  }
  std::int64_t frames() const { return frames_; }
  double microseconds() const { return std::chrono::duration<double, std::micro>(last_ - first_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::int64_t warm_, frames_ = 0;
  Clock::time_point first_, last_;
};

class NvdecRace {
 public:
  NvdecRace(const Options& options, std::int64_t bins)
      : options_(options), binning_(Binning::of_type(Type::u8, bins)), size_{0, 0} {
    const std::unique_ptr<media::Video> video = media::open_video(options_.video);
    size_ = {video->width(), video->height()};
    regions_ = random_regions(size_, 100);
    run({&video, 1}, {},
        [&](const FrameAnswer& answer) { expected_.emplace_back(answer.counts.begin(), answer.counts.end()); });
    if (expected_.size() < 20) throw InvalidArgument(options_.video + ": bench video needs 20 frames or more");
  }

  const Size& size() const { return size_; }
  /// The frames that are timed.
  std::int64_t frames(int streams) const { return all(streams) - warm(streams); }

  /// NVDEC alone.
  double floor(int streams) const {
    const std::vector<std::unique_ptr<media::Video>> videos = open(streams);
    Stopwatch watch(warm(streams));
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> errors(videos.size());
    for (std::size_t i = 0; i < videos.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          for (media::LumaFrame frame; videos[i]->next(frame);) watch.count();
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    return time_of(watch, streams);
  }

  double ours(int streams) const {
    const std::vector<std::unique_ptr<media::Video>> videos = open(streams);
    Stopwatch watch(warm(streams));
    run(videos, {.backend = Backend::cuda, .device = options_.device}, [&](const FrameAnswer& answer) {
      const auto number = static_cast<std::size_t>(answer.frame.number);
      if (number >= expected_.size() ||
          !std::equal(answer.counts.begin(), answer.counts.end(), expected_[number].begin(), expected_[number].end()))
        options_.wrong(fmt::format("video: frame {} of stream {}", answer.frame.number, answer.frame.stream));
      watch.count();
    });
    return time_of(watch, streams);
  }

 private:
  std::int64_t all(int streams) const { return streams * static_cast<std::int64_t>(expected_.size()); }
  std::int64_t warm(int streams) const { return all(streams) / 10; }
  double time_of(const Stopwatch& watch, int streams) const {
    if (watch.frames() != all(streams))
      options_.wrong(fmt::format("video: {} of {} frames", watch.frames(), all(streams)));
    return watch.microseconds();
  }

  std::vector<std::unique_ptr<media::Video>> open(int streams) const {
    std::vector<std::unique_ptr<media::Video>> videos;
    for (int i = 0; i < streams; ++i) {
      videos.push_back(media::open_video(options_.video, {.decode_on = options_.device, .most_held = slots + 1}));
      if (const media::Decoding decoding = videos.back()->decoding(); !decoding.device)
        throw Unavailable(options_.video + ": bench video --backend cuda: " + decoding.why_not);
    }
    return videos;
  }

  template <class Take>
  void run(std::span<const std::unique_ptr<media::Video>> videos, const Worker& worker, const Take& take) const {
    HistogramSequence sequence({size_.width, size_.height}, Type::u8, binning_, {.workers = {worker}, .slots = slots});
    std::vector<bool> ended(videos.size());
    std::size_t turn = 0;
    const auto source = [&](const View&, Frame& frame) {
      for (std::size_t tried = 0; tried < videos.size(); ++tried) {
        const std::size_t stream = turn;
        turn = (turn + 1) % videos.size();
        media::LumaFrame read;
        if (ended[stream]) continue;
        if (videos[stream]->next(read)) {
          frame.stream = static_cast<int>(stream);
          command::hand_over(std::move(read), frame);
          return true;
        }
        ended[stream] = true;
      }
      return false;
    };
    const auto regions = [&](const Frame&, std::vector<Region>& out) { out.assign(regions_.begin(), regions_.end()); };
    sequence.run(source, regions, [&](const FrameAnswer& answer) {
      take(answer);
      return true;
    });
  }

  const Options& options_;
  Binning binning_;
  Size size_;
  std::vector<Region> regions_;
  std::vector<std::vector<std::uint64_t>> expected_;  // by the CPU's decoder and worker
};

}  // namespace

void bench_cuda_video(const Options& options, Report& report) {
  if (options.video.empty()) throw InvalidArgument("bench video needs a video: areal bench video INPUT");
  const std::int64_t bins = options.bins.empty() ? 32 : options.bins.front();
  const NvdecRace race(options, bins);
  for (const int streams : {1, 7}) {
    std::vector<double> floors, times;
    for (int i = 0; i <= std::min(options.repetitions, 5); ++i) {
      const double floor = race.floor(streams), ours = race.ours(streams);
      if (i == 0) continue;  // warm-up: the driver loads kernels
      floors.push_back(floor);
      times.push_back(ours);
    }
    Record record{"video",
                  fmt::format("nvdec {} {}", streams, streams == 1 ? "stream" : "streams"),
                  "8u-64u",
                  race.size().width,
                  race.size().height,
                  bins,
                  race.frames(streams)};
    record.threads = 0;
    record.backend = Backend::cuda;
    record.device = device_name(options.device);
    record.time = times_of(times);
    record.floor = "nvdec";
    record.floor_time = times_of(floors);
    record.bytes = static_cast<std::uint64_t>(record.batch * record.width * record.height);
    report.add(record);
  }
}

}  // namespace areal::bench
