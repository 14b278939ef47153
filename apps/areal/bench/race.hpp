#pragma once
// A race on a GPU: algorithms with what they take, in turns on one image, beside their floor. What the papers' tables
// and figures are made of.

#include <areal/border.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/type_pair.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "bench.hpp"
#include "measure.hpp"

namespace areal::bench {

/// An algorithm, and what it takes: those that take none ignore it.
struct Racer {
  std::string algorithm;  // "auto", an id of the catalogue; a peer's: "npp", "scan-scan", of lines "cub"
  double r = 0.25;        // of hybrid-1r1w
  WarpScan scan = WarpScan::kogge_stone;
  int tile = 32;           // of cw-tis and wf-tis
  int tile_threads = 0;    // of their blocks; 0: the default
  std::int64_t group = 0;  // k of sequential-parallel
};

/// Tables of that type pair, or tensors (8u, uniform bins over 0 to 256, 32u) where there are bins, or sums of a line,
/// which is an image of height 1.
struct Race {
  TypePair types = {Type::u8, Type::u32};
  Size size;
  std::int64_t bins = 0, batch = 1;
  std::vector<Racer> racers;
  bool launches = false;  // also what each launch takes
  bool line = false;

  std::string what() const { return line ? "scan" : bins != 0 ? "histogram" : "sat"; }  // the family
};

/// Told what became of each racer, in their order, when all have run.
struct Told {
  /// It ran, and its table, tensor or sums were found right. The record has what it took, its floor in its turns, and
  /// as algorithm what ran: what auto chose, a peer with its version.
  std::function<void(std::size_t i, Record record)> ran;
  /// Why it did not run, or what of its result is wrong.
  std::function<void(std::size_t i, const std::string& why)> refused;
};

/// Times the race on that device with border none: one execute on a prepared plan, `options.repetitions` rounds, fewer
/// (three at the least) where they would take more than a second each. Image and check are the device's own: whole
/// numbers whose sums the table holds exactly, and every entry's difference from its three neighbours is the pixel.
/// A racer that cannot run there (memory, type pair) is refused, the others run; one whose result is wrong, too, and
/// `options.wrong` is told. Throws Error where there is no GPU, or it is lost. The result is the floor, in the turns of
/// most of them: copy or widen for tables and lines, memset for tensors.
Times race(const Race& race, const Options& options, const Told& told);

/// "copy", "widen" or "memset": the floor of that race.
std::string floor_of(const Race& race);

/// Microseconds that a copy of so many bytes takes over the link, between pinned host memory and that device.
struct LinkTimes {
  Times up, down;
};
LinkTimes link_times(std::uint64_t up_bytes, std::uint64_t down_bytes, const Options& options);

}  // namespace areal::bench
