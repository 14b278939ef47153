#pragma once
// bands (areal). 1 launch. Reads 1, writes 1 per element. Floats are the same every run on one kind of device. The
// kernel is kernel.hpp. It takes images of one channel and whole vectors a row, rows of pixels and of entries that
// begin at multiples of 16 bytes, and machines with clusters; all else (borders, masks, carries, several images, other
// widths) is the tiles', from the same plan.

#include <algorithm>
#include <cstdint>
#include <string>
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/bands/kernel.hpp"
#include "kernels/sat/bands/tuning.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

/// The shorter side from which on lookback-diagonal is faster than lookback, by bytes of a pixel; of one H200, 2026-11.
constexpr std::int64_t bands_diagonal_from(std::size_t pixel) { return pixel == 8 ? 4096 : pixel == 1 ? 8192 : 6144; }

/// Clusters of so many blocks each for which bands are cut; after every `round`-th band of a cluster the sum of all
/// rows so far is published.
struct BandsGrid {
  int clusters, cluster_blocks, round;
  std::int64_t blocks() const { return static_cast<std::int64_t>(clusters) * cluster_blocks; }
};
/// What an H200 holds; more clusters where a machine has but smaller ones.
constexpr BandsGrid bands_grid(int largest_cluster) { return {7 * 16 / largest_cluster, largest_cluster, 7}; }

/// The geometry and the workspace of one plan: flat bands where they are enough, else high ones.
template <class Flat_, class High_>
struct BandsPlan {
  using Flat = Flat_;
  using High = High_;
  using FlatKernel = Bands<NoMachine, Flat>;
  using HighKernel = Bands<NoMachine, High>;
  using Args = typename FlatKernel::Args;
  static constexpr int columns = FlatKernel::columns;
  static_assert(columns == HighKernel::columns);
  /// Pixels of which a row has a whole number: what one vector of entries or one piece of a copy has.
  static constexpr int vector = FlatKernel::reverse
                                    ? FlatKernel::unit_pixels
                                    : std::max(4 / static_cast<int>(sizeof(typename Flat::In)), FlatKernel::Part::V);

  explicit BandsPlan(const Shape& image, BandsGrid grid, void* workspace = nullptr) {
    args.width = image.width, args.height = image.height;
    args.cluster_blocks = grid.cluster_blocks, args.round = grid.round;
    const std::int64_t blocks = grid.blocks();
    const std::int64_t most = blocks * HighKernel::writers * HighKernel::rows;
    const std::int64_t rounds = std::max<std::int64_t>(1, (image.height + most - 1) / most);
    args.band = static_cast<int>((image.height + blocks * rounds - 1) / (blocks * rounds));
    args.band = std::max(args.band, 1);
    flat = args.band <= FlatKernel::writers * FlatKernel::rows;
    args.steps = static_cast<int>((image.width + columns - 1) / columns);
    const std::int64_t super = static_cast<std::int64_t>(grid.cluster_blocks) * args.band;
    args.supers = static_cast<int>((image.height + super - 1) / super);
    Workspace from(workspace);
    from.take(args.launches, blocks * std::max(FlatKernel::exchangers, HighKernel::exchangers));
    const std::int64_t words = static_cast<std::int64_t>(args.supers) * args.steps * columns;
    from.take(args.sums, words);
    from.take(args.prefixes, words);
    empty = image.width == 0 || image.height == 0;
    workspace_bytes = empty ? 0 : from.bytes();
  }

  Args args{};
  bool flat = false, empty = false;
  std::size_t workspace_bytes = 0;
};

template <class In, class T, bool reverse = false>
using BandsPlanOf = BandsPlan<BandsConfig<In, T, true, reverse>, BandsConfig<In, T, false, reverse>>;

/// Why bands does not take such a request, wherever the data lie; empty if it does.
template <class Plan>
std::string bands_declines(const TableRequest& request) {
  const Shape& image = request.image;
  if (request.border != Border::none) return "it takes no border (border none)";
  if (request.counts) return "it takes no mask and leaves no pixels out";
  if (image.batch * image.channels != 1) return "it takes one image of one channel";
  if (image.width == 0 || image.height == 0 || image.width % Plan::vector != 0)
    return "it takes widths that are multiples of " + std::to_string(Plan::vector) + ", this image is " +
           std::to_string(image.width) + " wide";
  return {};
}

/// Places the image and the table in the plan's arguments. False: bands does not take these.
template <class Plan>
bool place_bands(Plan& plan, const ConstView& image, const Valid& valid, const TableViews& tables) {
  using Kernel = typename Plan::FlatKernel;
  using In = typename Kernel::In;
  using T = typename Kernel::T;
  static constexpr bool reverse = Kernel::reverse;
  const bool carries = tables.carry.above.data != nullptr || tables.carry.left.data != nullptr;
  if (plan.empty || image.shape.batch * image.shape.channels != 1 || valid.plane != nullptr || carries ||
      image.shape.width % Plan::vector != 0)
    return false;
  auto& a = plan.args;
  Strides in, out;
  a.image = first_element<reverse>(image, in), a.image_row = in.row;
  if (alignment_of(a.image, in, sizeof(In), 16) != Alignment::vectors) return false;
  if (reverse) a.image += sizeof(In);
  a.table = first_element<reverse>(tables.sum, out), a.table_row = out.row;
  return alignment_of(a.table, out, sizeof(T), 16) == Alignment::vectors;
}

/// False, and nothing is done, where the machine has no room for so many clusters.
template <class C, class Launcher, class Args>
bool launch_bands(Launcher& launcher, Args& a, BandsGrid grid) {
  using Kernel = Bands<NoMachine, C>;
  static_assert(Kernel::ring_lines >= Kernel::writers * Kernel::rows);
  a.slots = std::min(Kernel::ring_lines / a.band, Kernel::most_slots);
  const int most = launcher.template most_clusters<Bands, C>(a.cluster_blocks);
  if (most == 0) return false;
  return launcher.template launch_clusters_together<Bands, C>(a.cluster_blocks,
                                                              std::min({most, grid.clusters, a.supers}), a);
}

/// False, and nothing is done, where it does not take this image. The workspace was zeroed once.
template <class Plan, class Launcher>
bool bands(Launcher& launcher, Border border, const ConstView& image, const Valid& valid, const TableViews& tables,
           void* workspace, BandsGrid grid = bands_grid(Launcher::largest_cluster)) {
  if (border != Border::none) return false;
  Plan plan(image.shape, grid, workspace);
  if (!place_bands(plan, image, valid, tables)) return false;
  return plan.flat ? launch_bands<typename Plan::Flat>(launcher, plan.args, grid)
                   : launch_bands<typename Plan::High>(launcher, plan.args, grid);
}

}  // namespace areal::kernels
