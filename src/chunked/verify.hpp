#pragma once
// Reading a whole table against its checksums.

#include <areal/chunked_table.hpp>
#include <string>
#include <vector>
#include "chunked/format.hpp"

namespace areal::chunked {

/// Verifies the length and the checksums of everything that a writer makes for a row of shards, the index of each shard
/// and `top` of the row below included. Throws IoError for the first fault.
void require_row(const fs::path& folder, const Format& format, std::int64_t shard_row);

std::vector<std::string> find_damage(const fs::path& folder, const Format& format, const ChunkedReadOptions& options);

}  // namespace areal::chunked
