#pragma once
// The compact store (areal; formulas/compact.hpp has its layout). Up to 32 bins, in blocks of 32 (bands_take):
//   label    the label of each pixel, unless `bands` finds them itself                              (label.hpp)
//   bands    a block walks along 16 rows or columns and writes their strips, and totals of rows     (bands.hpp)
//   anchors  sums of the totals                                                                     (anchors.hpp)
// Reads 2 bytes a pixel, writes 1 + 4 K'/32 + K'/128 and reads K'/128 of workspace. All others, and on devices before
// sm_80, by tiles of 128 x 128 pixels:
//   label   the label of each pixel, unless `count` finds them itself                               (label.hpp)
//   count   a block counts each bin in the rows and the columns of a tile, a byte a count           (count.hpp)
//   walk    sums of these over the tiles to the left and above                                      (walk.hpp)
//   strips  a block counts its tile again and writes anchors and strips in whole sectors            (strips.hpp)
// Traffic: 3 + 12 K'/128 + 4 K'/B bytes a pixel; workspace 6 K'/128. No block waits for others of its launch. All
// counts are exact, so that the bytes are those of the CPU.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include "formulas/compact.hpp"
#include "kernels/histogram/compact/anchors.hpp"
#include "kernels/histogram/compact/bands.hpp"
#include "kernels/histogram/compact/count.hpp"
#include "kernels/histogram/compact/label.hpp"
#include "kernels/histogram/compact/strips.hpp"
#include "kernels/histogram/compact/tiles.hpp"
#include "kernels/histogram/compact/walk.hpp"
#include "kernels/histogram/request.hpp"
#include "kernels/primitives/pixel_bin.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// Whether a store of that layout is built by bands on devices with multiply_bits, which bands_read or not. Long narrow
/// images, whose bands are chains of many units, are faster by tiles. H200, us by bands and by tiles, 32 bins: 64x8192
/// 35 and 44, 64x16384 58 and 49, 512x16384 64 and 75; with labels first: 64x4096 28 and 42, 1024x8192 81 and 75.
inline bool bands_take(const formulas::Compact& c, bool reads) {
  const auto [shortest, longest] = std::minmax(c.width, c.height);
  return c.bins <= 32 && c.block == 32 && shortest > 0 &&
         (longest <= (reads ? 8192 : 4096) || longest <= (reads ? 32 : 4) * shortest);
}

/// Whether bands read the image itself: bytes without a mask, whose bins are a product, in rows of whole vectors.
inline bool bands_read(const CompactArgs& a, bool from_bytes) {
  const auto bits = reinterpret_cast<std::uintptr_t>(a.image.data) |
                    static_cast<std::uintptr_t>(a.image.in.row | a.image.in.batch | a.c.width);
  return from_bytes && a.scale != 0 && a.mask == nullptr && a.image.in.column == 1 && bits % sizeof(FourWords) == 0;
}

/// The geometry and the workspace of one build.
struct CompactPlan {
  CompactArgs args;
  CompactBandArgs bands;   ///< if bands may take the layout
  char* tables = nullptr;  ///< the rule's, which `prepare` copies there
  std::size_t workspace_bytes = 0;

  explicit CompactPlan(const CompactRequest& request, void* workspace = nullptr) {
    const formulas::Compact& c = args.c = request.layout;
    const auto up = [](std::int64_t n) { return (n + compact_tile - 1) / compact_tile; };
    const auto tiles_of = [](std::int64_t size, std::int64_t lattice) {
      return (size > lattice ? size : lattice) / compact_tile + 1;
    };
    args.groups = static_cast<int>(up(c.padded_bins()));
    // An image without pixels has no tiles with pixels in either direction.
    args.tiles_x = c.height > 0 ? up(c.width) : 0, args.tiles_y = c.width > 0 ? up(c.height) : 0;
    args.before_x = tiles_of(c.width, c.line(c.width) << c.shift);
    args.before_y = tiles_of(c.height, c.line(c.height) << c.shift);
    args.scale = request.scale;
    const std::int64_t bins = c.padded_bins(), line = compact_tile * bins;
    const std::int64_t counted = c.images * args.tiles_y * args.tiles_x;
    const std::int64_t before[2] = {c.images * args.tiles_y * args.before_x, c.images * args.before_y * args.tiles_x};
    Workspace from(workspace);
    from.take(tables, static_cast<std::int64_t>(request.tables.size()));
    for (int direction = 0; direction < 2; ++direction) {
      from.take(args.counts[direction], counted * line);
      from.take(args.before[direction], before[direction] * line);
      from.take(args.cells[direction], before[direction] * CompactArgs::entries(direction) * bins);
    }
    workspace_bytes = from.bytes();
    if (!bands_take(c, true)) return;  // nor those with labels first
    CompactBandArgs& b = bands;
    b.c = c, b.scale = args.scale, b.by_rows = c.width <= c.height;
    if (std::has_single_bit(b.scale)) b.shift = 16 - std::countr_zero(b.scale);
    for (const bool rows : {false, true}) {
      b.bands[rows] = static_cast<int>(((rows ? c.height : c.width) + compact_band - 1) / compact_band);
      b.unit_step[rows] = static_cast<int>(2 * (rows ? bins : c.column_strip(0, 1, 0)));
      b.eight_lines[rows] = static_cast<int>(2 * 8 * (rows ? c.row_strip(0, 1, 0) : bins));
    }
    Workspace instead(workspace);  // of what tiles need
    instead.take(tables, static_cast<std::int64_t>(request.tables.size()));
    instead.take(b.totals, c.images * b.bands[b.by_rows] * b.lattice(!b.by_rows) * warp_size);
    workspace_bytes = std::max(workspace_bytes, instead.bytes());
  }
};

