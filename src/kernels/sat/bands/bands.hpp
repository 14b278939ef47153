#pragma once
// bands (areal). 1 launch. Reads 1, writes 1 per element. Floats have the same bits every run on one kind of device.
// The kernel is kernel.hpp. Requirements (bands_takes and bands_fits): border none, one image of one channel, whole
// vectors a row, rows of pixels and of entries aligned to 16 bytes, and machines with clusters.

#include <algorithm>
#include <cstdint>
#include <string>
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/bands/kernel.hpp"
#include "kernels/sat/bands/tuning.hpp"
#include "kernels/sat/request.hpp"

namespace areal::kernels {

/// Number and size of the clusters for which bands are cut; after every `round`-th band of a cluster the sum of all
/// rows so far is published.
struct BandsGrid {
  int clusters, cluster_blocks, round;
  std::int64_t blocks() const { return static_cast<std::int64_t>(clusters) * cluster_blocks; }
};
/// What an H200 holds; more clusters on a machine with smaller ones.
constexpr BandsGrid bands_grid(int largest_cluster) { return {7 * 16 / largest_cluster, largest_cluster, 7}; }

/// The geometry and the workspace of one plan: flat bands if they suffice, else high ones.
template <class Flat_, class High_>
struct BandsPlan {
  using Flat = Flat_;
  using High = High_;
  using FlatKernel = Bands<NoMachine, Flat>;
  using HighKernel = Bands<NoMachine, High>;
  using Args = typename FlatKernel::Args;
  static constexpr int columns = FlatKernel::columns;
  static_assert(columns == HighKernel::columns);
  /// A row's width must be a multiple of this: one vector of entries, or one piece of a copy.
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

/// What bands needs, if it does not support this request on this machine; empty if it does.
template <class Plan, class Launcher>
std::string bands_takes(Launcher& launcher, const TableRequest& request) {
  const Shape& image = request.image;
  if (request.border != Border::none) return "it takes no border (border none)";
  if (request.counts) return "it takes no mask and leaves no pixels out";
  if (request.carries) return "it takes no carries";
  if (image.batch * image.channels != 1) return "it takes one image of one channel";
  if (image.width == 0 || image.height == 0 || image.width % Plan::vector != 0)
    return "it takes widths that are multiples of " + std::to_string(Plan::vector) + ", this image is " +
           std::to_string(image.width) + " wide";
  const BandsGrid grid = bands_grid(Launcher::largest_cluster);
  const bool has_clusters = Plan(image, grid).flat
                                ? launcher.template most_clusters<Bands, typename Plan::Flat>(grid.cluster_blocks) > 0
                                : launcher.template most_clusters<Bands, typename Plan::High>(grid.cluster_blocks) > 0;
  return has_clusters ? "" : "it takes devices with clusters of " + std::to_string(grid.cluster_blocks) + " blocks";
}

/// Sets the image's and the table's addresses in the plan's arguments. False if rows are not aligned to 16 bytes.
template <class Plan>
bool place_bands(typename Plan::Args& a, const ConstView& image, const TableViews& tables) {
  using Kernel = typename Plan::FlatKernel;
  using In = typename Kernel::In;
  using T = typename Kernel::T;
  static constexpr bool reverse = Kernel::reverse;
  Strides in, out;
  a.image = first_element<reverse>(image, in), a.image_row = in.row;
  if (alignment_of(a.image, in, sizeof(In), 16) != Alignment::vectors) return false;
  if (reverse) a.image += sizeof(In);
  a.table = first_element<reverse>(tables.sum, out), a.table_row = out.row;
  return alignment_of(a.table, out, sizeof(T), 16) == Alignment::vectors;
}

/// What views bands needs, if it does not support these; empty if it does.
template <class Plan>
std::string bands_fits(const TableRequest&, const ConstView& image, const TableViews& tables) {
  if (!tables.carry.empty()) return "it takes no carries";
  typename Plan::Args nowhere{};
  if (place_bands<Plan>(nowhere, image, tables)) return {};
  return "it takes rows of pixels and of entries that begin at multiples of 16 bytes";
}

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

/// For views that fit. The workspace was zeroed once. Returns false without a launch if the device refuses to run the
/// clusters at once.
template <class Plan, class Launcher>
bool bands(Launcher& launcher, const ConstView& image, const TableViews& tables, void* workspace,
           BandsGrid grid = bands_grid(Launcher::largest_cluster)) {
  Plan plan(image.shape, grid, workspace);
  place_bands<Plan>(plan.args, image, tables);
  return plan.flat ? launch_bands<typename Plan::Flat>(launcher, plan.args, grid)
                   : launch_bands<typename Plan::High>(launcher, plan.args, grid);
}

}  // namespace areal::kernels
