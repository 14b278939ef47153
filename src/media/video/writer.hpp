#pragma once
// A video file that is encoded frame by frame.

#include "media/media.hpp"

namespace areal::media {

// Fills the existing, empty file `where`. `format` is .mp4, .avi or .mkv; `name` names the file in error messages.
std::unique_ptr<VideoWriter> open_writer(const fs::path& where, const std::string& format, const std::string& name,
                                         std::int64_t width, std::int64_t height, double frames_per_second);

}  // namespace areal::media
