// areal bench histogram --figure lee-choe: Figures 3 to 5 of Lee, Choe 2014, times relative to Harris' algorithm, and
// those of areal's default. The largest tensor, 4096 x 2160 x 256, is 9 GB, which an algorithm of the paper reads
// and writes nine times: some 20 ms on an H200, and the whole figure well below half a minute.

#include <areal/error.hpp>
#include "bench/papers/figure.hpp"

namespace areal::bench {

void bench_lee_choe(const Options& options, Report& report) {
  check_figure(options);
  const std::vector<Size> sizes =
      options.sizes.empty() ? std::vector<Size>{{1920, 1080}, {2560, 1440}, {3840, 2160}, {4096, 2160}} : options.sizes;
  bool any = false;
  for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{256, 32} : options.bins)
    for (const Size& size : sizes) {
      Race race;
      race.size = size;
      race.bins = bins;
      for (const char* const id : {"harris", "lee-choe-multiple", "lee-choe-shared", "lee-choe", "auto"})
        race.racers.push_back({id});
      for (const std::optional<Record>& record : keep_race(race, options, report)) any = any || record;
    }
  if (!any) throw Unavailable("--figure lee-choe: nothing ran; the notes say why");
}

}  // namespace areal::bench
