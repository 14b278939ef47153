#pragma once
// bands (areal). 1 launch. Reads 1, writes 1 per element. Floats are the same every run on one kind of device. The
// kernel is kernel.hpp. It takes images of one channel, pixels and sums of 4 bytes, rows of pixels that begin at
// multiples of 16 bytes, and machines with clusters; all else (masks, carries, several images, other types) is
// lookback-diagonal's, from the same plan.

#include <algorithm>
#include <cstdint>
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/workspace.hpp"
#include "kernels/sat/bands/kernel.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

/// The shorter side from which on lookback-diagonal is faster than lookback.
inline constexpr std::int64_t bands_diagonal_from = 6144;

/// Types and tuning. Flat bands leave time for little else than the exchange, so more steps of them are under way; of
/// high ones the ring holds few, so it gets the memory. Of one H200, 2026-11: docs/notes/cuda-sat.md.
template <class In_, class T_, bool flat>
struct BandsConfig {
  using In = In_;
  using T = T_;
  static constexpr int rows = flat ? 3 : 5, exchangers = flat ? 6 : 4, fetchers = flat ? 2 : 4;
  static constexpr std::size_t shared_bytes = 227 * 1024;  // all that a block can have, on sm_90 and sm_100
};

/// The geometry and the workspace of one plan, where clusters have at most so many blocks.
template <class In, class T>
struct BandsPlan {
  using Flat = BandsConfig<In, T, true>;
  using High = BandsConfig<In, T, false>;
  static constexpr int columns = Bands<NoMachine, High>::columns, writers = Bands<NoMachine, High>::writers;
  static constexpr int clusters = 7, blocks = 16 * clusters;  ///< that an H200 holds: bands are cut for them

  explicit BandsPlan(const Shape& image, int cluster_blocks, void* workspace = nullptr) {
    args.width = image.width, args.height = image.height;
    args.cluster_blocks = cluster_blocks, args.round = clusters;
    static constexpr std::int64_t most = blocks * writers * High::rows;
    const std::int64_t rounds = std::max<std::int64_t>(1, (image.height + most - 1) / most);
    args.band = static_cast<int>((image.height + blocks * rounds - 1) / (blocks * rounds));
    args.band = std::max(args.band, 1);
    flat = args.band <= writers * Flat::rows;
    args.steps = static_cast<int>((image.width + columns - 1) / columns);
    const std::int64_t super = static_cast<std::int64_t>(cluster_blocks) * args.band;
    args.supers = static_cast<int>((image.height + super - 1) / super);
    const int lines = flat ? Bands<NoMachine, Flat>::ring_lines : Bands<NoMachine, High>::ring_lines;
    args.slots = std::min(lines / args.band, Bands<NoMachine, High>::most_slots);
    Workspace from(workspace);
    from.take(args.ticket, 1);
    const std::int64_t words = static_cast<std::int64_t>(args.supers) * args.steps * columns;
    from.take(args.sums, words);
    from.take(args.prefixes, words);
    workspace_bytes = image.empty() ? 0 : from.bytes();
  }

  BandsArgs<In, T> args{};
  bool flat = false;
  std::size_t workspace_bytes = 0;
};

/// False, and nothing is done, where it does not take this image. The workspace was zeroed once.
template <class In, class T, class Launcher>
bool bands(Launcher& launcher, Border border, const ConstView& image, const Valid& valid, const TableViews& tables,
           void* workspace) {
  const bool carries = tables.carry.above.data != nullptr || tables.carry.left.data != nullptr;
  if (border != Border::none || image.shape.batch * image.shape.channels != 1 || valid.plane != nullptr || carries ||
      image.shape.empty() || image.shape.width % Bands<NoMachine, BandsConfig<In, T, true>>::V != 0)
    return false;
  BandsPlan<In, T> plan(image.shape, Launcher::largest_cluster, workspace);
  auto& a = plan.args;
  a.image = first_element<false>(image, a.in);
  a.table = first_element<false>(tables.sum, a.out);
  if (alignment_of(a.image, a.in, sizeof(In), sizeof(Vec<In, 4>)) != Alignment::vectors ||
      alignment_of(a.table, a.out, sizeof(T), sizeof(Vec<T, 4>)) != Alignment::vectors)
    return false;
  const auto launch = [&]<class C>() {
    const int most = launcher.template most_clusters<Bands, C>(a.cluster_blocks);
    if (most == 0) return false;
    launcher.template launch_clusters<Bands, C>(a.cluster_blocks, std::min(most, a.supers), a);
    return true;
  };
  return plan.flat ? launch.template operator()<typename BandsPlan<In, T>::Flat>()
                   : launch.template operator()<typename BandsPlan<In, T>::High>();
}

}  // namespace areal::kernels
