#pragma once
// Detects a truncated Matroska or WebM file, at which FFmpeg's demuxer ends silently.

#include <string>

namespace areal::media {

// True if the segment declares (RFC 8794, RFC 9559) more bytes than the file has. False for a live recording, which has
// an unknown size.
bool matroska_is_cut(const std::string& path);

}  // namespace areal::media
