#pragma once
// count-then-write (areal). 2 launches. Reads 1/b and 1/4, writes 1 and 1/(4 b) per element, plus the bands' counts.
//
// The tensor is written in memory order, whole rows by one block, so that no prefix of a tile's rows is needed before:
//   count  a block counts a tile of 128 columns of a band of rows. Pixels become bin numbers of 8 bits, in groups of
//          bins whose counts fit shared memory; output: each column's pixels of each bin               (count.hpp)
//   write  a block writes a band of one bin. The counts of the bands above, summed over bands and along the row, are
//          the finished row above; the block then descends 8 rows a step, for which its warps exchange the counts of
//          their 128 columns once                                                                      (write.hpp)
// Rows of more than 2048 columns are cut into chunks, one a block. The first launch then also counts rows of tiles, and
// each block first sums the counts left of its chunk.
//
// Supports pixels of 8 bits and one channel, counts of 16 and 32 bits, border none, images of at most 65535 rows and
// columns, and tensors whose rows begin at vectors. Blocks do not wait for others of their launch.

#include <algorithm>
#include <cstdint>
#include <string>
#include "kernels/histogram/count_then_write/count.hpp"
#include "kernels/histogram/count_then_write/tiles.hpp"
#include "kernels/histogram/count_then_write/write.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

/// The geometry and the workspace of one plan. T: 16- or 32-bit counters.
template <class T>
struct CountThenWritePlan {
  static constexpr std::size_t shared_bytes =
      std::max(sizeof(typename CountThenWriteCount<NoMachine, CountThenWriteCounts<true>>::Shared),
               sizeof(typename CountThenWriteWrite<NoMachine, CountThenWriteOutput<T, most_segments, true>>::Shared));

  /// What the algorithm needs, if it does not support this request for any views; empty if it does.
  static std::string takes(const HistogramRequest& request) {
    static constexpr std::int64_t most = 0xffff;  // of a column's count, and a row's
    const Shape& image = request.image;
    if (request.carries) return "it takes no carries";
    if (size_of(request.type) != 1 || request.rule.channels != 1) return "it takes 8-bit pixels of one channel";
    if (request.weighted) return "it takes no weights";
    if (request.border != Border::none) return "it takes no border (border none)";
    if (!image.empty() && image.width <= most && image.height <= most) return {};
    return "it takes images of 1 to " + std::to_string(most) + " rows and columns, this one is " +
           std::to_string(image.width) + "x" + std::to_string(image.height);
  }

  /// High bands write fewer counts, but must still fill the machine. H200, 32 bins, bands of 32, 64 and 120 or 128
  /// rows: 640x480 15.7, 16.0 us, -; 1920x1080 (40 rows) 75.7, 71.6, 75.2; 32 images of 640x480 348, 336, 334.
  static constexpr std::int64_t blocks_wanted = 400;

  explicit CountThenWritePlan(const HistogramRequest& request, void* workspace = nullptr,
                              std::int64_t least_blocks = blocks_wanted) {
    const Shape& image = request.image;
    args.width = image.width, args.height = image.height, args.images = image.batch;
    args.bins = static_cast<int>(request.bins);
    args.group = group_of_bins(request), args.groups = (args.bins + args.group - 1) / args.group;
    args.segments = up(image.width, segment_width);
    args.chunks = up(args.segments, most_segments), args.chunk = up(args.segments, args.chunks);
    args.bands = up(image.height, most_rows(least_blocks)), args.rows = up(up(image.height, args.bands), 8) * 8;
    args.bands = up(image.height, args.rows);
    const std::int64_t tiles = args.images * args.bands * args.bins * args.segments;
    Workspace from(workspace);
    from.take(tables, static_cast<std::int64_t>(request.tables.size()));
    from.take(args.numbers, args.images * args.groups * args.bands * (args.rows / 4) * args.segments * warp_size);
    from.take(args.columns, tiles * warp_size);
    from.take(args.sides, args.chunks > 1 ? tiles * warp_size : 0);
    from.take(args.totals, args.chunks > 1 ? tiles : 0);
    workspace_bytes = from.bytes();
  }
  static int up(std::int64_t n, std::int64_t step) { return static_cast<int>((n + step - 1) / step); }

