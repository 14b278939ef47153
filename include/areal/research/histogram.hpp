#pragma once
/// \file histogram.hpp The papers' integral histograms: parameters of single algorithms, and launches.

#include <areal/histogram.hpp>
#include <areal/research/launch_counts.hpp>
#include <span>

namespace areal::research {

/// Parameters of single algorithms of the family `histogram`; Algorithm::takes says which read them. Others ignore
/// them.
struct HistogramParameters {
  int tile = 32;                ///< side of the tiles of cw-tis and wf-tis: 16, 32 or 64
  int tile_threads = 0;         ///< threads of a block on such a tile, one of tile_threads(tile); 0: the default
  LaunchReport on_launch = {};  ///< reports each launch on cuda and simt
};

/// A HistogramPlan with these parameters. With `on_launch`, Backend::automatic prefers a GPU.
/// Throws what HistogramPlan throws, InvalidArgument for a tile or number of threads that no kernel has and for
/// `on_launch` on the CPU, which launches nothing.
HistogramPlan histogram_plan(const Shape& image, Type type, const Binning& binning,
                             const HistogramOptions& options = {}, const HistogramParameters& parameters = {},
                             const Execution& execution = {});

/// Threads that a block of cw-tis and wf-tis may have on tiles of that side, ascending. They are compiled for counters
/// of 32u; other counters have the default alone. Empty for other sides.
std::span<const int> tile_threads(int tile) noexcept;
/// The meaning of HistogramParameters::tile_threads = 0: 512, or 256 on tiles of 16.
int default_tile_threads(int tile) noexcept;

}  // namespace areal::research
