#pragma once
// `areal info T.zarr`: describes and verifies a chunked table.

#include <string>
#include "io/settings.hpp"

namespace areal::command {

/// Describes the table on standard output. With `verify`, reads all of it, prints every damaged part and then throws
/// IoError.
void describe_chunked(const std::string& path, bool verify, const Settings& settings);

}  // namespace areal::command
