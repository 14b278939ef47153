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

  static constexpr int low = 32;         ///< rows of the lowest bands
  static constexpr int most_bands = 64;  ///< of lower ones than 128 rows: each adds up the counts of all above

  /// Without bands, which `cut` makes. The workspace suffices for bands of any height.
  explicit CountThenWritePlan(const HistogramRequest& request, void* workspace = nullptr) {
    const Shape& image = request.image;
    args.width = image.width, args.height = image.height, args.images = image.batch;
    args.bins = static_cast<int>(request.bins);
    args.group = group_of_bins(request), args.groups = (args.bins + args.group - 1) / args.group;
    args.segments = up(image.width, segment_width);
    args.chunks = up(args.segments, most_segments), args.chunk = up(args.segments, args.chunks);
    const std::int64_t bands = up(image.height, low), tiles = args.images * bands * args.bins * args.segments;
    Workspace from(workspace);
    from.take(tables, static_cast<std::int64_t>(request.tables.size()));
    const std::int64_t quads = up(image.height + most_band_rows, 4);  // the last band is stored as high as the others
    from.take(args.numbers, args.images * args.groups * quads * args.segments * warp_size);
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

  /// Cuts the rows in bands of 128, 64 or 32 rows, the highest that give a device work: a quarter of the blocks of the
  /// first launch that it holds at once, `counting`, and one and a half times those of the second, `writing`; 128 rows
  /// if it does not tell, 0 and 0. A warp counts 16 rows for 128 of a band, 8 for up to 64, and 4 for 32. One H200,
  /// bands of 32, 64 and 128 rows, fractions of a memset: 640x480x32 0.66, 0.63, 0.48, with 128 bins 0.79, 0.80, 0.68;
  /// 1920x1080x32 0.82, 0.84, 0.81; 3840x2160x32 0.72, 0.79, 0.82. Waves of blocks matter less: 72 and 136 rows
  /// fill 1.82 and 0.97 waves at 1920x1080x32, 64 rows 2.06, and both reach 0.79.
  void cut(std::int64_t counting, std::int64_t writing) {
    const auto fills = [&](std::int64_t bands) {
      const std::int64_t of_bands = args.images * bands;
      return of_bands * args.groups * args.segments * 4 >= counting &&
             of_bands * args.chunks * args.bins * 2 >= writing * 3;
    };
    args.rows = most_band_rows;
    while (args.rows > low && up(args.height, args.rows / 2) <= most_bands && !fills(up(args.height, args.rows)))
      args.rows /= 2;
    args.rows = up(up(args.height, up(args.height, args.rows)), 8) * 8;  // bands of one height
    args.bands = up(args.height, args.rows);
  }

  CountThenWriteArgs args{};
  char* tables = nullptr;  ///< the rule's, which `prepare` copies there
  std::size_t workspace_bytes = 0;
};

/// f.operator()<sides, warps>() with the smallest block that has a warp for each segment of a chunk.
template <class F>
void with_warps(int segments, bool sides, F&& f) {
  if (sides && segments <= 10) return f.template operator()<true, 10>();
  if (sides && segments <= 15) return f.template operator()<true, 15>();
  if (sides) return f.template operator()<true, most_segments>();
  if (segments <= 2) return f.template operator()<false, 2>();
  if (segments <= 5) return f.template operator()<false, 5>();
  if (segments <= 8) return f.template operator()<false, 8>();
  if (segments <= 10) return f.template operator()<false, 10>();
  if (segments <= 15) return f.template operator()<false, 15>();
  return f.template operator()<false, most_segments>();
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
                      void* workspace) {
  CountThenWritePlan<T> plan(request, workspace);
  auto& a = plan.args;
  a.in = strides(views.image), a.out = tensor_strides<T>(views.tensor);
  a.image = static_cast<const char*>(views.image.data), a.tensor = static_cast<char*>(views.tensor.data);
  a.in.alignment = alignment_of(a.image, a.in, 1, sizeof(std::uint32_t));
  a.rule = request.rule.channel[0];
  a.rule.data = plan.tables + request.table_at[0];
  with_warps(a.chunk, a.chunks > 1, [&]<bool sides, int warps>() {
    using Output = CountThenWriteOutput<T, warps, sides>;
    using Counts = CountThenWriteCounts<sides>;
    plan.cut(launcher.template most_together<CountThenWriteCount, Counts>(),
             launcher.template most_together<CountThenWriteWrite, Output>());
    launcher.template launch<CountThenWriteCount, Counts>(a.images * a.groups * a.bands * a.segments, a, false);
    launcher.template launch<CountThenWriteWrite, Output>(a.images * a.bands * a.chunks * a.bins, a, true);
  });
}

}  // namespace areal::kernels
