#pragma once
// Sums of regions from a chunked table: corners sorted by shard and tile.

#include <areal/chunked_table.hpp>
#include <cstdint>
#include <functional>
#include <vector>
#include "chunked/format.hpp"

namespace areal::chunked {

/// One of the four table entries of a region's sum.
struct Corner {
  std::uint64_t shard = 0;  // row by row
  std::uint32_t tile = 0;   // in its shard, row by row
  std::uint32_t which = 0;  // 4 * region + 0..3
};

/// Adds the sums of regions that lie inside the image to `out`, which must be zeros. `shard_done` is called for each
/// shard of `shards`, by one thread at a time. Memory: answer_bytes, and 16 bytes for each corner.
void answer(const fs::path& folder, const Format& format, const std::vector<Region>& regions, std::uint64_t* out,
            int threads, bool checked, const std::function<void(std::int64_t done, std::int64_t shards)>& shard_done);
/// Bytes of one thread.
std::uint64_t answer_bytes(const Format& format, bool checked);

}  // namespace areal::chunked