/// Calls f with the CompactBins of a number of bins.
template <class F>
void with_compact_bins(std::int64_t padded_bins, F&& f) {
  if (padded_bins <= 32) return f(CompactBins<5>{});
  if (padded_bins <= 64) return f(CompactBins<6>{});
  return f(CompactBins<7>{});
}

/// The workspace already has the rule's tables.
template <class Launcher>
void build_compact(Launcher& launcher, const CompactRequest& request, const CompactArguments& arguments,
                   void* workspace) {
  CompactPlan plan(request, workspace);
  CompactArgs& a = plan.args;
  const bool is_byte = size_of(request.type) == 1;
  PixelRule rule = request.rule;
  for (int c = 0; c < rule.channels; ++c)
    rule.channel[c].data = (is_byte ? request.tables.data() : plan.tables) + request.table_at[c];
  a.image = counted_image(arguments.image, rule);
  a.words = reinterpret_cast<std::uintptr_t>(a.image.data) % 4 == 0 && (a.image.in.row | a.image.in.batch) % 4 == 0 &&
            a.image.in.column == 1;
  if (arguments.mask.data != nullptr) {
    a.mask = static_cast<const char*>(arguments.mask.data);
    a.mask_in = strides(arguments.mask);
  }
  a.store = static_cast<char*>(arguments.store);
  const formulas::Compact& c = a.c;
  const std::int64_t tiles = c.images * a.tiles_x * a.tiles_y * a.groups;
  const bool from_bytes = is_byte && rule.channels == 1 && c.label_bytes == 1;
  const auto label = [&] {
    with_pixel(request.type, [&](auto pixel) {
      using Label = CompactPixels<decltype(pixel)>;
      const std::int64_t squares = c.images * c.square_rows() * c.square_columns();
      constexpr int threads = CompactLabel<NoMachine, Label>::threads;
      launcher.template launch<CompactLabel, Label>((squares + threads - 1) / threads, a, false);
    });
  };
  const bool reads = bands_read(a, from_bytes);
  if (bands_take(c, reads) && launcher.template multiplies_bits<CompactBands, CompactBandConfig<true, true>>()) {
    CompactBandArgs& b = plan.bands;
    b.image = a.image.data, b.row = a.image.in.row, b.batch = a.image.in.batch, b.store = a.store;
    if (!reads) label();
    const auto launch_bands = [&]<bool from_image, bool by_rows>() {
      launcher.template launch<CompactBands, CompactBandConfig<from_image, by_rows>>(
          c.images * (b.bands[0] + b.bands[1]), b, !from_image);
    };
    if (reads)
      b.by_rows ? launch_bands.template operator()<true, true>() : launch_bands.template operator()<true, false>();
    else
      b.by_rows ? launch_bands.template operator()<false, true>() : launch_bands.template operator()<false, false>();
    launcher.template launch<CompactAnchors, NoConfig>(c.images * b.lattice(!b.by_rows), b, true);
    return;
  }
  if (tiles > 0 && !from_bytes) label();
  with_compact_bins(c.padded_bins(), [&]<int bits>(CompactBins<bits>) {
    if (tiles > 0) {
      if (from_bytes)
        launcher.template launch<CompactCount, CompactSource<bits, true>>(tiles, a, false);
      else
        launcher.template launch<CompactCount, CompactSource<bits, false>>(tiles, a, true);
    }
    using Walk = CompactWalk<NoMachine, NoConfig>;
    std::int64_t walks = 0;
    for (int direction = 0; direction < 2; ++direction)
      walks += Walk::blocks_of_counts(a, direction) + Walk::blocks_of_cells(a, direction);
    launcher.template launch<CompactWalk, NoConfig>(walks, a, tiles > 0);
    const auto strips = [&]<int step>() {
      launcher.template launch<CompactStrips, CompactLattice<bits, step>>(c.images * a.before_x * a.before_y * a.groups,
                                                                          a, walks > 0);
    };
    if (c.block == 32) return strips.template operator()<1>();
    if (c.block == 64) return strips.template operator()<2>();
    strips.template operator()<4>();
  });
}

}  // namespace areal::kernels
