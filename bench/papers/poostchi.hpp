#pragma once
// Data of the figures of Poostchi et al. 2017: bench_poostchi.cpp measures, poostchi_figures.cpp prints.

#include <string>
#include <vector>
#include "bench/papers/figure.hpp"

namespace areal::bench {

/// The algorithms of the figures, and the tiles of those that have them.
inline const std::vector<Racer> poostchi_racers = {
    {"cw-b"},
    {"cw-sts"},
    {"cw-tis", 0.25, WarpScan::kogge_stone, 16},
    {"cw-tis", 0.25, WarpScan::kogge_stone, 32},
    {"cw-tis", 0.25, WarpScan::kogge_stone, 64},
    {"wf-tis", 0.25, WarpScan::kogge_stone, 16},
    {"wf-tis", 0.25, WarpScan::kogge_stone, 32},
    {"wf-tis", 0.25, WarpScan::kogge_stone, 64},
    {"auto"},
};
/// Beside them for Figures 9 and 10, which are of one image: the same tiles by blocks of all other threads.
std::vector<Racer> poostchi_sweep();
/// Those of them that a figure of algorithms shows: tiles of 64, which the paper found the fastest.
inline const std::vector<std::size_t> poostchi_shown = {0, 1, 4, 7, 8};
inline constexpr std::size_t wavefront = 7;

/// An image's size and bins, and all that was measured of it. Microseconds are 0 where there are none.
struct PoostchiCase {
  Size size;
  std::int64_t bins = 0;
  Ranks ranks;                                          // the racers', then the sweep's, with launches by phase
  double image_up = 0, tensor_up = 0, tensor_down = 0;  // over the link
  double initialised = 0;                               // on the device
  std::vector<Record> host;                             // initialisation on the host, by threads
  std::vector<Record> cpu;                              // the versions of section 4.7, and areal's default

  /// The image up and the tensor down.
  double transfers() const { return image_up > 0 && tensor_down > 0 ? image_up + tensor_down : 0; }
};

struct Poostchi {
  std::vector<PoostchiCase> by_size;  // same number of bins
  std::vector<PoostchiCase> by_bins;  // same size
  std::size_t swept = 0;              // index in by_size of the case of Figures 9 and 10, which by_bins has too
};

/// The figures again, on standard output.
void print(const Poostchi& what);
/// Times over size and over bins.
std::string picture(const Poostchi& what);

}  // namespace areal::bench
