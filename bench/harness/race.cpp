#include "bench/harness/race.hpp"
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/research/histogram.hpp>
#include <areal/research/sat.hpp>
#include "bench/harness/peers.hpp"
#include "bench/protocol/cuda_bench.hpp"

namespace areal::bench {
namespace {

/// Calls the plug-in's function for it: throws what it says.
template <class What>
void call(const char* function, const What& what) {
  std::string missing;
  const auto run = reinterpret_cast<void (*)(const What*, char*, std::size_t)>(find_cuda_bench(function, missing));
  if (run == nullptr) throw Unavailable("backend cuda: " + missing);
  call(run, what);
}

struct Ran {
  std::string algorithm, refused;
  Times time, floor;
  std::vector<LaunchTime> launches;
};

Record record_of(const Race& race, const Racer& racer, const Ran& ran, const Options& options) {
  Record record{race.what(),      ran.algorithm, name_of(race.types), race.size.width,
                race.size.height, race.bins,     race.batch};
  record.time = ran.time;
  record.floor = floor_of(race);
  record.floor_time = ran.floor;
  const std::size_t entries = race.bins != 0 ? static_cast<std::size_t>(race.bins) : 1;
  record.bytes = static_cast<std::uint64_t>(race.size.width * race.size.height * race.batch) *
                 (size_of(race.types.input) + entries * size_of(race.types.table));
  record.backend = Backend::cuda;
  record.device = device_name(options.device);
  record.border = Border::none;
  record.threads = 0;
  record.shown = options.shown;
  record.launches = ran.launches;
  const Algorithm* const row = find_algorithm(race.what(), ran.algorithm);
  if (row == nullptr) return record;  // a peer is not in the catalogue
  record.source = row->source;
  if (row->takes.r) record.r = research::hybrid_share({race.size.width, race.size.height}, racer.r, record.border);
  if (row->takes.scan) record.scan = name_of(racer.scan);
  if (row->takes.tile) {
    record.tile = racer.tile;
    record.tile_threads = racer.tile_threads != 0 ? racer.tile_threads : research::default_tile_threads(racer.tile);
  }
  if (row->takes.group) record.group = racer.group;
  return record;
}

}  // namespace

std::string floor_of(const Race& race) {
  return race.bins != 0 ? "memset" : size_of(race.types.input) == size_of(race.types.table) ? "copy" : "widen";
}

Times race(const Race& race, const Options& options, const RaceCallbacks& callbacks) {
  CudaRace request{race.types,     race.size.width, race.size.height, race.bins, race.batch, {}, options.repetitions,
                   options.device, race.launches,   race.line,        {},        {},         {}, {}};
  for (const Racer& racer : race.racers)
    request.racers.push_back({racer.algorithm, racer.r, racer.scan, racer.tile, racer.tile_threads, racer.group});
  Times of_most;
  std::vector<Ran> all(race.racers.size());
  request.floor = [&](const std::vector<double>& times) { of_most = times_of(times); };
  request.done = [&](std::size_t i, const std::string& algorithm, const std::vector<double>& times,
                     const std::vector<double>& floor, const std::vector<CudaLaunchTimes>& launches) {
    Ran& ran = all.at(i);
    ran.algorithm = algorithm;
    ran.time = times_of(times);
    ran.floor = times_of(floor);
    for (const CudaLaunchTimes& l : launches)
      ran.launches.push_back({l.kernel, l.launches, l.blocks, l.threads, l.occupancy, times_of(l.times)});
  };
  request.refused = [&](std::size_t i, const std::string& why) { all.at(i).refused = why; };
  request.wrong = [&](std::size_t i, const std::string& why) {
    all.at(i).refused = why;
    if (options.wrong) options.wrong(why);
  };
  call("areal_cuda_bench_race", request);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].refused.empty())
      callbacks.ran(i, record_of(race, race.racers[i], all[i], options));
    else
      callbacks.refused(i, all[i].refused);
  return of_most;
}

LinkTimes link_times(std::uint64_t up_bytes, std::uint64_t down_bytes, const Options& options) {
  LinkTimes link;
  call("areal_cuda_bench_link", CudaLink{up_bytes, down_bytes, options.repetitions, options.device,
                                         [&](const std::vector<double>& up, const std::vector<double>& down) {
                                           link.up = times_of(up);
                                           link.down = times_of(down);
                                         }});
  return link;
}

}  // namespace areal::bench
