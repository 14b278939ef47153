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

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t lines(std::int64_t bytes) { return up(bytes, line) * line; }

void fill_zero(const View& tensor) {
  const auto bytes = static_cast<std::size_t>(tensor.shape.width) * size_of(tensor.type);
  for (std::int64_t n = 0; n < tensor.shape.batch; ++n)
    for (std::int64_t bin = 0; bin < tensor.shape.channels; ++bin)
      for (std::int64_t y = 0; y < tensor.shape.height && bytes > 0; ++y) std::memset(tensor.row(y, bin, n), 0, bytes);
}

// The carries and the counters of the wavefront, inside the caller's workspace.
struct Carries {
  char* above = nullptr;
  char* left = nullptr;
  std::atomic<std::uint8_t>* pending = nullptr;
};

Carries lay_out(const FusedHistogram& p, void* workspace) {
  Carries carries;
  if (p.rows * p.columns <= 1) return carries;
  const auto size = static_cast<std::int64_t>(size_of(p.counter));
  void* aligned = workspace;
  std::size_t room = p.workspace_bytes;
  std::align(line, 1, aligned, room);
  carries.above = static_cast<char*>(aligned);
  carries.left = carries.above + p.images_at_once * p.bins * p.above_pitch * size;
  char* const counters = carries.left + p.images_at_once * p.bins * p.left_pitch * size;
  carries.pending = reinterpret_cast<std::atomic<std::uint8_t>*>(counters);
  return carries;
}

// Tile (row, column) of a group of bins of image n; `slot` selects the image's carries.
struct Place {
  std::int64_t n, slot, group, row, column;
};

HistogramTile tile_at(const FusedHistogram& p, const View& tensor, const Carries& carries, const Place& at) {
  const auto size = static_cast<std::int64_t>(size_of(p.counter));
  const std::int64_t shift = p.border == Border::none ? 0 : 1;
  const std::int64_t x = at.column * tile_width, y = at.row * p.tile_height, bin = at.group * p.group;
  HistogramTile tile;
  tile.counter = p.counter;
  tile.width = static_cast<int>(std::min<std::int64_t>(tile_width, p.width - x));
  tile.height = static_cast<int>(std::min<std::int64_t>(p.tile_height, p.height - y));
  tile.bins = static_cast<int>(std::min(p.group, p.bins - bin));
  tile.out = static_cast<char*>(tensor.row(y + shift, bin, at.n)) + (x + shift) * size;
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
  return tile;
}

void compute(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, const View& tensor,
             const Carries& carries, const Place& at) {
  HistogramTile tile = tile_at(p, tensor, carries, at);
  alignas(line) std::uint8_t rel[most_rows * tile_width];
  const int stride = tile_stride(tile.width);
  const std::int64_t x = at.column * tile_width, y = at.row * p.tile_height;
  for (int i = 0; i < tile.height; ++i) {
    std::uint8_t* const row = rel + i * stride;
    group_of_run(rule, image, at.n, y + i, x, tile.width, at.group * p.group, tile.bins, row);
    std::fill(row + tile.width, row + stride, std::uint8_t{255});
  }
  tile.rel = rel;
  run_tile(tile);
}

template <class Weight>
void compute_weighted(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, const ConstView& weights,
                      const View& tensor, const Carries& carries, const Place& at) {
  HistogramTile tile = tile_at(p, tensor, carries, at);
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

  // Enough tiles that can run at once, first from the wavefront, then from the batch, then by splitting the bins: every
  // split bins the pixels once more. The split does not change the order of additions.
  const std::int64_t threads = p.threads > 0 ? p.threads : default_threads();
  const std::int64_t wanted = threads > 1 ? 2 * threads : 1;
  const std::int64_t front = std::max<std::int64_t>(1, std::min(p.rows, p.columns));
  const std::int64_t least = up(p.bins, 255);
  const std::int64_t split = std::min(up(p.bins, 4), up(wanted, front * std::max<std::int64_t>(1, p.image.batch)));
  p.group = up(p.bins, std::max(least, split));
  p.groups = up(p.bins, p.group);

  const bool carries = p.rows * p.columns > 1;
  p.images_at_once = carries ? std::min(p.image.batch, up(wanted, front * p.groups)) : p.image.batch;
  const auto size = static_cast<std::int64_t>(size_of(p.counter));
  p.above_pitch = p.rows > 1 ? lines(p.width * size) / size : 0;
  p.left_pitch = p.columns > 1 ? lines(p.height * size) / size : 0;
  if (carries)
    p.workspace_bytes = static_cast<std::size_t>(
        line + p.images_at_once * (p.bins * (p.above_pitch + p.left_pitch) * size + p.groups * p.rows * p.columns));
  return p;
}

void run_fused(const FusedHistogram& p, const PixelBins& rule, const ConstView& image, const ConstView& weights,
               const View& tensor, void* workspace, const std::function<void()>& finished) {
  if (tensor.shape.empty()) return;
  if (p.rows == 0) return fill_zero(tensor);
  const Carries carries = lay_out(p, workspace);
  const auto run = [&](const Place& at) {
    if (!p.weighted)
      compute(p, rule, image, tensor, carries, at);
    else if (p.counter == Type::f32)
      compute_weighted<float>(p, rule, image, weights, tensor, carries, at);
    else
      compute_weighted<double>(p, rule, image, weights, tensor, carries, at);
    finished();
  };
  if (p.rows * p.columns == 1)
    return parallel_for(p.threads, p.image.batch * p.groups, [&](std::int64_t i) {
      run({i / p.groups, 0, i % p.groups, 0, 0});
    });
  for (std::int64_t first = 0; first < p.image.batch; first += p.images_at_once) {
    const std::int64_t images = std::min(p.images_at_once, p.image.batch - first);
    wavefront(p.threads, {images * p.groups, p.rows, p.columns}, carries.pending,
              [&](std::int64_t plane, std::int64_t row, std::int64_t column) {
                const std::int64_t slot = plane / p.groups;
                run({first + slot, slot, plane % p.groups, row, column});
              });
  }
}

}  // namespace areal::cpu
