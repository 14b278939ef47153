#pragma once
// Internal header of the picture plug-in.

#include "media/plugin.hpp"

namespace areal::media {

// Configures OpenImageIO once: it prints nothing and uses the calling thread.
void quiet_openimageio();

// For a TIFF or an EXR; null for any other picture, which is read as a whole.
std::unique_ptr<TileSource> open_tiles(const fs::path& path, const ReadOptions& options);

std::unique_ptr<PictureRows> open_rows(const fs::path& where, const std::string& format, const std::string& name,
                                       const Shape& shape, Type type);

}  // namespace areal::media
