#pragma once
// The rank store (areal; formulas/rank.hpp has its layout), level by level. A level whose panels fit a tile of 32 KiB:
//   panels   1 launch: a block parts a panel by all planes in shared memory                        (panels.hpp)
// A level of wider panels, whose tiles of 16 KiB are parted by four planes at once, in each pass over them:
//   count    the keys of each tile with each pattern of these four bits; zeros into the planes' lines  (digits.hpp)
//   scan     these counts of the tiles before                                                       (digits.hpp)
//   move     the four planes' lines, and the keys to where the four bits sort them                  (move.hpp)
// Traffic of such a pass: three times the keys, twice the lines; workspace twice the keys of the image. With planes
// left out, one launch more finds the greatest pixel (greatest.hpp). Launches overlap, but each waits for the one
// before; no block waits for others of its launch. The bytes are those of the CPU. docs/notes/cuda-rank.md has the
// attempts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include "formulas/rank.hpp"
#include "kernels/histogram/rank/digits.hpp"
#include "kernels/histogram/rank/greatest.hpp"
#include "kernels/histogram/rank/move.hpp"
#include "kernels/histogram/rank/panels.hpp"
#include "kernels/histogram/rank/tile.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/primitives/strides.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// The geometry and the workspace of one build.
struct RankPlan {
  RankArgs args;
  std::int64_t largest = 0, tile = 0;  ///< keys of a panel that one block parts; of a tile of wider ones
  char* keys[2] = {};
  std::size_t workspace_bytes = 0;

  explicit RankPlan(const RankRequest& request, void* workspace = nullptr) {
    const formulas::Rank& r = args.r = request.layout;
    const std::int64_t size = std::max<std::int64_t>(2, static_cast<std::int64_t>(size_of(request.type)));  // of a key
    largest = rank_tile_bytes / size;
    tile = largest / 2;
    std::int64_t counts = 0;
    for (int level = 0; level < r.levels; ++level)
      if (is_wide(level)) counts = std::max(counts, r.matrices * r.panels_at(level) * (tiles(level) + 1));
    Workspace from(workspace);
    from.take(args.greatest, request.checks ? 1 : 0);
    from.take(args.counts, counts * rank_digits);
    // The first pass reads the image, the last one writes none.
    const int passes = counts == 0 ? 0 : (r.planes + rank_pass - 1) / rank_pass;
    for (int i = 0; i < 2; ++i) from.take(keys[i], passes > i + 1 ? r.matrices * r.width * r.height * size : 0);
    workspace_bytes = from.bytes();
  }
  std::int64_t panel_keys(int level) const { return args.r.columns(level, 0) * args.r.height; }
  bool is_wide(int level) const { return panel_keys(level) > largest; }
  std::int64_t tiles(int level) const { return (panel_keys(level) + tile - 1) / tile; }
};

template <class Launcher, class Pixel>
void launch_rank_greatest(Launcher& launcher, const RankArgs& a) {
  launcher.fill(a.greatest, 0xff, sizeof *a.greatest);
  constexpr std::int64_t warps = RankGreatest<NoMachine, RankTileOf<Pixel>>::warps;
  const std::int64_t blocks = (a.r.matrices * a.r.height + warps - 1) / warps;
  launcher.template launch<RankGreatest, RankTileOf<Pixel>>(std::min<std::int64_t>(blocks, 2048), a, false);
}

/// A level of panels that fit a tile, the smallest such: of panels of few keys, many blocks take turns.
template <class Launcher, class Pixel, int warps = 2>
void launch_rank_panels(Launcher& launcher, const RankPlan& plan, const RankArgs& a) {
  using Config = RankTileConfig<Pixel, warps>;
  if constexpr (warps < rank_warps)
    if (plan.panel_keys(a.level) > Config::keys)
      return launch_rank_panels<Launcher, Pixel, 2 * warps>(launcher, plan, a);
  launcher.template launch<RankPanels, Config>(a.r.matrices * a.r.panels_at(a.level), a, a.level > 0);
}

/// The passes over a level of wide panels.
template <class Launcher, class Pixel>
void launch_rank_passes(Launcher& launcher, const RankPlan& plan, RankArgs a) {
  const std::int64_t panels = a.r.matrices * a.r.panels_at(a.level);
  a.tiles = plan.tiles(a.level);
  for (int pass = 0; pass * rank_pass < a.r.planes; ++pass) {
    a.first = pass * rank_pass;
    a.planes = std::min(rank_pass, a.r.planes - a.first);
    a.to = a.first + a.planes < a.r.planes ? plan.keys[pass % 2] : nullptr;
    launcher.template launch<RankCount, RankTileOf<Pixel>>(panels * a.tiles, a, a.level > 0 || pass > 0);
    launcher.template launch<RankScan, NoConfig>(panels, a, true);
    launcher.template launch<RankMove, RankTileOf<Pixel>>(panels * a.tiles, a, true);
    a.from = a.to;
  }
}

template <class Launcher, class Pixel>
void build_rank_of(Launcher& launcher, RankPlan& plan, bool checks) {
  RankArgs& a = plan.args;
  if (checks) launch_rank_greatest<Launcher, Pixel>(launcher, a);
  for (int i = 0; i < a.r.levels; ++i) {
    a.level = i;
    if (plan.is_wide(a.level))
      launch_rank_passes<Launcher, Pixel>(launcher, plan, a);
    else
      launch_rank_panels<Launcher, Pixel>(launcher, plan, a);
  }
}

template <class Launcher>
void build_rank(Launcher& launcher, const RankRequest& request, const RankArguments& arguments, void* workspace) {
  RankPlan plan(request, workspace);
  RankArgs& a = plan.args;
  if (a.r.levels == 0) return;
  a.image = static_cast<const char*>(arguments.image.data);
  a.in = strides(arguments.image);
  const std::size_t size = size_of(request.type);
  a.aligned = alignment_of(a.image, a.in, size, size) != Alignment::bytes;
  a.channels = arguments.image.shape.channels;
  a.is_signed = is_signed_integer(request.type), a.is_real = is_float(request.type);
  a.store = static_cast<char*>(arguments.store);
  switch (size) {
    case 1:
      return build_rank_of<Launcher, std::uint8_t>(launcher, plan, request.checks);
    case 2:
      return build_rank_of<Launcher, std::uint16_t>(launcher, plan, request.checks);
    case 4:
      return build_rank_of<Launcher, std::uint32_t>(launcher, plan, request.checks);
    default:
      return build_rank_of<Launcher, std::uint64_t>(launcher, plan, request.checks);
  }
}

}  // namespace areal::kernels
