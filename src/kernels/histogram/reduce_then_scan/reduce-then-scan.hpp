#pragma once
// reduce-then-scan (areal). 3 launches. Reads 1/b, writes 1 per element, and about 5 % of that in the workspace. Floats
// have the same bits every run.
//
// The tensor is far larger than the image, so it is written once, in whole cache lines, and never read. Tiles of 128
// columns and 64 rows are made independent first:
//   tile   pixels become bin numbers of 8 bits, in groups of bins whose counts fit shared memory; output: the counts of
//          each bin in each row and each column of a tile                                (tile.hpp)
//   walk   along rows and columns of tiles, these become the sums left of each row of a tile and above each of its
//          columns                                                                       (walk.hpp)
//   write  a warp writes a tile of one bin. Its anchor, the finished row above the tile, is the scan of the sums above
//          its columns plus the corner, which adds up the sums of the tiles to the left or above; each further row is
//          the row above, plus the sum left of the tile, plus the scan of the row's own counts  (write.hpp)
// If a lane has 4 of 128 columns, its counts of four rows are the bytes of one word: one chain of 5 shuffles scans 16
// elements, and a row's prefix in the lane is one multiplication. Weights have a scan a row. Launches overlap: a block
// may begin, and compute its place, before the previous launch has ended. Only the third launch adds the carry of a
// piece of a larger tensor: `above` to the anchors, `left` to the rows (carry.hpp), for one more row and two more
// columns of reads a tile.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include "kernels/histogram/reduce_then_scan/carry.hpp"
#include "kernels/histogram/reduce_then_scan/tile.hpp"
#include "kernels/histogram/reduce_then_scan/walk.hpp"
#include "kernels/histogram/reduce_then_scan/write.hpp"
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// The types of sums and of a row's or column's sum, and the number of bins whose counts fit shared memory at once: 16
/// KiB of counts, 24 KiB of weights.
template <class A_, class Side_ = A_>
struct ReduceThenScanSums {
  using A = A_;
  using Side = Side_;
  static constexpr int group = std::is_integral_v<A> ? 64 : 128 / static_cast<int>(sizeof(A));
};
template <class A, class In_>
struct ReduceThenScanInput : ReduceThenScanSums<A> {
  using In = In_;
};
template <class T>
using ReduceThenScanSum = std::conditional_t<sizeof(T) == 2, std::uint32_t, T>;
template <class T_, class Side = ReduceThenScanSum<T_>>
struct ReduceThenScanOutput : ReduceThenScanSums<ReduceThenScanSum<T_>, Side> {
  using T = T_;
};

/// The geometry and the workspace of one plan.
template <class T>
struct ReduceThenScanPlan {
  using C = ReduceThenScanOutput<T>;
  using A = typename C::A;
  static constexpr bool weighted = !std::is_integral_v<A>;
  /// Of the largest block: in the first launch, for any pixel type, or in the last.
  using First = ReduceThenScanInput<A, std::uint8_t>;
  static constexpr std::size_t shared_bytes =
      std::max(sizeof(typename std::conditional_t<weighted, ReduceThenScanWeigh<NoMachine, First>,
                                                  ReduceThenScanCount<NoMachine, First>>::Shared),
               sizeof(typename ReduceThenScanWrite<NoMachine, C>::Shared));

  explicit ReduceThenScanPlan(const HistogramRequest& request, void* workspace = nullptr) {
    const TableGeometry p = table_geometry(request.image, request.border);
    args.width = p.width, args.height = p.height, args.edge = p.offset == 1;
    args.images = request.image.batch;
    args.tiles_x = static_cast<int>((p.width + tile_width - 1) / tile_width);
    args.tiles_y = static_cast<int>((p.height + tile_height - 1) / tile_height);
    args.bins = static_cast<int>(request.bins);
    args.groups = (args.bins + C::group - 1) / C::group;
    args.corners_along_columns = args.tiles_y <= args.tiles_x;
    args.tiles_per_block = args.bins > 4 ? 1 : args.bins > 2 ? 2 : ReduceThenScanWrite<NoMachine, C>::most_tiles;
    args.tiles_per_warp = tiles_per_warp();
    narrow = !weighted && std::max(p.width, p.height) <= std::numeric_limits<std::uint16_t>::max();
    const auto side = static_cast<std::int64_t>(narrow ? sizeof(std::uint16_t) : sizeof(A));
    tiles = static_cast<std::int64_t>(args.tiles_x) * args.tiles_y;
    const std::int64_t planes = tiles * args.images * args.bins;
    Workspace from(workspace);
    from.take(tables, static_cast<std::int64_t>(request.tables.size()));
    from.take(args.numbers, tiles * args.images * args.groups * tile_squares * warp_size);
    from.take(args.terms, weighted ? tiles * args.images * tile_height * tile_width : 0);
    from.take(args.rows, planes * tile_height);
    from.take(args.columns, planes * tile_width);
    from.take(left, planes * tile_height * side);
    from.take(above, planes * tile_width * side);
    from.take(args.corners, planes);
    args.left = left, args.above = above;
    workspace_bytes = planes == 0 ? 0 : from.bytes();
  }

