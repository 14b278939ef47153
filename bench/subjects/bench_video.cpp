// areal bench video: 32-bin histograms of three regions of every frame, against decoding alone on as many CPUs.

#include <sched.h>
#include <areal/error.hpp>
#include <areal/sequence.hpp>
#include "bench/harness/bench.hpp"
#include "io/luma_frame.hpp"
#include "media/media.hpp"

namespace areal::bench {
namespace {

/// This thread, and those that it starts, on so many CPUs, until the end of the scope.
class CpuLimit {
 public:
  explicit CpuLimit(int cpus) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t few;
    CPU_ZERO(&few);
    for (int cpu = 0, left = cpus; cpu < CPU_SETSIZE && left > 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &few), --left;
    limits_ = sched_setaffinity(0, sizeof few, &few) == 0;
  }
  ~CpuLimit() {
    if (limits_) sched_setaffinity(0, sizeof before_, &before_);
  }
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;

 private:
  cpu_set_t before_;
  bool limits_ = false;
};

}  // namespace

void bench_video(const Options& options, Report& report) {
  if (options.video.empty()) throw InvalidArgument("bench video needs a video: areal bench video INPUT");
  const Binning binning = Binning::of_type(Type::u8, options.bins.empty() ? 32 : options.bins.front());
  std::int64_t frames = 0, width = 0, height = 0;
  std::uint64_t counted = 0;
  const auto open = [&](int threads) {
    std::unique_ptr<media::Video> video = media::open_video(options.video, {.threads = threads});
    width = video->width();
    height = video->height();
    return video;
  };
  const auto decode = [&](int threads) {
    const CpuLimit limit(threads);
    const std::unique_ptr<media::Video> video = open(threads);
    media::LumaFrame frame;
    while (video->next(frame)) {
    }
  };
  const auto histograms = [&](int threads) {
    const CpuLimit limit(threads);
    const std::unique_ptr<media::Video> video = open(threads);
    frames = 0;
    counted = 0;
    HistogramSequence sequence({width, height}, Type::u8, binning, {.workers = {{.threads = threads}}});
    const auto source = [&](const View&, Frame& frame) {
      media::LumaFrame read;
      if (!video->next(read)) return false;
      command::hand_over(std::move(read), frame);
      return true;
    };
    const auto regions = [&](const Frame&, std::vector<Region>& out) {
      out = {{0, 0, width / 2, height / 2},
             {width / 2, 0, width - width / 2, height / 2},
             {0, height / 2, width, height - height / 2}};
    };
    sequence.run(source, regions, [&](const FrameAnswer& answer) {
      ++frames;
      for (const std::uint64_t n : answer.counts) counted += n;
      return true;
    });
  };
  for (const int threads : options.threads) {
    const std::vector<Times> times =
        measure({{"decode", [&] { decode(threads); }}, {"histograms", [&] { histograms(threads); }}},
                std::min(options.repetitions, 5));
    if (counted != static_cast<std::uint64_t>(frames * width * height))
      throw Error("bench video: the regions' counts do not add up to the frames' pixels");
    Record record{"video", "sequence", "8u-64u", width, height, binning.bins(), frames};
    record.threads = threads;
    record.time = times[1];
    record.floor = "decode";
    record.floor_time = times[0];
    record.bytes = static_cast<std::uint64_t>(frames * width * height);
    report.add(record);
  }
}

}  // namespace areal::bench
