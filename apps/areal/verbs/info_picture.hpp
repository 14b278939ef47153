#pragma once
// `areal info PICTURE`: the levels of a picture.

#include <string>
#include "io/settings.hpp"

namespace areal::command {

/// Describes the picture on standard output. Throws InvalidArgument with `verify`: only chunked tables have checksums.
void describe_picture(const std::string& path, bool verify, const Settings& settings);

}  // namespace areal::command
