#pragma once
// Whether a Matroska or WebM file was cut off: FFmpeg's demuxer ends quietly where such a file does.

#include <string>

namespace areal::media {

// True where the segment declares (RFC 8794, RFC 9559) more bytes than the file has. False for a live recording, whose
// size is unknown.
bool matroska_is_cut(const std::string& path);

}  // namespace areal::media
