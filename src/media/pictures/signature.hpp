#pragma once
// Checks of a picture file without decoding: its kind, by its first bytes, and whether it ends as it must.

#include <cstdint>
#include <string>

namespace areal::media {

enum class PictureKind { png, jpeg, tiff, exr, pnm };

struct PictureFile {
  PictureKind kind = PictureKind::png;
  const char* reader = "";  // OpenImageIO's name for it
  std::uint64_t bytes = 0;
  // A JPEG's frame header: its decoder allocates for the declared size at once, so the size is checked here.
  std::uint64_t jpeg_samples = 0;
  bool jpeg_progressive = false;
};

// Throws IoError if the file is of no known kind, or if a PNG or a JPEG does not reach its end marker: their decoders
// fill the missing part with grey and only warn.
PictureFile inspect_picture(const std::string& path);

}  // namespace areal::media
