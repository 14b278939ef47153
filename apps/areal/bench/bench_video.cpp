// areal bench video: 32-bin histograms of three regions of every frame, beside decoding alone.

#include <areal/error.hpp>
#include <areal/region_histogram.hpp>
#include "bench.hpp"
#include "media/media.hpp"

namespace areal::bench {

void bench_video(const Options& options, Report& report) {
  if (options.video.empty()) throw InvalidArgument("bench video needs a video: areal bench video INPUT");
  const Binning binning = Binning::of_type(Type::u8, options.bins.empty() ? 32 : options.bins.front());
  std::int64_t frames = 0, width = 0, height = 0;
  std::uint64_t counted = 0;
  const auto pass = [&](bool count, int threads) {
    const std::unique_ptr<media::Video> video = media::open_video(options.video);
    width = video->width();
    height = video->height();
    const Region regions[] = {{0, 0, width / 2, height / 2},
                              {width / 2, 0, width - width / 2, height / 2},
                              {0, height / 2, width, height - height / 2}};
    std::vector<std::uint64_t> histograms(3 * static_cast<std::size_t>(binning.bins()));
    media::Frame frame;
    frames = 0;
    counted = 0;
    for (; video->next(frame); ++frames) {
      if (!count) continue;
      region_histograms(frame.pixels.view(), binning, regions, histograms,
                        {.execution = {.backend = Backend::cpu, .threads = threads}});
      for (const std::uint64_t n : histograms) counted += n;
    }
  };
  for (const int threads : options.threads) {
    const std::vector<Times> times =
        measure({{"decode", [&] { pass(false, threads); }}, {"histograms", [&] { pass(true, threads); }}},
                std::min(options.repetitions, 5));
    if (counted != static_cast<std::uint64_t>(frames * width * height))
      throw Error("bench video: the regions' counts do not add up to the frames' pixels");
    Record record{"video", "decode+region_histograms", "8u-64u", width, height, binning.bins(), frames};
    record.threads = threads;
    record.time = times[1];
    record.floor = "decode";
    record.floor_time = times[0];
    record.bytes = static_cast<std::uint64_t>(frames * width * height);
    report.add(record);
  }
}

}  // namespace areal::bench
