#pragma once
// Reading a whole table against its checksums.

#include <areal/chunked_table.hpp>
#include <string>
#include <vector>
#include "chunked/format.hpp"

namespace areal::chunked {

std::vector<std::string> find_damage(const fs::path& folder, const Format& format, const ChunkedReadOptions& options);

}  // namespace areal::chunked
