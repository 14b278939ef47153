#pragma once
// How a table is written: how many threads work on blocks of which size, and what memory that takes.

#include <areal/chunked_table.hpp>
#include <cstdint>
#include "chunked/format.hpp"

namespace areal::chunked {

struct WritePlan {
  int threads = 1;
  std::int64_t block_side = 0;  // pixels: a multiple of a tile's, and a part of a shard's
};

/// Bytes for the carries of a row of shards, whatever the number of threads.
std::uint64_t carry_bytes(const Format& format);
/// Bytes of one thread.
std::uint64_t thread_bytes(const Format& format, std::int64_t block_side);

std::uint64_t least_write_memory(const Format& format);
/// Throws OutOfMemory where options.memory is less than that.
WritePlan plan_write(const Format& format, const ChunkedWriteOptions& options);

/// What an image's table is. Throws InvalidArgument for what cannot be.
Format format_for(const Shape& image, Type type, std::int64_t tile);

}  // namespace areal::chunked
