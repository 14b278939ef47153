#pragma once
// Zarr arrays and OME-Zarr pictures in folders, by chunks.

#include <memory>
#include "media/media.hpp"
#include "media/tile_source.hpp"
#include "media/zarr/metadata.hpp"

namespace areal::media {

// True if the folder holds a Zarr array or group.
bool is_zarr(const fs::path& folder);
std::unique_ptr<TileSource> open_zarr(const fs::path& folder, const ReadOptions& options);

// Decodes a chunk: exactly `bytes` into `into`. Throws IoError that begins with `name`.
void decode_chunk(const std::vector<ZarrCodec>& codecs, const std::vector<char>& coded, char* into, std::size_t bytes,
                  const std::string& name);
// Throws Unavailable, which begins with `name`, for codecs that this build lacks.
void require_codecs(const std::vector<ZarrCodec>& codecs, const std::string& name);

std::uint32_t crc32c(const char* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace areal::media
