#include "cpu/histogram/fused.hpp"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include "cpu/histogram/tile.hpp"
#include "cpu/histogram/weight_run.hpp"
#include "cpu/threads.hpp"

namespace areal::cpu {
namespace {

constexpr std::int64_t line = 64;
constexpr int most_rows = 64;  // bins of a tile: 32 KiB
// Weights are wider than a byte and make a tile four or eight times as large.
constexpr int most_rows_weighted = 32;
// Measured at 253 MiB, where streaming stores gain on 2 to 16 threads; smaller tensors, which caches may keep, are not
// streamed.
constexpr std::int64_t least_streamed_tensor = std::int64_t{128} << 20;
constexpr std::int64_t binned_rows = 8;  // of one piece of the precomputed bins

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t lines(std::int64_t bytes) { return up(bytes, line) * line; }

// A tensor without sums: zeros, or the carry alone.
template <class T>
void fill_border(const View& tensor, const Carry& carry) {
  const auto element = [](const void* first, std::int64_t x) {
    T value;
    std::memcpy(&value, static_cast<const char*>(first) + x * static_cast<std::int64_t>(sizeof value), sizeof value);
    return value;
  };
  const bool has_above = carry.above.data != nullptr, has_left = carry.left.data != nullptr;
  for (std::int64_t n = 0; n < tensor.shape.batch; ++n)
    for (std::int64_t bin = 0; bin < tensor.shape.channels; ++bin) {
      const void* const above = carry.above.row(0, bin, n);
      for (std::int64_t y = 0; y < tensor.shape.height; ++y) {
        const T left = has_left ? element(carry.left.row(y, bin, n), 0) : T{0};
        auto* to = static_cast<char*>(tensor.row(y, bin, n));
        for (std::int64_t x = 0; x < tensor.shape.width; ++x, to += sizeof(T)) {
          T sum = has_above ? element(above, 1 + x) - element(above, 0) : T{0};
          sum += left;
          std::memcpy(to, &sum, sizeof sum);
        }
      }
    }
}
void fill_border(const View& tensor, const Carry& carry) {
  switch (tensor.type) {
    case Type::u64:
      return fill_border<std::uint64_t>(tensor, carry);
    case Type::f32:
      return fill_border<float>(tensor, carry);
    case Type::f64:
      return fill_border<double>(tensor, carry);
    default:
      return fill_border<std::uint32_t>(tensor, carry);
  }
}

// The carries and the counters of the wavefront, inside the caller's workspace.
struct Carries {
  char* above = nullptr;
  char* left = nullptr;
  std::uint8_t* rel = nullptr;
  std::atomic<std::uint8_t>* pending = nullptr;
};

Carries lay_out(const FusedHistogram& p, void* workspace) {
  Carries carries;
  if (p.rows * p.columns <= 1) return carries;
  const auto size = static_cast<std::int64_t>(size_of(p.counter));
  void* aligned = workspace;
  std::size_t space = p.workspace_bytes;
  std::align(line, 1, aligned, space);
  carries.above = static_cast<char*>(aligned);
  carries.left = carries.above + p.images_at_once * p.bins * p.above_pitch * size;
  char* const rel = carries.left + p.images_at_once * p.bins * p.left_pitch * size;
  carries.rel = reinterpret_cast<std::uint8_t*>(rel);
  char* const counters = rel + p.images_at_once * p.height * p.rel_pitch;
  carries.pending = reinterpret_cast<std::atomic<std::uint8_t>*>(counters);
  return carries;
}

// Tile (row, column) of a group of bins of image n; `slot` selects the image's carries.
struct Place {
  std::int64_t n, slot, group, row, column;
};

HistogramTile tile_at(const FusedHistogram& p, const View& tensor, const Carry& outer, const Carries& carries,
                      const Place& at) {
  const auto size = static_cast<std::int64_t>(size_of(p.counter));
  const std::int64_t shift = p.border == Border::none ? 0 : 1;
  const std::int64_t x = at.column * tile_width, y = at.row * p.tile_height, bin = at.group * p.group;
  HistogramTile tile;
  tile.counter = p.counter;
  tile.width = static_cast<int>(std::min<std::int64_t>(tile_width, p.width - x));
  tile.height = static_cast<int>(std::min<std::int64_t>(p.tile_height, p.height - y));
  tile.bins = static_cast<int>(std::min(p.group, p.bins - bin));
  tile.out = static_cast<char*>(tensor.row(y + shift, bin, at.n)) + (x + shift) * size;
  tile.stream = p.stream;
  tile.row_pitch = tensor.row_pitch;
  tile.plane_pitch = tensor.plane_pitch;
  tile.zero_row = shift == 1 && at.row == 0;
  tile.zero_column = shift == 1 && at.column == 0;
  tile.above_pitch = p.above_pitch;
  tile.left_pitch = p.left_pitch;
  const std::int64_t plane = at.slot * p.bins + bin;
  if (p.above_pitch) tile.above = carries.above + (plane * p.above_pitch + x) * size;
  if (p.left_pitch) tile.left = carries.left + (plane * p.left_pitch + y) * size;
  tile.read_above = at.row > 0;
  tile.write_above = at.row + 1 < p.rows;
  tile.read_left = at.column > 0;
  tile.write_left = at.column + 1 < p.columns;
  if (outer.above.data != nullptr && (at.row == 0 || tile.zero_column)) {
    tile.outer_corner = static_cast<const char*>(outer.above.row(0, bin, at.n));
    tile.outer_above = tile.outer_corner + (1 + shift + x) * size;
    tile.outer_above_plane = outer.above.plane_pitch;
  }
  if (outer.left.data != nullptr) {
    tile.outer_left = static_cast<const char*>(outer.left.row(y + shift, bin, at.n));
    tile.outer_left_row = outer.left.row_pitch, tile.outer_left_plane = outer.left.plane_pitch;
  }
  return tile;
}

void compute(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, const View& tensor,
             const Carry& outer, const Carries& carries, const Place& at) {
  HistogramTile tile = tile_at(p, tensor, outer, carries, at);
  const std::int64_t x = at.column * tile_width, y = at.row * p.tile_height;
  if (p.rel_pitch) {
    tile.rel = carries.rel + (at.slot * p.height + y) * p.rel_pitch + x;
    tile.rel_pitch = p.rel_pitch;
    tile.first_bin = static_cast<int>(at.group * p.group);
    return run_tile(tile);
  }
  alignas(line) std::uint8_t rel[most_rows * tile_width];
  const int stride = tile_stride(tile.width);
  for (int i = 0; i < tile.height; ++i) {
    std::uint8_t* const row = rel + i * stride;
    group_of_run(rule, image, at.n, y + i, x, tile.width, at.group * p.group, tile.bins, row);
    std::fill(row + tile.width, row + stride, std::uint8_t{255});
  }
  tile.rel = rel;
  tile.rel_pitch = stride;
  run_tile(tile);
}

// Precomputes the bins of `images` images from `first` on.
void find_bins(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, std::int64_t first,
               std::int64_t images, std::uint8_t* rel) {
  const std::int64_t pieces = up(p.height, binned_rows);
  parallel_for(p.threads, images * pieces, [&](std::int64_t piece) {
    const std::int64_t slot = piece / pieces, y = piece % pieces * binned_rows;
    for (std::int64_t i = y; i < std::min(p.height, y + binned_rows); ++i) {
      std::uint8_t* const row = rel + (slot * p.height + i) * p.rel_pitch;
      for (std::int64_t x = 0; x < p.width; x += longest_run)
        group_of_run(rule, image, first + slot, i, x,
                     static_cast<int>(std::min<std::int64_t>(longest_run, p.width - x)), 0, static_cast<int>(p.bins),
                     row + x);
      std::fill(row + p.width, row + p.rel_pitch, std::uint8_t{255});
    }
  });
}

template <class Weight>
void compute_weighted(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, const ConstView& weights,
                      const View& tensor, const Carry& outer, const Carries& carries, const Place& at) {
  HistogramTile tile = tile_at(p, tensor, outer, carries, at);
  alignas(line) std::uint8_t rel[most_rows_weighted * tile_width];
  alignas(line) Weight weight[most_rows_weighted * tile_width];
  const int stride = tile_stride(tile.width);
  const std::int64_t x = at.column * tile_width, y = at.row * p.tile_height;
  for (int i = 0; i < tile.height; ++i) {
    std::uint8_t* const row = rel + i * stride;
    group_of_run(rule, image, at.n, y + i, x, tile.width, at.group * p.group, tile.bins, row);
    std::fill(row + tile.width, row + stride, std::uint8_t{255});
    weights_of_run(weights, at.n, y + i, x, tile.width, weight + i * stride);
    std::fill(weight + i * stride + tile.width, weight + (i + 1) * stride, Weight{0});
  }
  tile.rel = rel;
  tile.rel_pitch = stride;
  tile.weights = weight;
  run_tile(tile);
}

}  // namespace

FusedHistogram plan_fused(FusedHistogram p) {
  // An exclusive table is the `zero` table of the image without its last row and column.
  const std::int64_t left_out = p.border == Border::exclusive ? 1 : 0;
  p.width = std::max<std::int64_t>(0, p.image.width - left_out);
  p.height = std::max<std::int64_t>(0, p.image.height - left_out);
  p.tile_height = p.weighted ? most_rows_weighted : most_rows;
  p.rows = up(p.height, p.tile_height);
  p.columns = up(p.width, tile_width);
  if (p.rows * p.columns == 0) p.rows = p.columns = 0;

  // Enough tiles for all threads: first from the wavefront, then from the batch, then by splitting the bins, where
  // every split bins the pixels again. The split does not change the order of additions.
  const std::int64_t threads = p.threads > 0 ? p.threads : default_threads();
  const std::int64_t wanted = threads > 1 ? 2 * threads : 1;
  const std::int64_t front = std::max<std::int64_t>(1, std::min(p.rows, p.columns));
  const std::int64_t least = up(p.bins, 255);
  const std::int64_t split = std::min(up(p.bins, 4), up(wanted, front * std::max<std::int64_t>(1, p.image.batch)));
  p.group = up(p.bins, std::max(least, split));
  p.groups = up(p.bins, p.group);

  const bool carries = p.rows * p.columns > 1;
  p.rel_pitch = carries && p.groups > 1 && p.bins <= 255 && !p.weighted ? up(p.width, line) * line : 0;
  p.images_at_once = carries ? std::min(p.image.batch, up(wanted, front * p.groups)) : p.image.batch;
  const auto size = static_cast<std::int64_t>(size_of(p.counter));
  p.above_pitch = p.rows > 1 ? lines(p.width * size) / size : 0;
  p.left_pitch = p.columns > 1 ? lines(p.height * size) / size : 0;
  if (carries)
    p.workspace_bytes =
        static_cast<std::size_t>(line + p.images_at_once * (p.bins * (p.above_pitch + p.left_pitch) * size +
                                                            p.height * p.rel_pitch + p.groups * p.rows * p.columns));
  p.stream = slots(p.threads) > 1 && p.image.batch * p.bins * p.width * p.height * size >= least_streamed_tensor;
  return p;
}

void run_fused(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, const ConstView& weights,
               const View& tensor, const Carry& outer, void* workspace, const std::function<void()>& finished) {
  if (tensor.shape.empty()) return;
  if (p.rows == 0) return fill_border(tensor, outer);
  const Carries carries = lay_out(p, workspace);
  const auto run = [&](const Place& at) {
    if (!p.weighted)
      compute(p, rule, image, tensor, outer, carries, at);
    else if (p.counter == Type::f32)
      compute_weighted<float>(p, rule, image, weights, tensor, outer, carries, at);
    else
      compute_weighted<double>(p, rule, image, weights, tensor, outer, carries, at);
    finished();
  };
  if (p.rows * p.columns == 1)
    return parallel_for(p.threads, p.image.batch * p.groups, [&](std::int64_t i) {
      run({i / p.groups, 0, i % p.groups, 0, 0});
    });
  for (std::int64_t first = 0; first < p.image.batch; first += p.images_at_once) {
    const std::int64_t images = std::min(p.images_at_once, p.image.batch - first);
    if (p.rel_pitch) find_bins(p, rule, image, first, images, carries.rel);
    wavefront(p.threads, {images * p.groups, p.rows, p.columns}, carries.pending,
              [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
                const std::int64_t slot = plane / p.groups;
                run({first + slot, slot, plane % p.groups, row, column});
              });
  }
}

}  // namespace areal::cpu
