#pragma once
/// \file histogram.hpp Integral histograms as the papers have them: parameters of single algorithms, and launches.

#include <areal/histogram.hpp>
#include <areal/research/launch_counts.hpp>
#include <span>

namespace areal::research {

/// What single algorithms of the family `histogram` can be told; Algorithm::takes says which. Others ignore it.
struct HistogramParameters {
  int tile = 32;                ///< side of the tiles of cw-tis and wf-tis: 16, 32 or 64
  int tile_threads = 0;         ///< of a block on such a tile, one of tile_threads(tile); 0: the default
  LaunchReport on_launch = {};  ///< told of each launch on cuda and simt
};

/// A HistogramPlan with these parameters. Throws what HistogramPlan throws, InvalidArgument for a tile or number of
/// threads that no kernel has and for `on_launch` on the CPU, which launches nothing. Where `on_launch` is set,
/// Backend::automatic is a GPU where there is one.
HistogramPlan histogram_plan(const Shape& image, Type type, const Binning& binning,
                             const HistogramOptions& options = {}, const HistogramParameters& parameters = {},
                             const Execution& execution = {});

/// Threads that a block of cw-tis and wf-tis may have on tiles of that side, ascending: those that kernels are compiled
/// for with counters of 32u, others having the default alone. None where tiles have no such side.
std::span<const int> tile_threads(int tile) noexcept;
/// What HistogramParameters::tile_threads 0 stands for: 512, on tiles of 16 256.
int default_tile_threads(int tile) noexcept;

}  // namespace areal::research
