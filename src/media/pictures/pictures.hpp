#pragma once
// Inside the picture plug-in.

#include "media/plugin.hpp"

namespace areal::media {

// Sets OpenImageIO up once: prints nothing, uses the calling thread.
void quiet_openimageio();

void write_file(const fs::path& where, const std::string& format, const std::string& name, const ConstView& picture);

}  // namespace areal::media