  /// Without pixels outside all bins, 128 bins need no number for "no bin".
  static int group_of_bins(const HistogramRequest& request) {
    static constexpr int numbers = static_cast<int>(no_number);
    if (request.bins != numbers + 1) return numbers;
    for (std::size_t i = 0; i + 1 < request.tables.size(); i += 2)
      if (request.tables[i] == '\xff' && request.tables[i + 1] == '\xff') return numbers;
    return numbers + 1;
  }
  std::int64_t most_rows(std::int64_t least_blocks) const {
    static constexpr std::int64_t least_rows = 16;
    const std::int64_t blocks = args.images * args.bins * args.chunks;
    std::int64_t most = most_band_rows;
    while (most > least_rows && blocks * up(args.height, most) < least_blocks) most /= 2;
    return most;
  }

  CountThenWriteArgs args{};
  char* tables = nullptr;  ///< the rule's, which `prepare` copies there
  std::size_t workspace_bytes = 0;
};

/// f.operator()<warps>() with the smallest block that has a warp for each segment.
template <class F>
void with_warps(int segments, F&& f) {
  if (segments <= 2) return f.template operator()<2>();
  if (segments <= 5) return f.template operator()<5>();
  if (segments <= 8) return f.template operator()<8>();
  if (segments <= 10) return f.template operator()<10>();
  if (segments <= 15) return f.template operator()<15>();
  return f.template operator()<most_segments>();
}

/// How the tensor's rows begin.
template <class T>
Strides tensor_strides(const View& tensor) {
  Strides out = strides(tensor);
  out.alignment = alignment_of(static_cast<const char*>(tensor.data), out, sizeof(T), sizeof(Vec<T, 4>));
  return out;
}

/// What views it needs, if it does not support these; empty if it does.
template <class T>
std::string count_then_write_fits(const HistogramRequest&, const HistogramArguments& views) {
  if (!views.carry.empty()) return "it takes no carries";
  if (tensor_strides<T>(views.tensor).alignment == Alignment::vectors) return {};
  return "it takes tensors whose rows begin at multiples of " + std::to_string(sizeof(Vec<T, 4>)) + " bytes";
}

/// For a supported request and views that fit. The workspace already has the rule's tables.
template <class T, class Launcher>
void count_then_write(Launcher& launcher, const HistogramRequest& request, const HistogramArguments& views,
                      void* workspace, std::int64_t least_blocks = CountThenWritePlan<T>::blocks_wanted) {
  CountThenWritePlan<T> plan(request, workspace, least_blocks);
  auto& a = plan.args;
  a.in = strides(views.image), a.out = tensor_strides<T>(views.tensor);
  a.image = static_cast<const char*>(views.image.data), a.tensor = static_cast<char*>(views.tensor.data);
  a.in.alignment = alignment_of(a.image, a.in, 1, sizeof(std::uint32_t));
  a.rule = request.rule.channel[0];
  a.rule.data = plan.tables + request.table_at[0];
  const auto launch = [&]<bool sides>() {
    launcher.template launch<CountThenWriteCount, CountThenWriteCounts<sides>>(
        a.images * a.groups * a.bands * a.segments, a, false);
    const std::int64_t blocks = a.images * a.bands * a.chunks * a.bins;
    const auto write = [&]<int warps>() {
      launcher.template launch<CountThenWriteWrite, CountThenWriteOutput<T, warps, sides>>(blocks, a, true);
    };
    if constexpr (sides)
      a.chunk <= 15 ? write.template operator()<15>() : write.template operator()<most_segments>();
    else
      with_warps(a.segments, write);
  };
  a.chunks > 1 ? launch.template operator()<true>() : launch.template operator()<false>();
}

}  // namespace areal::kernels
