#pragma once
// How a table is written: the number of threads, the size of blocks, and the memory needed.

#include <areal/chunked_table.hpp>
#include <cstdint>
#include "chunked/format.hpp"

namespace areal::chunked {

struct WritePlan {
  int threads = 1;
  std::int64_t block_side = 0;  // pixels: a multiple of a tile's, and a divisor of a shard's
};

/// Bytes for the carries of a row of shards, for any number of threads.
std::uint64_t carry_bytes(const Format& format);
/// Bytes of one thread.
std::uint64_t thread_bytes(const Format& format, std::int64_t block_side);

std::uint64_t least_write_memory(const Format& format);
/// Throws OutOfMemory if options.memory is less than the minimum.
WritePlan plan_write(const Format& format, const ChunkedWriteOptions& options);

/// The format of an image's table. Throws InvalidArgument for invalid arguments.
Format format_for(const Shape& image, Type type, std::int64_t tile);

}  // namespace areal::chunked
