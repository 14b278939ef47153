// areal bench sat|histogram|scan --table all: every row of the catalogue that a GPU runs, against the default; scans
// have no default and run against CUB's.
#include <fmt/format.h>
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include "bench/harness/bench.hpp"
#include "bench/harness/race.hpp"

namespace areal::bench {
namespace {

constexpr int papers_tile = 64;  // the best of Poostchi 2017

std::vector<Racer> rows_of(std::string_view family, const Options& options) {
  std::vector<Racer> racers;
  if (family != "scan") racers.push_back({"auto"});
  for (const std::string& id : options.algorithms)
    if (id != "auto") racers.push_back({id});
  if (options.algorithms.empty())
    for (const Algorithm& row : algorithms())
      if (row.family == family && row.cuda) racers.push_back({std::string(row.id)});
  for (Racer& racer : racers) racer.tile = papers_tile;  // only cw-tis and wf-tis have tiles
  return racers;
}

void run(const Race& race, const Options& options, Report& report) {
  const auto keep = [&](std::size_t i, Record record) {
    // The default has a row of its own, next to the row of the algorithm that it chose.
    if (race.racers[i].algorithm == "auto") record.algorithm = "auto";
    report.add(record);
  };
  const auto refuse = [&](std::size_t i, const std::string& why) {
    report.note(fmt::format("{} of {} {}x{} did not run: {}", race.racers[i].algorithm, name_of(race.types),
                            race.size.width, race.size.height, why));
  };
  bench::race(race, options, {keep, refuse});
}

/// Elements whose sums, and the levels above them, lie in a GPU's L2 while sequential-parallel goes up and down.
constexpr std::int64_t cached_group = 1 << 20;

/// Elements that one warp sums in some tenths of a second: longer lines are not given to it unasked.
constexpr std::int64_t warps_line = 1 << 24;
bool is_of_one_warp(const Racer& racer) {
  return racer.algorithm == "kogge-stone" || racer.algorithm == "ladner-fischer";
}

}  // namespace

void bench_all_tables(const Options& options, Report& report) {
  Race race;
  race.batch = options.batch;
  race.racers = rows_of("sat", options);
  std::vector<TypePair> all = options.pairs;
  if (all.empty())
    for (const char* name : {"64f64f", "32f32f", "8u32u"}) all.push_back(type_pair(name));
  for (const TypePair types : all)
    for (const Size& size :
         options.sizes.empty() ? std::vector<Size>{{1024, 1024}, {4096, 4096}, {16384, 16384}} : options.sizes) {
      race.types = types, race.size = size;
      run(race, options, report);
    }
}

void bench_all_tensors(const Options& options, Report& report) {
  Race race;
  race.batch = options.batch;
  race.racers = rows_of("histogram", options);
  for (const Size& size :
       options.sizes.empty() ? std::vector<Size>{{512, 512}, {1024, 1024}, {1920, 1080}} : options.sizes)
    for (const std::int64_t bins : options.bins.empty() ? std::vector<std::int64_t>{32} : options.bins) {
      race.size = size, race.bins = bins;
      run(race, options, report);
    }
}

void bench_all_lines(const Options& options, Report& report) {
  if (options.batch != 1)
    throw InvalidArgument(fmt::format("--batch {}: bench scan sums one line at a time", options.batch));
  for (const Size& size : options.sizes)
    if (size.height != 1) throw InvalidArgument(fmt::format("--size {}x{}: a line is Nx1", size.width, size.height));
  Race race;
  race.line = true;
  std::vector<TypePair> all = options.pairs;
  if (all.empty())
    for (const char* name : {"32f32f", "8u32u", "64f64f"}) all.push_back(type_pair(name));
  for (const TypePair types : all)
    for (const Size& size : options.sizes.empty()
                                ? std::vector<Size>{{2048, 1}, {1 << 20, 1}, {1 << 24, 1}, {1 << 28, 1}}
                                : options.sizes) {
      race.types = types, race.size = size;
      race.racers = rows_of("scan", options);
      if (options.algorithms.empty() && size.width > warps_line && std::erase_if(race.racers, is_of_one_warp) != 0)
        report.note(
            fmt::format("scan: {} elements are too many for the one warp of kogge-stone and ladner-fischer; "
                        "--algorithm times them",
                        size.width));
      for (Racer& racer : race.racers) racer.group = std::min(cached_group, size.width);
      if (options.peers) race.racers.push_back({"cub"});
      run(race, options, report);
    }
}

}  // namespace areal::bench
