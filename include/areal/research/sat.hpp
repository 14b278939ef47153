#pragma once
/// \file sat.hpp The papers' summed-area tables: parameters of single algorithms, launches, and the share of
/// hybrid-1r1w's triangles.

#include <areal/research/launch_counts.hpp>
#include <areal/research/warp_scan.hpp>
#include <areal/sat.hpp>
#include <cstddef>
#include <vector>

namespace areal::research {

/// Parameters of single algorithms of the family `sat`; Algorithm::takes says which read them. Others ignore them.
struct SatParameters {
  /// The share of the pixels, above 0 and below 1, in hybrid-1r1w's two triangles. Triangles consist of tiles; the
  /// plan's reason gives the share rounded to them.
  double r = 0.25;
  WarpScan scan = WarpScan::kogge_stone;  ///< of scanrow-brlt and scanrow-column
  LaunchReport on_launch = {};            ///< reports each launch on cuda and simt
};

/// A SatPlan with these parameters. With `on_launch`, Backend::automatic prefers a GPU.
/// Throws what SatPlan throws, InvalidArgument for an r out of range and for `on_launch` on the CPU, which launches
/// nothing.
SatPlan sat_plan(const Shape& image, Type input, const SatOptions& options = {}, const SatParameters& parameters = {},
                 const Execution& execution = {});

/// The share of hybrid-1r1w's triangles for an image of that size and a requested `r`: the nearest that whole tiles can
/// make, 0 if the image has but one row or column of tiles.
double hybrid_share(const Shape& image, double r, Border border = Border::zero);
/// Possible shares of the triangles, k (k + 1) of all tiles for triangles of k tiles a side, ascending: all from `from`
/// to `to`, or `most` of them evenly spread over k, including the largest. Empty if the image has but one row or column
/// of tiles.
std::vector<double> hybrid_shares(const Shape& image, Border border, std::size_t most, double from = 0, double to = 1);
/// The best share for images of that shape among about 18: 12 over all sides of the triangles, then some around the
/// best of those. On cuda the one with the least median time of an execute; on simt, which measures no real time, the
/// one with the least global memory access cost C/w + S + (B + 1)(l - 1) (Kasagi 2014) of the counts, for w = l = 32.
/// Independent of the pixels. `otherwise` if the image has but one row or column of tiles.
/// Throws what SatPlan throws, InvalidArgument for another algorithm, OutOfMemory if the device lacks the bytes.
double best_hybrid_share(const Shape& image, Type input, const SatOptions& options, const Execution& execution,
                         double otherwise = 0.25);

}  // namespace areal::research
