#pragma once
// A race on a GPU: algorithms with their parameters, and their floor, in turns on one image. The papers' tables and
// figures consist of races.

#include <areal/border.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type_pair.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "bench/harness/bench.hpp"
#include "bench/harness/measure.hpp"

namespace areal::bench {

/// An algorithm and its parameters; an algorithm ignores parameters that it does not have.
struct Racer {
  std::string algorithm;  // "auto", an id of the catalogue; a peer's: "npp", "scan-scan", of lines "cub"
  double r = 0.25;        // for hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;
  int tile = 32;           // for cw-tis and wf-tis
  int tile_threads = 0;    // per block; 0: the default
  std::int64_t group = 0;  // k, for sequential-parallel
};

/// Tables of that type pair, or tensors (8u, uniform bins over 0 to 256, 32u) where there are bins, or sums of a line,
/// which is an image of height 1.
struct Race {
  TypePair types = {Type::u8, Type::u32};
  Size size;
  std::int64_t bins = 0, batch = 1;
  std::vector<Racer> racers;
  bool launches = false;  // also time each launch
  bool line = false;

  std::string what() const { return line ? "scan" : bins != 0 ? "histogram" : "sat"; }  // the family
};

struct RaceCallbacks {
  /// The racer ran and its result is right. The record has its time, its floor and, as `algorithm`, what ran: the
  /// choice of auto, or a peer with its version.
  std::function<void(std::size_t i, Record record)> ran;
  /// The racer did not run, or its result is wrong.
  std::function<void(std::size_t i, const std::string& why)> refused;
};

/// Times one execute of a prepared plan, with border none: `options.repetitions` rounds, or down to three if a round
/// takes more than a second. The image is made and checked on the device: integers whose sums the table represents
/// exactly, and every entry's difference from its three neighbours must be the pixel. A racer that cannot run (memory,
/// type pair) is refused; so is one with a wrong result, which also goes to `options.wrong`. Throws Error without a GPU
/// or if it is lost. Returns the floor, measured in the turns of most racers: copy or widen for tables and lines,
/// memset for tensors.
Times race(const Race& race, const Options& options, const RaceCallbacks& callbacks);

/// "copy", "widen" or "memset": the floor of that race.
std::string floor_of(const Race& race);

/// Microseconds of a copy between pinned host memory and the device.
struct LinkTimes {
  Times up, down;
};
LinkTimes link_times(std::uint64_t up_bytes, std::uint64_t down_bytes, const Options& options);

}  // namespace areal::bench
