#pragma once
// `areal info T.zarr`: what a chunked table is of, and whether it is sound.

#include <string>
#include "io/settings.hpp"

namespace areal::command {

/// Describes the table on standard output. With `verify` reads all of it; throws IoError, after the findings, for a
/// table that is damaged.
void describe_chunked(const std::string& path, bool verify, const Settings& settings);

}  // namespace areal::command
