#pragma once
// `areal info PICTURE`: the levels of a picture that is read by blocks.

#include <string>
#include "io/settings.hpp"

namespace areal::command {

/// Describes the picture on standard output; `verify`, of chunked tables, is refused.
void describe_picture(const std::string& path, bool verify, const Settings& settings);

}  // namespace areal::command
