#include "pieces/tiles/tile_cut.hpp"
#include <algorithm>
#include <areal/error.hpp>
#include "api/core/largest.hpp"
#include "api/core/require.hpp"
#include "cuda/device.hpp"
#include "pieces/core/edge_carries.hpp"

namespace areal::pieces {
namespace {

std::int64_t rounded(std::int64_t extent, std::int64_t all, std::int64_t multiple) {
  return extent < all && extent > multiple ? extent - extent % multiple : extent;
}

}  // namespace

bool CutRule::fits(std::int64_t width, std::int64_t height) const {
  for (std::size_t i = 0; i < limits.size(); ++i)
    if (bytes(i, width, height) > limits[i]) return false;
  return true;
}

std::uint64_t part_bytes(const Work& work, std::int64_t width, std::int64_t height) {
  const Form& form = work.form();
  std::uint64_t bytes = work.workspace_bytes(width, height);
  for (const Rows& input : form.inputs) bytes += bytes_of(input.of(width, height), input.type);
  for (const Rows& output : form.outputs)
    bytes += bytes_of(output.of(width + form.margin, height + form.margin), output.type);
  if (!form.carried) return bytes;
  const CarryLayout carries(form, width, height);
  return bytes + carries.above_bytes() + carries.left_bytes();
}

std::uint64_t device_limit(const Worker& worker, std::uint64_t memory) {
  return memory > 0 ? memory : cuda::free_memory(worker.device) / 10 * 9;
}

TiledGrid fixed_tiles(const TileJob& job, const PieceOptions& options) {
  const auto part = [](std::int64_t asked, std::int64_t whole) {
    return std::max<std::int64_t>(1, asked > 0 ? std::min(asked, whole) : whole);
  };
  TiledGrid cut;
  cut.tile_width = part(options.width, job.image.width), cut.tile_height = part(options.height, job.image.height);
  cut.columns = std::max<std::int64_t>(1, quotient_up(job.image.width, cut.tile_width));
  cut.rows = std::max<std::int64_t>(1, quotient_up(job.image.height, cut.tile_height));
  return cut;
}

TiledGrid cut_tiles(const Shape& image, const CutRule& rule) {
  TiledGrid cut;
  const std::int64_t width = std::max<std::int64_t>(1, image.width), height = std::max<std::int64_t>(1, image.height);
  cut.tile_width = width, cut.tile_height = height;
  if (image.empty()) return cut;
  cut.tile_height =
      rounded(largest(height, [&](std::int64_t h) { return rule.fits(width, h); }), height, rule.multiple);
  if (cut.tile_height == 0) {  // columns, too: squares
    cut.tile_width = rounded(largest(width, [&](std::int64_t w) { return rule.fits(w, std::min(w, height)); }), width,
                             rule.multiple);
    cut.tile_height = std::min(cut.tile_width, height);
  }
  if (cut.tile_width == 0) {
    std::uint64_t needed = 0;
    for (std::size_t i = 0; i < rule.limits.size(); ++i) needed = std::max(needed, rule.bytes(i, 1, 1));
    throw OutOfMemory(
        sentence(rule.one, " the ", *std::min_element(rule.limits.begin(), rule.limits.end()), " bytes of a worker"),
        needed);
  }
  if (rule.most_bytes > 0) {
    const auto row = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(cut.tile_width) * rule.pixel_bytes);
    const auto rows = static_cast<std::int64_t>(rule.most_bytes / row) / rule.least_rows * rule.least_rows;
    cut.tile_height = std::min(cut.tile_height, std::max(rule.least_rows, rows));
  }
  // Two tiles for each lane, so that one is copied while another is computed; where they are not too flat.
  if (const std::int64_t even = quotient_up(height, 2 * rule.lanes); even >= rule.least_rows)
    cut.tile_height = std::min(cut.tile_height, even);
  cut.columns = quotient_up(width, cut.tile_width), cut.rows = quotient_up(height, cut.tile_height);
  return cut;
}

}  // namespace areal::pieces
