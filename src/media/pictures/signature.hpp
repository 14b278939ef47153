#pragma once
// What can be known of a picture file without decoding it: its kind by its first bytes, and whether it ends as it must.

#include <cstdint>
#include <string>

namespace areal::media {

enum class PictureKind { png, jpeg, tiff, exr, pnm };

struct PictureFile {
  PictureKind kind = PictureKind::png;
  const char* reader = "";  // OpenImageIO's name for it
  std::uint64_t bytes = 0;
  // A JPEG's frame header: its decoder allocates for the declared size as soon as it starts, so that is judged here.
  std::uint64_t jpeg_samples = 0;
  bool jpeg_progressive = false;
};

// Throws IoError where the file is none of the kinds, or where a PNG or a JPEG does not reach its end marker: their
// decoders fill what is missing with grey and only warn.
PictureFile inspect_picture(const std::string& path);

}  // namespace areal::media
