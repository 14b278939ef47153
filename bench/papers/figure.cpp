#include "bench/papers/figure.hpp"
#include <fmt/format.h>
#include <algorithm>
#include <areal/error.hpp>
#include <utility>

namespace areal::bench {

void check_figure(const Options& options) {
  const std::string with = " may not be given with --figure " + options.shown;
  if (!options.algorithms.empty()) throw InvalidArgument("--algorithm" + with + ", which times the paper's algorithms");
  if (!options.pairs.empty()) throw InvalidArgument("--types" + with + ", which counts 8u pixels in 32u");
  if (options.batch != 1) throw InvalidArgument("--batch" + with + ", which takes one image at a time");
  if (options.border != Border::none)
    throw InvalidArgument("--border" + with + ", which makes tensors without a border");
}

Ranks keep_race(const Race& race, const Options& options, Report& report,
                const std::function<std::vector<LaunchTime>(const std::vector<LaunchTime>&)>& select_launches) {
  Ranks ranks(race.racers.size());
  const auto ran = [&](std::size_t i, Record record) {
    if (select_launches) record.launches = select_launches(record.launches);
    report.add(record);
    ranks[i] = std::move(record);
  };
  const auto refused = [&](std::size_t i, const std::string& why) {
    const Racer& racer = race.racers[i];
    const auto same = [&](const Racer& other) { return other.algorithm == racer.algorithm; };
    const bool tiles = std::count_if(race.racers.begin(), race.racers.end(), same) > 1;
    const std::string on_tiles =
        fmt::format(" on tiles of {}{}", racer.tile,
                    racer.tile_threads != 0 ? fmt::format(" by {} threads", racer.tile_threads) : "");
    report.note(fmt::format("{}, {} bins: {}{} did not run: {}", text_of(race.size), race.bins, racer.algorithm,
                            tiles ? on_tiles : "", why));
  };
  bench::race(race, options, {ran, refused});
  return ranks;
}

std::string text_of(const Size& size) { return fmt::format("{}x{}", size.width, size.height); }

}  // namespace areal::bench