  /// A warp's tiles, one below the other. More tiles save sums above them, but the machine must be full. H200, 32 bins,
  /// 1, 2 and 4 tiles: 1920x1080 91, 90, 117 us (1020, 540, 300 blocks); 3840x2160 324, 317, 320; 128 bins at 8192x8192
  /// 9.38, 9.20, 9.14 ms.
  int tiles_per_warp() const {
    if (weighted) return 1;
    static constexpr std::int64_t least_blocks = 512;
    const std::int64_t blocks_a_row = args.tiles_x * args.images * ((args.bins + 7) / 8);
    int most = ReduceThenScanWrite<NoMachine, C>::most_tiles / args.tiles_per_block;
    while (most > 1 && blocks_a_row * ((args.tiles_y + most - 1) / most) < least_blocks) most /= 2;
    return most;
  }

  ReduceThenScanArgs<A> args{};
  char* tables = nullptr;  ///< the rule's, which `prepare` copies there
  char *left = nullptr, *above = nullptr;
  bool narrow = false;     ///< no row's or column's count exceeds 16 bits
  std::int64_t tiles = 0;  ///< of an image
  std::size_t workspace_bytes = 0;
};

/// The second launch and the third.
template <class C, class Launcher>
void reduce_then_scan_rest(Launcher& launcher, const ReduceThenScanArgs<typename C::A>& a) {
  using Sums = ReduceThenScanSums<typename C::A, typename C::Side>;
  static constexpr int warps = 8;
  const std::int64_t planes = a.images * a.bins, walks = planes * (a.tiles_x + a.tiles_y);
  launcher.template launch<ReduceThenScanWalk, Sums>((walks + warps - 1) / warps, a, true);
  const std::int64_t stacks =
      static_cast<std::int64_t>(a.tiles_x) * ((a.tiles_y + a.tiles_per_warp - 1) / a.tiles_per_warp);
  const int bins_per_block = warps / a.tiles_per_block;
  const std::int64_t stack_groups = (stacks + a.tiles_per_block - 1) / a.tiles_per_block,
                     bin_groups = (a.bins + bins_per_block - 1) / bins_per_block;
  launcher.template launch<ReduceThenScanWrite, C>(stack_groups * bin_groups * a.images, a, true);
}

/// The schedule. The workspace already has the rule's tables.
template <class T, class Launcher>
void reduce_then_scan(Launcher& launcher, const HistogramRequest& request, const HistogramArguments& views,
                      void* workspace) {
  using C = ReduceThenScanOutput<T>;
  using A = typename C::A;
  const ConstView &image = views.image, &weights = views.weights;
  const View& tensor = views.tensor;
  const TensorCarryArgs carry = tensor_carry_args<T>(views.carry);
  ReduceThenScanPlan<T> plan(request, workspace);
  if (plan.workspace_bytes == 0) {  // no sums
    if (request.border == Border::none) return;
    if (views.carry.empty()) return fill_border<T>(launcher, tensor);
    return fill_carried_border<C>(launcher, tensor, carry);
  }
  auto& a = plan.args;
  a.rule = request.rule;
  for (int c = 0; c < a.rule.channels; ++c) a.rule.channel[c].data = plan.tables + request.table_at[c];
  a.in = strides(image), a.out = strides(tensor);
  a.image = static_cast<const char*>(image.data);
  a.tensor = static_cast<char*>(tensor.data) + (a.edge ? a.out.row + a.out.column : 0);
  a.carry = carry;
  const std::size_t pixel = size_of(request.type), vector = std::min<std::size_t>(16, 4 * sizeof(T));
  a.in.alignment = alignment_of(a.image, a.in, pixel, 4 * pixel);
  if (a.rule.channels > 1 && a.in.alignment == Alignment::vectors) a.in.alignment = Alignment::elements;
  a.out.alignment = alignment_of(a.tensor, a.out, sizeof(T), vector);
  if constexpr (ReduceThenScanPlan<T>::weighted) {
    a.weights = static_cast<const char*>(weights.data);
    a.weight = weights.type;
    a.weight_in = strides(weights);
    a.weight_in.alignment = alignment_of(a.weights, a.weight_in, size_of(weights.type), 16);
  }
  with_pixel(request.type, [&](auto value) {
    using Input = ReduceThenScanInput<A, decltype(value)>;
    const std::int64_t blocks = plan.tiles * a.images * a.groups;
    if constexpr (ReduceThenScanPlan<T>::weighted)
      launcher.template launch<ReduceThenScanWeigh, Input>(blocks, a, false);
    else
      launcher.template launch<ReduceThenScanCount, Input>(blocks, a, false);
  });
  if constexpr (!ReduceThenScanPlan<T>::weighted)
    if (plan.narrow) return reduce_then_scan_rest<ReduceThenScanOutput<T, std::uint16_t>>(launcher, a);
  reduce_then_scan_rest<C>(launcher, a);
}

}  // namespace areal::kernels
