#include "chunked/write_plan.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include "chunked/on_threads.hpp"
#include "chunked/sentence.hpp"

namespace areal::chunked {
namespace {

constexpr std::int64_t usual_side = 1024;
constexpr std::uint64_t other_bytes = 1 << 20;  // paths, indexes, threads

std::uint64_t unsigned_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

}  // namespace

std::uint64_t carry_bytes(const Format& f) {
  const std::uint64_t rows = unsigned_of(std::min(f.tiles_per_shard(), f.tile_rows()));
  const std::uint64_t columns = unsigned_of(f.tile_columns()), width = unsigned_of(f.width);
  return 4 * rows * (width + columns * unsigned_of(f.tile)) + 8 * (width + columns);
}

std::uint64_t thread_bytes(const Format& f, std::int64_t block_side) {
  const SatPlan plan({f.tile, f.tile}, f.type(), {.border = Border::none, .types = TypePair{f.type(), Type::u32}},
                     {.backend = Backend::cpu, .threads = 1});
  const std::uint64_t side = unsigned_of(block_side), tile = unsigned_of(f.tile);
  return side * side * size_of(f.type()) + side / tile * (4 * tile * tile + 4) + 8 * tile + 4 * plan.workspace_bytes() +
         (std::uint64_t{64} << 10);
}

std::uint64_t least_write_memory(const Format& f) { return other_bytes + carry_bytes(f) + thread_bytes(f, f.tile); }

WritePlan plan_write(const Format& f, const ChunkedWriteOptions& options) {
  WritePlan plan{threads_of(options.threads), std::max(f.tile, usual_side)};
  const std::uint64_t least = least_write_memory(f);
  if (options.memory == 0) {
    if (least > free_memory())
      throw OutOfMemory(sentence("the table of an image of ", f.width, "x", f.height, " in tiles of ", f.tile,
                                 " takes at least ", least, " bytes, more than are free"),
                        least);
    return plan;
  }
  if (options.memory < least)
    throw OutOfMemory(sentence("memory ", options.memory, " bytes: the table of an image of ", f.width, "x", f.height,
                               " in tiles of ", f.tile, " takes at least ", least),
                      least);
  const std::uint64_t left = options.memory - other_bytes - carry_bytes(f);
  while (plan.block_side > f.tile && thread_bytes(f, plan.block_side) > left) plan.block_side /= 2;
  plan.threads = static_cast<int>(
      std::clamp<std::uint64_t>(left / thread_bytes(f, plan.block_side), 1, static_cast<std::uint64_t>(plan.threads)));
  return plan;
}

Format format_for(const Shape& image, Type type, std::int64_t tile) {
  if (image.channels != 1 || image.batch != 1)
    refuse("image: ", image.channels, " channels and ", image.batch,
           " images; a chunked table is of one channel of one");
  if (type != Type::u8 && type != Type::u16)
    refuse("image: pixels of ", name_of(type), "; chunked tables are of 8u and 16u");
  Format format{image.height, image.width, tile, type == Type::u16 ? "uint16" : "uint8"};
  if (tile == 0) format.tile = type == Type::u16 ? 256 : 1024;
  require_possible(format);
  return format;
}

}  // namespace areal::chunked
