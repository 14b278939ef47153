#pragma once
/// \file sat.hpp Summed-area tables as the papers have them: parameters of single algorithms, launches, and the share
/// of hybrid-1r1w's triangles.

#include <areal/research/launch_counts.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/sat.hpp>
#include <cstddef>
#include <vector>

namespace areal::research {

/// What single algorithms of the family `sat` can be told; Algorithm::takes says which. Others ignore it.
struct SatParameters {
  /// The share of the pixels, above 0 and below 1, that hybrid-1r1w leaves to its two triangles; the plan's reason says
  /// which share they have, as triangles are made of tiles.
  double r = 0.25;
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column
  LaunchReport on_launch = {};            ///< told of each launch on cuda and simt
};

/// A SatPlan with these parameters. Throws what SatPlan throws, InvalidArgument for an r out of range and for
/// `on_launch` on the CPU, which launches nothing. Where `on_launch` is set, Backend::automatic is a GPU where there is
/// one.
SatPlan sat_plan(const Shape& image, Type input, const SatOptions& options = {}, const SatParameters& parameters = {},
                 const Execution& execution = {});

/// The share that hybrid-1r1w's triangles have for an image of that size where `r` is asked for: the nearest that whole
/// tiles can make, 0 where the image has but one row or column of them.
double hybrid_share(const Shape& image, double r, Border border = Border::zero);
/// Shares that the triangles can have, k (k + 1) of all tiles for k tiles to a side, ascending: of those from `from` to
/// `to` all, or `most` evenly spread over k, the largest among them. None where the image has but one row or column.
std::vector<double> hybrid_shares(const Shape& image, Border border, std::size_t most, double from = 0, double to = 1);
/// The share that does best of some 18 on images of that shape, whatever their pixels: 12 over all sides of the
/// triangles, then some around the best of those. On cuda that with the least median time of an execute; on simt, whose
/// time is no machine's, that with the least global memory access cost C/w + S + (B + 1)(l - 1) (Kasagi 2014) of what
/// is counted, where w = l = 32. `otherwise` where the image has but one row or column of tiles. Throws what SatPlan
/// throws, InvalidArgument for another algorithm, OutOfMemory where the device lacks the bytes.
double best_hybrid_share(const Shape& image, Type input, const SatOptions& options, const Execution& execution,
                         double otherwise = 0.25);

}  // namespace areal::research
